"""Complete lists as answers: every hit, quotation, difference or obligation, page by page within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from loccit.answers.verbatim.find_all import LIMIT
from loccit.answers.verbatim.render import (
    count_line,
    difference_counts,
    difference_lines,
    hit_line,
    quote_lines,
)
from loccit.ask.answers import Answer, Arguments, told
from loccit.ask.fit import Fitted, Limit, Tokens, fit_quoted, lean, squeezed, without
from loccit.config.bounds import MOST_HITS, MOST_ROWS
from loccit.errors import UsageError
from loccit.model.comparison import CHANGED, KINDS, Comparison, Difference
from loccit.model.obligation import ObligationRow, ObligationsResponse, row_line
from loccit.model.quotes import ABSENT, ABSENT_HINT, ALTERED, EXACT, QuoteCheck, QuotesReport
from loccit.model.quoting import Quotation
from loccit.model.verbatim import FoundAll, TextHit
from loccit.search.present.respond import longest_fit

if TYPE_CHECKING:
    from loccit.library import Library

# A line of a list rarely has fewer tokens.
_FEWEST_TOKENS = 10
# The share of the budget for one entry, if not all fit.
_SHARE_OF_ENTRY = 4
_CUT = "Cut to fit the token budget: {kept} of {total} shown; continue with offset={next}."
# Fields that lists leave out: they are in the lines, or for programs that have the text.
_SPARE = ("document_title", "heading", "start", "end", "place", "text")


def _fit(limit: Limit, head: str, entries: Sequence[str], offset: int = 0, when_cut: str = _CUT) -> Fitted:
    """Return as many entries as fit; if not all do, long ones are cut, so that one does not displace the rest."""
    whole = fit_quoted(limit.tokens, limit.budget, head, entries, when_cut=when_cut, offset=offset)
    if whole.complete:
        return whole
    count, most = limit.tokens.count, max(limit.budget // _SHARE_OF_ENTRY, 1)
    short = [
        entry if count(entry) <= most else longest_fit(entry, str, most, count)
        for entry in entries[: whole.kept + limit.budget // 2]
    ]
    if short != list(entries[: len(short)]):
        head += " Long entries are cut to fit the token budget (…)."
    fitted = fit_quoted(
        limit.tokens,
        limit.budget,
        head,
        [*short, *entries[len(short) :]],
        when_cut=when_cut,
        offset=offset,
    )
    if fitted.kept:
        return fitted
    none = f"{head} None fits into {limit.budget} tokens: ask again with a larger token_budget."
    return Fitted(squeezed(limit.tokens, none, limit.budget), 0, False)


def _values(
    data: dict[str, Any], name: str, items: Sequence[dict[str, Any]], limit: Limit
) -> tuple[dict[str, Any], int]:
    """Return values with as many items as fit, but at least one, and their number."""
    left = limit.budget - limit.size({**data, name: []})
    kept = 0
    for item in items:
        left -= limit.size(item)
        if left < 0 and kept:
            break
        kept += 1
    return {**data, name: list(items[:kept]), "truncated": kept < len(items)}, kept


def _under_paths(entries: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines grouped by document, each path once, above its first line."""
    lines: list[str] = []
    for path, group in groupby(entries, key=lambda entry: entry[0]):
        first, *others = (line for _, line in group)
        lines += [f"{path}\n{first}", *others]
    return lines


def _offset(given: Arguments, total: int) -> int:
    offset = given.get("offset") or 0
    if offset and offset >= total:
        raise UsageError(f"There are {total:,} in all; give a smaller offset.")
    return offset


def _share(limit: Limit, found: Sequence[object]) -> Limit:
    return Limit(limit.budget // max(1, len(found)), limit.tokens)


# -- every occurrence ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pages:
    """The hits that fit as text, and those that fit as values; each continues with its own cursor."""

    text: FoundAll
    values: FoundAll


def ask_find_all(library: Library, given: Arguments) -> Pages:
    """Find every occurrence, as many as the budget has room for."""
    budget = given.get("token_budget")
    options = {
        name: value for name, value in given.items() if name not in ("token_budget", "limit", "pattern")
    }

    def find(limit: int) -> FoundAll:
        return library.find_all(given["pattern"], limit=limit, **options)

    asked = given.get("limit")
    if budget is None:
        found = find(min(asked or LIMIT, MOST_HITS))
        return Pages(found, found)
    most = min(MOST_HITS, max(1, budget // _FEWEST_TOKENS))
    found = find(min(asked or most, most))
    limit = Limit(budget, Tokens(library.tokenizer))
    text = _page(found, find, lambda page: limit.tokens.count(_found_text(page, "", given)) <= budget)
    values = _page(found, find, lambda page: limit.allows(_found_values(page)))
    return Pages(text, values)


def _page(found: FoundAll, find: Callable[[int], FoundAll], fits: Callable[[FoundAll], bool]) -> FoundAll:
    """Return as many hits as fit, at least one, with the cursor that continues after them."""
    if len(found.hits) < 2 or fits(found):
        return found
    # Any hit left out makes a cursor, all of about the same length.
    cursor = found.cursor or find(1).cursor
    low, high = 1, len(found.hits)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(replace(found, hits=found.hits[:middle], cursor=cursor)):
            low = middle
        else:
            high = middle
    page = find(low)
    while len(page.hits) > 1 and not fits(page):
        page = find(len(page.hits) - 1)
    return page


def _found_text(found: FoundAll, library: str, given: Arguments) -> str:
    """Return hits under the paths of their documents, and how to continue."""
    head = " ".join(filter(None, (f"{library}:" if library else "", count_line(found), found.note)))
    if not found.hits:
        return head
    entries = _under_paths(
        (hit.source_path, hit_line(hit).removeprefix(f"{hit.source_path}:")) for hit in found.hits
    )
    quotation = Quotation.around(entries, seed=head)
    lines = [f"{head} {quotation.notice}", quotation.block("\n".join(entries))]
    if found.cursor:
        which = f'tool="{library}" and ' if library else ""
        why = "There are more" if len(found.hits) == given.get("limit") else "Cut to fit the token budget"
        lines.append(f'{why}: continue with {which}cursor="{found.cursor}".')
    return "\n".join(lines)


def _hit_values(hit: TextHit) -> dict[str, Any]:
    spare = ("document_title", "start", "end", *(("heading",) if hit.section_label else ()))
    values: dict[str, Any] = without(*spare)(lean(hit))
    return values


def _found_values(found: FoundAll) -> dict[str, Any]:
    data = {"pattern": found.pattern, "kind": found.kind, "total": found.total, "documents": found.documents}
    data |= {"complete": found.complete, "truncated": bool(found.cursor)}
    data |= {"note": found.note} if found.note else {}
    data |= {"cursor": found.cursor} if found.cursor else {}
    return data | {"hits": [_hit_values(hit) for hit in found.hits]}


def find_all(found: Sequence[tuple[str, Pages]], given: Arguments, limit: Limit) -> Answer:
    """Return every hit of every library asked, or the first of them and how to continue."""
    texts = [_found_text(pages.text, library, given) for library, pages in found]
    text = "\n".join(texts)
    if limit.tokens.count(text) > limit.budget:
        heads = " ".join(count_line(replace(pages.text, hits=[])) for _, pages in found)
        none = f"{heads} None fits into {limit.budget} tokens: ask again with a larger token_budget."
        text = squeezed(limit.tokens, none, limit.budget)

    def values() -> dict[str, Any]:
        if len(found) == 1:
            ((library, pages),) = found
            return told(_found_values(pages.values), library)
        each = [(library, _found_values(pages.values)) for library, pages in found]
        first = each[0][1]
        return {
            "pattern": first["pattern"],
            "kind": first["kind"],
            "total": sum(data["total"] for _, data in each),
            "documents": sum(data["documents"] for _, data in each),
            "complete": all(data["complete"] for _, data in each),
            "truncated": any(data["truncated"] for _, data in each),
            "hits": [told(hit, library) for library, data in each for hit in data["hits"]],
            "cursors": {library: data["cursor"] for library, data in each if "cursor" in data},
        }

    return Answer(text, values)


# -- quotations ------------------------------------------------------------------------------------------------


def ask_verify_quotes(library: Library, given: Arguments) -> QuotesReport:
    """Check quotations, or those of a text."""
    quotations: list[str] | str | None = given.get("quotations") or given.get("text")
    if not quotations:
        raise UsageError("There is nothing to check: give quotations, or a text that quotes.")
    if given.get("quotations") and given.get("text"):
        raise UsageError("Give quotations or a text, not both.")
    return library.verify_quotes(quotations, document=given.get("document"))


def _nearest(reports: Sequence[QuotesReport]) -> QuotesReport:
    """Return each quotation's best match in any of the libraries; all were asked about the same quotations."""
    asked = zip(*(report.checks for report in reports), strict=True)
    checks = [min(each, key=lambda check: check.rank) for each in asked]
    absent = any(check.status == ABSENT for check in checks)
    note = reports[0].note if absent else reports[0].note.replace(ABSENT_HINT, "").strip()
    return replace(reports[0], checks=checks, note=note)


def verify_quotes(found: Sequence[tuple[str, QuotesReport]], given: Arguments, limit: Limit) -> Answer:
    """Return the status of each quotation; those that are not exact, or not where they are cited from, come first."""
    report = _nearest([report for _, report in found])
    checks = sorted(report.checks, key=lambda check: check.ok)
    counts = {status: report.count(status) for status in (EXACT, ALTERED, ABSENT)}
    total = len(checks)
    head = (
        f"{total:,} quotation{'' if total == 1 else 's'} checked: {report.summary}."
        if total
        else "No quotation was found."
    )
    head += " [-…-] is quoted, {+…+} is written." if counts[ALTERED] else ""
    head = " ".join(filter(None, (head, report.note)))
    offset = _offset(given, total)
    rest = checks[offset:]
    fitted = _fit(limit, head, ["\n".join(quote_lines(check)) for check in rest], offset)

    def values() -> dict[str, Any]:
        data: dict[str, Any] = {"ok": report.ok, **counts, "misplaced": report.misplaced}
        data |= {"left_out": report.left_out}
        data |= {"note": report.note} if report.note else {}
        data, kept = _values(data, "checks", [_check_values(check) for check in rest], limit)
        return data | ({"next_offset": offset + kept} if data["truncated"] else {})

    return Answer(fitted.text, values)


def _check_values(check: QuoteCheck) -> dict[str, Any]:
    values: dict[str, Any] = lean(check)
    if check.places:
        values["places"] = [_place_values(place) for place in check.places]
    return values if check.more else without("more")(values)


def _place_values(place: Any) -> dict[str, Any]:
    values: dict[str, Any] = without(*_SPARE)(lean(place))
    return values | {"location": place.location}


# -- differences -----------------------------------------------------------------------------------------------


def compare(comparison: Comparison, library: str, given: Arguments, limit: Limit) -> Answer:
    """Return the differences between two documents, in their order."""
    differences = comparison.differences
    offset = _offset(given, len(differences))
    rest = differences[offset:]
    entries = ["\n".join(difference_lines(item)) for item in rest]
    named = [f"old: {comparison.old_path}\nnew: {comparison.new_path}"]
    head = difference_counts(comparison)
    head += " [-…-] is the old text, {+…+} the new." if comparison.count(CHANGED) else ""
    # The names come before the first entry: they are the documents' own.
    entries[:1] = ["\n".join([*named, *entries[:1]])]
    fitted = _fit(limit, head, entries, offset)

    def values() -> dict[str, Any]:
        data: dict[str, Any] = without("differences")(lean(comparison))
        data |= {"same": comparison.same, **{kind: comparison.count(kind) for kind in KINDS}}
        data, kept = _values(
            data, "differences", [_difference_values(item, limit.budget) for item in rest], limit
        )
        return told(data | ({"next_offset": offset + kept} if data["truncated"] else {}), library)

    return Answer(fitted.text, values)


def _difference_values(item: Difference, budget: int) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": item.kind}
    for name, place in (("old", item.old), ("new", item.new)):
        if place is not None:
            values[name] = without("source_path")(_place_values(place))
            # The common words of a place are in the changes, or unchanged.
            if item.old is None or item.new is None:
                values[name]["text"] = place.text if len(place.text) <= budget else f"{place.text[:budget]} …"
    changes = [change for change in item.changes if not change.same]
    return values | ({"changes": [list(change) for change in changes]} if changes else {})


# -- obligations -----------------------------------------------------------------------------------------------


def ask_obligations(library: Library, given: Arguments) -> ObligationsResponse:
    """Read as many rows of the table as the budget may have room for."""
    budget = given.get("token_budget")
    options = {name: value for name, value in given.items() if name != "token_budget"}
    most = LIMIT if budget is None else min(MOST_ROWS, max(1, budget // _FEWEST_TOKENS))
    options["limit"] = min(given.get("limit") or most, most)
    return library.obligations(**options)


def obligations(found: Sequence[tuple[str, ObligationsResponse]], given: Arguments, limit: Limit) -> Answer:
    """Return rows of the table of obligations, as many as fit."""
    share = _share(limit, found)
    fitted = [_rows_text(response, library, share) for library, response in found]
    text = "\n".join(fitted)

    def values() -> dict[str, Any]:
        each = [(library, _rows_values(response, share)) for library, response in found]
        if len(each) == 1:
            return told(each[0][1], each[0][0])
        return {
            "rows": [told(row, library) for library, data in each for row in data["rows"]],
            "total": sum(data["total"] for _, data in each),
            "truncated": any(data["truncated"] for _, data in each),
            "next_offsets": {library: data["next_offset"] for library, data in each if "next_offset" in data},
        }

    return Answer(squeezed(limit.tokens, text, limit.budget), values)


def _rows_text(response: ObligationsResponse, library: str, limit: Limit) -> str:
    _offset({"offset": response.offset}, response.total)
    head = f"{library}: " if library else ""
    head += f"{response.total:,} row{'' if response.total == 1 else 's'}."
    for name, counts in (("All kinds", response.kinds), ("Not understood", response.gaps)):
        if any(counts.values()):
            head += f" {name}: {', '.join(f'{count} {what}' for what, count in counts.items() if count)}."
    if response.unread_documents:
        head += f" {response.unread_documents} documents are in languages without rules."
    head += f" {response.note}" if response.note else ""
    which = f'tool="{library}", ' if library else ""
    entries = _under_paths((row.source_path, row_line(row)) for row in response.rows)
    shown = f"{{kept}} of {response.total:,} rows shown"
    cut = f"Cut to fit the token budget: {shown}; continue with {which}offset={{next}}."
    fitted = _fit(limit, head, entries, response.offset, cut)
    if fitted.complete and response.next_offset is not None:
        # All rows that were read fit, but there are more than one answer can have.
        more = f"There are more: continue with {which}offset={response.next_offset}."
        if limit.tokens.count(f"{fitted.text}\n{more}") <= limit.budget:
            return f"{fitted.text}\n{more}"
        return _fit(replace(limit, budget=limit.budget - 40), head, entries, response.offset, cut).text
    return fitted.text


def _rows_values(response: ObligationsResponse, limit: Limit) -> dict[str, Any]:
    data: dict[str, Any] = without("rows", "next_offset")(lean(response))
    data |= {name: _positive(data[name]) for name in ("kinds", "gaps") if name in data}
    data, kept = _values(data, "rows", [_row_values(row) for row in response.rows], limit)
    following = response.offset + kept if data["truncated"] else response.next_offset
    return data | ({"next_offset": following, "truncated": True} if following is not None else {})


def _positive(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def _row_values(row: ObligationRow) -> dict[str, Any]:
    values: dict[str, Any] = without("document_title", *(("heading",) if row.section_label else ()))(
        lean(row)
    )
    # A sentence that was understood is represented by its parts.
    spare = ("start", "end", "place", *(() if row.obligation.kind == "statement" else ("text",)))
    values["obligation"] = without(*spare)(values["obligation"])
    return values
