"""Citations: who cites the places of a document, counted here for every interface.

A citation of a place is a spot in the text outside the place that refers to it, or to a part of it: Article 6(1)(f) for
Article 6 too. A list or range that names several parts is one citation of what holds them. What other documents say of
the document as a whole counts for none of its places, and apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from loccit.index.port.names import Entry
from loccit.model import Place, Reference
from loccit.search.resolve.reference_graph import ReferenceGraph

Cited = tuple[Entry, Reference, tuple[int, ...]]
"""A reference, the document it stands in, and the ordinals of the places that it is a citation of, innermost first."""


class Citations:
    """The citations of a document, or only those that concern some of its places.

    ``places`` are all of the document, of which only ``wanted`` are looked up, if given; ``within`` are the documents
    that may be shown. ``inside`` are the document's own references, if they have been resolved already.
    """

    def __init__(
        self,
        graph: ReferenceGraph,
        document: int,
        places: Sequence[Place],
        *,
        wanted: Sequence[Place] | None = None,
        within: Collection[int] | None = None,
        inside: Sequence[Reference] | None = None,
    ) -> None:
        self._document = document
        self._by_ordinal = {place.ordinal: place for place in places}
        self._by_id = {place.section_id: place for place in places if place.section_id}
        leading = graph.leading_to(document, wanted, whole=True, inside=inside)
        shown = [item for item in leading if within is None or item[0].id in within]
        self.of_places: list[Cited] = list(self._counted(shown))
        """The citations of places, those in the document itself first."""
        self.of_document: list[tuple[Entry, Reference]] = _as_whole(shown, document)
        """What other documents say of the document as a whole."""

    def of(self, place: Place) -> list[tuple[Entry, Reference]]:
        """Return the citations of a place."""
        return [(entry, item) for entry, item, cited in self.of_places if place.ordinal in cited]

    def of_itself(self, place: Place) -> list[tuple[Entry, Reference]]:
        """Return the citations of a place that name the place itself, no part of it."""
        return [(entry, item) for entry, item, cited in self.of_places if place.ordinal == cited[0]]

    def counts(self) -> Counter[int]:
        """Return how many citations each place has, by its ordinal."""
        return Counter(chain.from_iterable(cited for _, _, cited in self.of_places))

    def _counted(self, leading: Iterable[tuple[Entry, Reference]]) -> Iterator[Cited]:
        """Yield each reference with the places that it is a citation of, unless the same spot already is one."""
        known: set[tuple[int, int, int]] = set()
        for entry, item in leading:
            cited = []
            for place in self._around(item.target_section):
                if entry.id == self._document and place.start <= item.start < place.end:
                    break
                spot = (entry.id, item.start, place.ordinal)
                if spot not in known:
                    known.add(spot)
                    cited.append(place.ordinal)
            if cited:
                yield entry, item, tuple(cited)

    def _around(self, section_id: str) -> Iterator[Place]:
        """Yield a place and those that hold it, innermost first."""
        place = self._by_id.get(section_id)
        while place is not None:
            yield place
            # What holds a place comes before it, except in a damaged record.
            above = place.ordinal if place.parent is None else place.parent
            place = self._by_ordinal.get(above) if above < place.ordinal else None


def _as_whole(leading: Iterable[tuple[Entry, Reference]], document: int) -> list[tuple[Entry, Reference]]:
    spots = {
        (entry.id, item.start): (entry, item)
        for entry, item in leading
        if entry.id != document and not item.target_section
    }
    return list(spots.values())
