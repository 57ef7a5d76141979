"""What the double of a Weaviate server keeps, and how it searches: written from the vendor's documentation."""

from __future__ import annotations

import math
import re
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from weaviate.proto.v1 import base_pb2

MAX_RESULTS = 10_000
_CLASS = re.compile(r"[A-Z][_0-9A-Za-z]{0,254}")
_PROPERTY = re.compile(r"[_A-Za-z][_0-9A-Za-z]{0,230}")
_RESERVED = {"_additional", "_id", "id"}
_TOKENIZATIONS = {"word", "lowercase", "whitespace", "field", "trigram", "gse", "kagome_ja", "kagome_kr"}
_HNSW = {
    "cleanupIntervalSeconds",
    "distance",
    "dynamicEfFactor",
    "dynamicEfMax",
    "dynamicEfMin",
    "ef",
    "efConstruction",
    "filterStrategy",
    "flatSearchCutoff",
    "maxConnections",
    "skip",
    "vectorCacheMaxObjects",
}
# Of the preset "en", which a class has unless it says otherwise; enough to notice when it was left on.
_STOPWORDS = {"a", "and", "are", "of", "or", "the", "to", "with"}
_OPERATOR = base_pb2.Filters


class RefusedError(Exception):
    """The server would refuse this, with this message."""


@dataclass
class Stored:
    """An object."""

    id: uuid.UUID
    properties: dict[str, str]
    vector: np.ndarray[Any, Any] | None


@dataclass
class Table:
    """A collection with its objects."""

    config: dict[str, Any]
    objects: dict[uuid.UUID, Stored] = field(default_factory=dict)
    guard: threading.RLock = field(default_factory=threading.RLock)
    length: int | None = None
    # Whether the last search by vector had a filter; below the cutoff that is what makes it exact.
    filtered: bool = False

    @property
    def name(self) -> str:
        return str(self.config["class"])

    def property_config(self, name: str) -> dict[str, Any]:
        for found in self.config.get("properties", ()):
            if found["name"] == name:
                return dict(found)
        raise RefusedError(f"no such prop with name '{name}' found in class '{self.name}' in the schema.")

    # -- writing ---------------------------------------------------------------------------------------------

    def insert(self, name: str, properties: dict[str, Any], vectors: dict[str, np.ndarray[Any, Any]]) -> None:
        """Store an object in place of that with the same id. Unknown fields are refused: no automatic schema."""
        try:
            number = uuid.UUID(name)
        except ValueError as error:
            raise RefusedError(f"invalid UUID '{name}'") from error
        for key, value in properties.items():
            self.property_config(key)
            if not isinstance(value, str):
                raise RefusedError(f"invalid text property '{key}' on class '{self.name}': not a string")
        for target in vectors:
            if target not in self.config["vectorConfig"]:
                raise RefusedError(
                    f"collection {self.name} does not have configuration for target vector {target}"
                )
        vector = next(iter(vectors.values()), None)
        with self.guard:
            if vector is not None:
                if self.length not in (None, len(vector)):
                    raise RefusedError(
                        f"insert to vector index: new node has a vector with length {len(vector)}. Existing nodes "
                        f"have vectors with length {self.length}"
                    )
                self.length = len(vector)
            self.objects[number] = Stored(number, properties, vector)

    # -- reading ---------------------------------------------------------------------------------------------

    def passing(self, wanted: Any) -> list[Stored]:
        """Return the objects that pass a filter."""
        with self.guard:
            held = list(self.objects.values())
        if wanted is None:
            return held
        passes = self._test(wanted)
        return [item for item in held if passes(item)]

    def _test(self, wanted: Any) -> Callable[[Stored], bool]:
        if wanted.operator == _OPERATOR.OPERATOR_AND:
            parts = [self._test(part) for part in wanted.filters]
            return lambda item: all(part(item) for part in parts)
        if wanted.operator == _OPERATOR.OPERATOR_EQUAL:
            values = {wanted.value_text}
        elif wanted.operator == _OPERATOR.OPERATOR_CONTAINS_ANY:
            values = set(wanted.value_text_array.values)
        else:
            raise RefusedError(f"the double knows no operator {wanted.operator}")
        name = wanted.target.property
        if name == "_id":
            numbers = {uuid.UUID(value) for value in values}
            return lambda item: item.id in numbers
        if not self.property_config(name).get("indexFilterable", True):
            raise RefusedError(
                f"Filtering by property '{name}' requires inverted index. Is `indexFilterable` option of property "
                f"'{name}' enabled? Set it to `true` or leave empty"
            )
        return lambda item: item.properties.get(name) in values

    def nearest(self, vector: np.ndarray[Any, Any], among: Iterable[Stored]) -> list[tuple[float, Stored]]:
        """Return objects by their cosine distance, nearest first."""
        held = [(item, item.vector) for item in among if item.vector is not None]
        if not held:
            return []
        if len(vector) != self.length:
            raise RefusedError(f"vector lengths don't match: {self.length} vs {len(vector)}")
        matrix = np.stack([row for _, row in held])
        norms = np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector)
        distances = 1.0 - np.einsum("ij,j->i", matrix, vector) / norms
        order = np.argsort(distances, kind="stable")
        return [(float(distances[at]), held[at][0]) for at in order]

    def ranked(
        self, query: str, properties: list[str], among: Iterable[Stored]
    ) -> list[tuple[float, Stored]]:
        """Return objects that hold one of the words, by BM25."""
        if len(properties) != 1:
            raise RefusedError("the double ranks by one property")
        config = self.property_config(properties[0])
        if not config.get("indexSearchable", True):
            raise RefusedError(
                f"Searching by property '{properties[0]}' requires inverted index. Is `indexSearchable` option of "
                f"property '{properties[0]}' enabled?"
            )
        with self.guard:
            texts = {
                item.id: tokens(item.properties[properties[0]], config["tokenization"])
                for item in self.objects.values()
                if item.properties.get(properties[0])
            }
        average = sum(map(len, texts.values())) / len(texts) if texts else 1.0
        preset = self.config.get("invertedIndexConfig", {}).get("stopwords", {}).get("preset", "en")
        words = tokens(query, config["tokenization"])
        if preset == "en":
            words = [word for word in words if word not in _STOPWORDS]
        counts = {name: Counter(text) for name, text in texts.items()}
        rarity = {word: _rarity(sum(word in held for held in counts.values()), len(counts)) for word in words}
        found: list[tuple[float, Stored]] = []
        for item in among:
            held = counts.get(item.id, Counter())
            share = 1.2 * (0.25 + 0.75 * held.total() / average)
            score = sum(rarity[word] * held[word] * 2.2 / (held[word] + share) for word in words)
            if score > 0:
                found.append((score, item))
        return sorted(found, key=lambda hit: -hit[0])


def _rarity(having: int, everyone: int) -> float:
    return math.log(1 + (everyone - having + 0.5) / (having + 0.5))


def tokens(text: str, tokenization: str) -> list[str]:
    """Cut a text as a property says."""
    if tokenization == "whitespace":
        return text.split()
    if tokenization == "field":
        return [text.strip()]
    return re.findall(r"\w+", text.lower())


def check_class(config: dict[str, Any]) -> None:
    """Refuse a collection that the server would not make."""
    if not _CLASS.fullmatch(config.get("class", "")):
        raise RefusedError(f"'{config.get('class')}' is not a valid class name")
    for found in config.get("properties", ()):
        if not _PROPERTY.fullmatch(found["name"]) or found["name"] in _RESERVED:
            raise RefusedError(f"'{found['name']}' is not a valid property name, or is reserved")
        if found["dataType"] != ["text"]:
            raise RefusedError(f"the double keeps texts, not {found['dataType']}")
        found.setdefault("tokenization", "word")
        if found["tokenization"] not in _TOKENIZATIONS:
            raise RefusedError(f"invalid tokenization {found['tokenization']}")
    for name, vectors in config.get("vectorConfig", {}).items():
        if vectors.get("vectorizer") != {"none": {}}:
            raise RefusedError(f"target vector {name}: vectorizer: the double has no module of this name")
        if vectors.get("vectorIndexType") != "hnsw":
            raise RefusedError(f"target vector {name}: unrecognized or unsupported vectorIndexType")
        settings = vectors.get("vectorIndexConfig") or {}
        if unknown := settings.keys() - _HNSW:
            raise RefusedError(f"the double knows no vectorIndexConfig {sorted(unknown)}")
        if settings.get("distance", "cosine") not in ("cosine", "dot", "l2-squared", "manhattan", "hamming"):
            raise RefusedError(f"unrecognized distance {settings['distance']}")
        if settings.get("maxConnections", 32) < 4 or settings.get("efConstruction", 128) < 4:
            raise RefusedError("invalid hnsw config: maxConnections and efConstruction must be at least 4")


def fused(
    vectors: list[tuple[float, Stored]], words: list[tuple[float, Stored]], alpha: float
) -> list[tuple[float, Stored]]:
    """Fuse both answers by relative scores: the best of each counts one, the worst nothing."""
    total: dict[uuid.UUID, float] = {}
    items: dict[uuid.UUID, Stored] = {}
    for hits, weight in (([(1.0 - far, item) for far, item in vectors], alpha), (words, 1.0 - alpha)):
        scores = [score for score, _ in hits]
        for score, item in hits:
            high, low = max(scores), min(scores)
            share = (score - low) / (high - low) if high > low else 1.0
            total[item.id] = total.get(item.id, 0.0) + weight * share
            items[item.id] = item
    return sorted(((score, items[name]) for name, score in total.items()), key=lambda hit: -hit[0])
