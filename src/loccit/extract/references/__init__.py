"""References: the places that a document refers to, each resolved or with the reason why not.

The stage has three steps, each in its own modules: *read* the words (``grammar``, with the numbers in ``items`` and the
names of other documents in ``documents``), *resolve* them in the tree of places (``resolve``, ``places``), and *follow*
links and names (``links``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loccit.extract.references.documents import Names, Own, Owner, find_names
from loccit.extract.references.evidence import LEAST, Amendments, Grounds, quotations
from loccit.extract.references.grammar import (
    CONNECTED,
    Mention,
    distinctive,
    find_bare,
    find_mentions,
    in_order,
    joined,
    share,
)
from loccit.extract.references.items import ALONE
from loccit.extract.references.links import (
    Masks,
    Titles,
    find_masks,
    follow_links,
    head_references,
    linked_elsewhere,
    series_of,
    title_in_brackets,
    titles_agree,
)
from loccit.extract.references.places import Places
from loccit.extract.references.resolve import Resolver, Target
from loccit.grammar.labels.lexicon import lowered
from loccit.grammar.labels.model import is_sub
from loccit.model import Place, Reference
from loccit.structure import Parsed

_OTHER = "names another act"
# Kinds worth a note if nothing here has that number; `rule 3` or `book 2` may be plain prose.
_CITED = frozenset("article section chapter annex appendix subpart clause recital paragraph".split())
_AFTER_LABEL = re.compile(r"[*_]{0,3}(?:[.:—–]|[^\S\n]*[-–—:]\s|[^\S\n]*(?:\n|$))")
_OPENS = tuple('"“„«‟')
# `Art. 112 d`, `art. 19^14`: a letter or a number that belongs to the number before it.
_GOES_ON = re.compile(r"\s?\^\d|\s(?:[b-df-hj-np-tv-xz]|a(?=\s[A-ZÄÖÜ]))(?=[\s.,)])(?!\.\s?[a-zA-Z]\.)")
_WORD_BEFORE = re.compile(r"([^\W\d_]{4,30})\s\Z")
_WORD_BEHIND = re.compile(r"\s([^\W\d_]{4,30})(?!\w)")
# So many mentions beside a word tell something of that word.
_FEW = 3
# So near, numbers behind a reference go on with it.
_BESIDE = 40
_PARAGRAPH = 4000
# From here on a reference is shown without a doubt.
_CERTAIN = 0.8


def extract_references(parsed: Parsed, places: Sequence[Place], source_path: str = "") -> list[Reference]:
    """Return the references of a document in order, one per target; a list or range has one for each member.

    The words of all languages are read at once: documents quote one another.
    """
    return [reference for reference, _ in weighed_references(parsed, places, source_path)]


def weighed_references(
    parsed: Parsed, places: Sequence[Place], source_path: str = ""
) -> list[tuple[Reference, Grounds | None]]:
    """Return the references of a document, those by number with what their certainty rests on."""
    reader = _Reader(parsed, places, source_path)
    reader.mentions()
    others = [*reader.links, *head_references(parsed, source_path), *reader.names(), *reader.titles()]
    found = [*reader.found, *((reference, None) for reference in others)]
    return sorted(found, key=lambda item: (item[0].start, item[0].end))


class _Reader:
    """One pass over a document."""

    def __init__(self, parsed: Parsed, places: Sequence[Place], source_path: str) -> None:
        self._parsed, self._text = parsed, parsed.text
        self._low = lowered(parsed.text)
        self._places = Places(places)
        sections = self._places.headings
        self._titles = Titles(self._places)
        contents, self._masks = find_masks(parsed, sections)
        self.links = follow_links(parsed, self._places, contents)
        title = parsed.metadata.get("title")
        top = [section.heading for section in sections[1:] if section.level == 1][:3]
        self._own = Own([parsed.title, *top, *([title] if isinstance(title, str) else [])], self._text)
        self._names = Names(self._text, find_names(self._text, series_of(source_path)), self._own)
        self._headings = {section.heading for section in sections}
        self._resolver = Resolver(self._places)
        self._nowhere = Places(sections[:1])
        self._last: Place | None = None
        self._taken: list[tuple[int, int]] = []
        self.found: list[tuple[Reference, Grounds | None]] = []
        self._counts: dict[str, list[int]] = {}
        self._linked = linked_elsewhere(parsed)
        self._amendments = Amendments(self._low)

    def mentions(self) -> None:
        """Read numbers and relative forms."""
        names = Masks((name.start, name.end) for name in self._names.all)
        mentions = [
            mention
            for mention in find_mentions(self._text, self._low, self._parsed.body_start)
            if mention.start not in self._masks and mention.start not in names
        ]
        known = Masks((mention.start, mention.end) for mention in mentions)
        mentions += [
            bare
            for bare in find_bare(self._text, self._parsed.body_start, self._places)
            if not any(bare.start in masks for masks in (self._masks, names, known))
        ]
        mentions = share(self._text, in_order(mentions))
        quoted = sum(self._is_quoted(mention) for mention in mentions)
        mentions = [
            mention
            for mention in mentions
            if not self._is_label(mention) and mention.start not in self._linked
        ]
        changed = sum(self._amendments.around(mention.start, mention.end, ()) for mention in mentions)
        self._amending = (changed + quoted) / (len(mentions) + quoted + 2)
        owners = self._owners(mentions)
        for mention, owner in zip(mentions, owners, strict=True):
            if not mention.relative and any(unit.items for unit in mention.units):
                self._count(mention, owner)
        self._quotations = Masks(quotations(self._text))
        for mention, owner in zip(mentions, owners, strict=True):
            self._read(mention, owner)

    def _count(self, mention: Mention, owner: Owner | None) -> None:
        """Count the mentions of a kind, and beside a word: all, those of this document, and those of them here."""
        unit = next(unit for unit in mention.units if unit.items)
        item = unit.items[0]
        own = owner is None or owner.how == "this"
        here = own and not isinstance(
            self._places.numbered(unit.kind, item.parts, item.base, mention.start), str
        )
        for key in (unit.kind, *(self._beside(mention) if owner is None else ())):
            counts = self._counts.setdefault(key, [0, 0, 0])
            counts[0] += 1
            counts[1] += own
            counts[2] += here

    def _beside(self, mention: Mention) -> tuple[str, ...]:
        """The words right before and behind a mention, which may name what it is a part of: `seaduse § 2`."""
        before = _WORD_BEFORE.search(self._low, max(0, mention.start - 30), mention.start)
        behind = _WORD_BEHIND.match(self._low, mention.end)
        return (*([f"{before[1]} …"] if before else []), *([f"… {behind[1]}"] if behind else []))

    def _owners(self, mentions: list[Mention]) -> list[Owner | None]:
        """What each mention says it belongs to; *Article 5 or Article 7 of that Directive* says so for both."""
        owners: list[Owner | None] = []
        for mention in mentions:
            word = mention.lead.word
            shouting = len(word) > 2 and self._text[mention.start : mention.start + len(word)].isupper()
            owner = self._names.after(mention.end, shouting, mention.lead.how == "number")
            if owner is None and (bracket := title_in_brackets(self._text, mention.end)) is not None:
                owner = self._names.after(bracket.end(), shouting)
            owners.append(owner)
        for index in range(len(mentions) - 2, -1, -1):
            here, after = mentions[index], mentions[index + 1]
            owner = owners[index + 1]
            if (
                owners[index] is None
                and owner is not None
                and owner.how != "this"
                and here.units[0].kind == after.units[0].kind
                and not here.relative
                and not after.relative
                and (joined(self._text, here, after) or self._belongs_with(here, after))
            ):
                owners[index] = replace(owner, end=here.end)
        return owners

    def _belongs_with(self, here: Mention, after: Mention) -> bool:
        """Whether *§ 4 in Verbindung mit § 6 des Hafengesetzes* means both of them, and not a § 4 of this document."""
        if not joined(self._text, here, after, CONNECTED):
            return False
        first, item = here.units[0], here.units[0].items[-1:]
        if not item or item == after.units[0].items[-1:]:
            return bool(item)
        return isinstance(self._places.numbered(first.kind, item[0].parts, item[0].base, here.start), str)

    def names(self) -> Iterator[Reference]:
        """Names of other documents without a number."""
        taken = Masks(self._taken)
        for name in self._names.all:
            if name.start in self._masks or name.start in taken or name.name in self._own:
                continue
            yield Reference(
                self._text[name.start : name.end],
                name.start,
                name.end,
                "document",
                "",
                number_kind=name.kind,
                number_key="_".join(name.number),
                document=name.name,
                reason=_OTHER,
            )

    def titles(self) -> Iterator[Reference]:
        """Headings by name."""
        taken = Masks([*self._taken, *((name.start, name.end) for name in self._names.all)])
        seen: set[int] = set()
        for named in self._titles.named(self._text, self._low, self._parsed.body_start):
            if named.start in self._masks or named.start in seen:
                continue
            if named.start in taken or named.end - 1 in taken:
                continue
            seen.add(named.start)
            words = self._text[named.start : named.end]
            yield Reference(words, named.start, named.end, "named", named.section.section_id, sure=named.sure)

    def _is_quoted(self, mention: Mention) -> bool:
        """Whether it is the label of a provision that is quoted: *replaced by: “Art. 5. Lamps …”*."""
        before = self._text[max(0, mention.start - 4) : mention.start].rstrip(" *_")
        return before[-1:] in _OPENS and _AFTER_LABEL.match(self._text, mention.end) is not None

    def _is_label(self, mention: Mention) -> bool:
        """Whether a number at the start of a paragraph is that paragraph's own label, not a reference."""
        items = mention.lead.items
        if mention.relative or len(mention.units) > 1 or len(items) != 1 or items[0].until:
            return False
        low = max(0, mention.start - 200)
        line = self._text.rfind("\n", low, mention.start) + 1
        prefix = self._text[line : mention.start].strip()
        if self._is_quoted(mention):
            return True
        if (line == 0 and low > 0) or prefix.strip(" \t*_#>-•"):
            after = self._text[mention.end : mention.end + 4].lstrip()
            # A number of its own in a cell of a table.
            return not mention.lead.word and prefix.endswith("|") and after[:1] in ("|", ".")
        end = self._text.find("\n", mention.end, mention.end + 600)
        if self._text[line : end if end > 0 else mention.end + 600].strip(" \t*_#>-") in self._headings:
            return True
        if line > 1 and self._text[line - 2] != "\n" and prefix[-1:] not in ("-", "*", "•"):
            return False
        if not mention.lead.word:
            return True
        return mention.lead.word[0] == "§" or bool(_AFTER_LABEL.match(self._text, mention.end))

    def _read(self, mention: Mention, owner: Owner | None) -> None:
        since = max(0, mention.start - _PARAGRAPH)
        since = max(since, self._text.rfind("\n\n", since, mention.start))
        document, end, reason = "", mention.end, ""
        whole: Place | None = None
        if owner is not None:
            end = owner.end
            if owner.how == "last":
                document = self._names.last(mention.start, since)
                if not document and owner.name and owner.name not in self._own:
                    document = f"that {owner.name}"
                elif not document and not owner.name and mention.relative and self._last is not None:
                    whole = self._places.whole(self._last, mention.lead.kind)
            elif owner.how == "title":
                whole = self._titles.find(owner.name, mention.start, "clause")
                reason = "" if whole else f"no heading called {owner.name}"
            elif owner.how == "other" and not self._is_own(owner.name):
                document = owner.name
        listed = bool(self._taken) and self._taken[-1][1] > mention.start - _BESIDE
        before = "" if mention.relative or owner is not None else self._names.before(mention.start, listed)
        start = mention.start
        if before and before not in self._own:
            targets = self._resolver.resolve(mention, since) if distinctive(mention) else []
            if targets and not targets[0].failed:
                self._emit(mention, targets, start, end)
                return
            document, start = before, self._text.rfind(before, max(0, start - len(before) - 8), start)
            start = start if start >= 0 else mention.start
        if document:
            self._elsewhere(mention, document, start, end)
            return
        if reason:
            self._emit(mention, [Target(reason=reason, failed=True)], start, end)
            return
        targets = self._resolver.resolve(mention, since, whole)
        if mention.relative and mention.units[0].word in ALONE:
            # Anything may have a number: only an item that is here is meant, and `(2)` is a paragraph.
            targets = [one for one in targets if one.place and one.place.marker[:1] not in ("", "(")]
        if targets:
            self._emit(
                mention,
                targets,
                start,
                end,
                said=owner is not None and (owner.how != "this" or not owner.name),
            )

    def _is_own(self, name: str) -> bool:
        """Whether a name is one of this document; what a single word means was judged with what follows it."""
        name = name.removeprefix("the ")
        return name in self._own and (" " in name or name.isupper() or any(map(str.isdigit, name)))

    def _elsewhere(self, mention: Mention, document: str, start: int, end: int) -> None:
        """A part of another document: its number is kept, to be resolved if the library has that document."""
        targets = Resolver(self._nowhere).resolve(mention, 0) if not mention.relative else [Target()]
        for unit in mention.units:
            self._resolver.said[unit.kind] = (None, mention.start)
        emitted = [replace(target, place=None, reason=_OTHER, failed=True) for target in targets]
        self._emit(mention, emitted, start, end, document)

    def _emit(
        self,
        mention: Mention,
        targets: list[Target],
        start: int,
        end: int,
        document: str = "",
        *,
        said: bool = False,
    ) -> None:
        found: list[tuple[Reference, Grounds | None]] = []
        absolute = any(unit.how == "number" and not unit.relative for unit in mention.units)
        kind = "document" if document else "number" if absolute else "relative"
        for index, target in enumerate(targets):
            if target.failed and not document and not self._worth(mention, target):
                continue
            begin, stop = (target.start, target.end) if target.end else (start, end)
            if target.end and index == 0:
                begin = start
            if target.end and target.end == targets[-1].end:
                stop = end
            leads = target.place.section_id if target.place and not target.failed else ""
            if target.place and self._is_own_label(begin, target.place):
                continue
            reference = Reference(
                self._text[begin:stop],
                begin,
                stop,
                kind,
                leads,
                target.kind if absolute else "",
                "_".join(target.number) if absolute else "",
                document,
                target.reason,
            )
            grounds = None
            if leads and target.place is not None:
                agrees, disputed = self._compared(mention, target, len(targets))
                grounds = self._grounds(mention, target.place, reference, said, agrees)
                if mention.units[-1].items and _GOES_ON.match(self._text, mention.end):
                    disputed = disputed or "the number goes on in a way that is not read"
                reference = _judged(reference, target, grounds, disputed)
            found.append((reference, grounds))
        if found:
            self._taken.append((start, end))
            self._last = targets[-1].place
        self.found += found

    def _is_own_label(self, start: int, place: Place) -> bool:
        """Whether a number is the one that its place begins with: in a table of versions, for instance."""
        return place.start <= start <= place.body + 3 and "\n" not in self._text[place.start : start]

    def _compared(self, mention: Mention, target: Target, targets: int) -> tuple[bool, str]:
        """Compare the title in brackets after a number with that of the place: one of them may be wrong."""
        bracket = title_in_brackets(self._text, mention.end) if targets == 1 else None
        place = target.place
        if bracket is None or place is None or not place.title or target.reason:
            return False, ""
        if titles_agree(bracket["title"], place.title):
            return True, ""
        return False, f"{place.label} is headed “{place.title}”, not “{bracket['title']}”"

    def _grounds(
        self, mention: Mention, place: Place, reference: Reference, said: bool, agrees: bool
    ) -> Grounds:
        unit = mention.lead
        outer = next((unit for unit in mention.units if unit.items), unit)
        mentioned, quiet, here = self._counts.get(outer.kind, (0, 0, 0))
        found = (here + 1) / (quiet + 2)
        for word in () if said or mention.relative else self._beside(mention):
            _, beside, known = self._counts.get(word, (0, 0, 0))
            found = min(found, (known + 1) / (beside + 2)) if beside >= _FEW else found
        around = self._places.around(reference.start)
        # A numbered paragraph of a judgment is not the place of the heading above it.
        home = self._places.section(place)
        home = home if home.label else place
        unprinted = outer.kind == "article" and "article" not in self._places.kinds
        told = said or any(unit.how in ("this", "said") for unit in mention.units)
        # `this Section 5`
        told = told or not self._low.startswith(unit.word, unit.start)
        return Grounds(
            here=float(any(unit.how == "this" for unit in mention.units)),
            said=float(told),
            relative=float(mention.relative and not told),
            bare=float(not outer.word),
            printed=float(outer.kind in self._places.kinds),
            called=float(outer.kind in (place.kind, home.kind)),
            # A title makes a place of `Section 6`; articles print their word.
            titled=float(bool(home.title) and home.is_heading and home.ordinal > 0 and not unprinted),
            long=float(len(home.number) > 1 or "." in place.label),
            listed=float(not place.is_heading and place.label.isalnum() and len(place.label) < 4),
            amends=float(not told and self._amendments.around(mention.start, mention.end, around)),
            amending=self._amending,
            mixed=self._amending * (mention.relative and not told),
            found=1.0 if mention.relative else found,
            others=0.0 if mention.relative else (mentioned - quiet) / (mentioned + 1),
            agrees=float(agrees),
            quoted=float(mention.start in self._quotations),
        )

    def _worth(self, mention: Mention, target: Target) -> bool:
        """Whether an unresolved reference is one at all, and not prose such as *book 2 rooms*."""
        if mention.relative:
            labelled = any(place.label for place in self._places.leaf_at(mention.start))
            plain = mention.lead.kind == "point" and mention.lead.items and mention.lead.items[0].base
            return labelled and not plain
        if target.kind in self._places.kinds or (is_sub(target.kind) and target.number):
            return True
        single = len(target.number) == 1 and not target.number[0][:1].isdigit()
        return target.kind in _CITED or target.kind == "" or (not single and mention.lead.word[:1].isupper())


def _judged(reference: Reference, target: Target, grounds: Grounds, disputed: str) -> Reference:
    """A reference with how sure it is, and with the reason why not where it is not."""
    if disputed:
        return replace(reference, sure=0.3, reason=disputed)
    sure = grounds.sure
    if target.reason:
        return replace(reference, sure=min(sure, 0.5))
    if sure < LEAST:
        return replace(reference, target_section="", reason=grounds.doubt.replace("inferred: ", ""))
    return replace(reference, sure=sure, reason="" if sure >= _CERTAIN else grounds.doubt)
