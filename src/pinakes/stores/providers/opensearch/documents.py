"""Points as documents, and where OpenSearch and Elasticsearch differ in declaring and asking for vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pinakes.embedding.protocol import Vectors
from pinakes.errors import StoreError
from pinakes.stores.settings import DatabaseSettings
from pinakes.stores.store import Point

_TEXTS = ("terms", "source_path", "heading", "language", "file_type", "text")


def numbers_of(vector: Vectors) -> list[float]:
    """Return a vector as JSON has it."""
    # Nine decimals hold all that a float32 of a unit vector has, in half the text.
    numbers: list[float] = np.round(np.asarray(vector, np.float64), 9).tolist()
    return numbers


def document_of(point: Point) -> dict[str, Any]:
    """Return the document that keeps a point; what is empty is left out."""
    if point.vector is None:
        raise StoreError("opensearch: a point without a vector cannot be stored.")
    shown = {name: _text(getattr(point, name)) for name in _TEXTS if getattr(point, name)}
    return {"id": point.id, "document": point.document, "vector": numbers_of(point.vector), **shown}


def _text(text: str) -> str:
    # Half a surrogate pair, as in the names of some files, is no UTF-8.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def point_of(source: dict[str, Any]) -> Point:
    """Return the point that a document, or a part of it, keeps."""
    vector = source.pop("vector", None)
    return Point(vector=None if vector is None else np.asarray(vector, np.float32), **source)


# Marks an index as ours, so that nobody else's is read as a library or dropped.
META = {"pinakes": {"format": 1}}
# The widest answer that an index gives, unless somebody changed index.max_result_window.
WINDOW = 10_000
# A query may have 1,024 clauses.
_CLAUSES = 1_000

_ANALYSIS = {
    # The words are analysed already: they are only taken apart, and long ones are kept whole.
    "tokenizer": {"words": {"type": "whitespace", "max_token_length": 1024}},
    "analyzer": {"words": {"type": "custom", "tokenizer": "words"}},
}
_SHOWN = {"type": "text", "index": False}
_POINT_FIELDS: dict[str, Any] = {
    "id": {"type": "keyword"},
    "document": {"type": "keyword"},
    "terms": {"type": "text", "analyzer": "words", "index_options": "freqs"},
    "source_path": {"type": "keyword", "ignore_above": 4096},
    "heading": _SHOWN,
    "language": {"type": "keyword"},
    "file_type": {"type": "keyword"},
    "text": _SHOWN,
}
_ENTRY_FIELDS: dict[str, Any] = {
    "key": {"type": "keyword"},
    "kind": {"type": "keyword"},
    "group": {"type": "keyword"},
    "value": _SHOWN,
}


class Dialect:
    """What OpenSearch wants to hear."""

    # The name of the type of a vector, and of the number of its dimensions.
    vector_type = "knn_vector"
    dimension_name = "dimension"
    # Whether it fuses two searches itself.
    fuses = True
    # Shifted, because a score may not be negative, not even by rounding.
    exact_script = "Math.max(0.0, 1.0 + cosineSimilarity(params.query, doc['vector']))"

    def __init__(self, settings: DatabaseSettings, version: str = "") -> None:
        self._settings = settings
        self._version = version
        self._wide: int = settings.option("ef_search", 200)

    # -- indexes ---------------------------------------------------------------------------------------------

    def points_index(self, dimension: int) -> dict[str, Any]:
        """Return the body that makes the index of points."""
        fields = {**_POINT_FIELDS, "vector": self.vector_field(dimension)}
        return self._index(fields, {"analysis": _ANALYSIS, **self.vector_settings()})

    def entries_index(self) -> dict[str, Any]:
        """Return the body that makes the index of entries."""
        return self._index(_ENTRY_FIELDS, {})

    def _index(self, fields: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        shape = dict(settings)
        for option, name in (("shards", "number_of_shards"), ("replicas", "number_of_replicas")):
            wanted: int = self._settings.option(option, -1)
            if wanted >= 0:
                shape[name] = wanted
        return {
            "settings": {"index": shape},
            "mappings": {"dynamic": "strict", "_meta": META, "properties": dict(fields)},
        }

    def vector_field(self, dimension: int) -> dict[str, Any]:
        """Return the field of the vector."""
        method = {
            "name": "hnsw",
            "engine": self._settings.option("engine", "lucene"),
            "space_type": "cosinesimil",
            "parameters": self._graph(),
        }
        return {"type": "knn_vector", "dimension": dimension, "method": method}

    def vector_settings(self) -> dict[str, Any]:
        """Return the settings that an index with vectors needs."""
        return {"knn": True}

    def _graph(self) -> dict[str, int]:
        return {
            "m": self._settings.option("m", 16),
            "ef_construction": self._settings.option("ef_construction", 128),
        }

    # -- queries ---------------------------------------------------------------------------------------------

    def exact(self, vector: list[float], documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search that compares every point."""
        some: dict[str, Any] = {"match_all": {}} if documents is None else _among(documents)
        script = {"source": self.exact_script, "params": {"query": vector}}
        return {"query": {"script_score": {"query": some, "script": script}}, "track_total_hits": False}

    def nearest(self, vector: list[float], limit: int, documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search of the graph: asked for more than is wanted, it looks further and misses less."""
        asked: dict[str, Any] = {"vector": vector, "k": self.width(limit)}
        if documents is not None:
            asked["filter"] = _among(documents)
        return {"query": {"knn": {"vector": asked}}, "track_total_hits": False}

    def width(self, limit: int) -> int:
        """Return how many candidates a search of the graph keeps."""
        return min(max(limit, self._wide), WINDOW)

    @staticmethod
    def keyword(terms: Sequence[str], documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search for words by BM25. Each is a term of its own, so nothing in it can be syntax."""
        should = [
            {"term": {"terms": {"value": term, "boost": float(count)}}}
            for term, count in Counter(terms).most_common(_CLAUSES)
        ]
        wanted: dict[str, Any] = {"should": should, "minimum_should_match": 1}
        if documents is not None:
            wanted["filter"] = [_among(documents)]
        return {"query": {"bool": wanted}, "track_total_hits": False}

    @staticmethod
    def fused(legs: Sequence[Mapping[str, Any]], weights: Sequence[float]) -> dict[str, Any]:
        """Return one search made of several, their scores brought to 0..1 and averaged by weight."""
        processor = {
            "normalization": {"technique": "min_max"},
            "combination": {"technique": "arithmetic_mean", "parameters": {"weights": list(weights)}},
        }
        return {
            "query": {"hybrid": {"queries": [leg["query"] for leg in legs]}},
            # Given with the search, so that nobody has to be allowed to keep pipelines in the cluster.
            "search_pipeline": {"phase_results_processors": [{"normalization-processor": processor}]},
        }


class ElasticDialect(Dialect):
    """What Elasticsearch wants to hear instead."""

    vector_type = "dense_vector"
    dimension_name = "dims"
    # Its own fusion is not in the free license.
    fuses = False
    exact_script = "Math.max(0.0, 1.0 + cosineSimilarity(params.query, 'vector'))"

    def vector_field(self, dimension: int) -> dict[str, Any]:
        """Return the field of the vector; without its default quantization, which rounds scores."""
        return {
            "type": "dense_vector",
            "dims": dimension,
            "index": True,
            "similarity": "cosine",
            "index_options": {"type": "hnsw", **self._graph()},
        }

    def vector_settings(self) -> dict[str, Any]:
        """Return what makes it give vectors back: since 9.2 it leaves them out of what it returns."""
        return {"mapping.exclude_source_vectors": False} if _number(self._version) >= (9, 2) else {}

    def nearest(self, vector: list[float], limit: int, documents: Collection[str] | None) -> dict[str, Any]:
        """Return a search of the graph."""
        asked: dict[str, Any] = {
            "field": "vector",
            "query_vector": vector,
            "k": min(limit, WINDOW),
            "num_candidates": self.width(limit),
        }
        if documents is not None:
            asked["filter"] = _among(documents)
        return {"knn": asked, "track_total_hits": False}


def fuse(
    legs: Sequence[Sequence[tuple[str, float]]], weights: Sequence[float], limit: int
) -> list[tuple[str, float]]:
    """Do what the normalization processor does: scores to 0..1 within a search, then the weighted mean.

    >>> fuse([[("a", 3.0), ("b", 1.0)], [("b", 9.0)]], (0.5, 0.5), 2)
    [('b', 0.5005), ('a', 0.5)]
    """
    total: dict[str, float] = {}
    for leg, weight in zip(legs, weights, strict=True):
        scores = [score for _, score in leg]
        low, span = (min(scores), max(scores) - min(scores)) if scores else (0.0, 0.0)
        for name, score in leg:
            # The last of a list is still better than what is not in it.
            part = max((score - low) / span, 0.001) if span else 1.0
            total[name] = total.get(name, 0.0) + weight * part
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))[:limit]


def _among(documents: Collection[str]) -> dict[str, Any]:
    return {"terms": {"document": list(documents)}}


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".")[:2] if part.isdigit())
