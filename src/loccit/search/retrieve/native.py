"""Native: a database's own search, instead of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from loccit.config import SearchSettings
from loccit.index.port.matching import DEPTH, NativeSearch
from loccit.search.candidates import HYBRID, KEYWORD, SEMANTIC, RankedList
from loccit.search.retrieve.leg import Leg, Retrieved, TermIdfs
from loccit.search.understand.scope import Scope


class NativeHybridLeg(Leg):
    """Keyword and vector search at once, fused by the database."""

    name = HYBRID
    by_meaning = True
    replaces: ClassVar[frozenset[str]] = frozenset({KEYWORD, SEMANTIC})

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return the combined weight of the two legs it replaces, if both count and the database is to fuse them."""
        both = before[SEMANTIC] > 0 and before[KEYWORD] > 0 and self._index.native_hybrid
        return before[SEMANTIC] + before[KEYWORD] if both else None

    def active(self, asked: Retrieved) -> bool:
        """Whether to run it: there must be vectors."""
        return super().active(asked) and not self._index.vectors.empty

    def search(self, asked: Retrieved) -> RankedList | None:
        """Return the hits of the database."""
        native, vector = self._index.native_hybrid, asked.vector
        if native is None or vector is None:
            return None
        forms, weights = _forms(asked.idf), (asked.weights[SEMANTIC], asked.weights[KEYWORD])
        return asked.scope.ask(
            lambda depth, documents: RankedList(
                HYBRID, *native.hybrid(vector, forms, weights, depth, documents)
            ),
            self._index.vectors.depth,
        )


def native_keyword(native: NativeSearch, idf: TermIdfs, scope: Scope) -> RankedList:
    """Return the hits of a database's keyword search."""
    forms = _forms(idf)
    return scope.ask(
        lambda depth, documents: RankedList(KEYWORD, *native.keyword(forms, depth, documents)), DEPTH
    )


def _forms(idf: TermIdfs) -> list[str]:
    """The words of a query in every form that an index may contain."""
    terms = [term for term, _ in idf]
    terms += [part for term in terms for part in term.parts]
    return list(dict.fromkeys(form for term in terms for form in (*term.forms, *term.within)))
