"""Repeats: text repeated verbatim is embedded once; its other occurrences get an adjusted vector.

Generated references repeat the same tables in hundreds of pages; only the title and the headings in front differ. The
first window of a chunk is always embedded. A later one takes the vector of the same text elsewhere, plus a share of the
difference between the two contexts. The model ``fast`` states that share in its ``model.json``; with others, every text
is embedded. docs/decisions/0028-order-and-repeats.md has the figures.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from loccit.index.folder.record import PendingPassage
from loccit.ingest.contextualize import passage_text
from loccit.models.embedding import Embedder
from loccit.models.embedding.onnx import normalise
from loccit.models.embedding.protocol import Vectors

# In shorter texts, the context makes up too much of the vector.
MIN_CHARACTERS = 200
_REMEMBERED_TEXTS = 1 << 17
_REMEMBERED_CONTEXTS = 1 << 12


class Repeats:
    """Embeds the texts of a run; ``vectors_of`` reads stored vectors."""

    def __init__(
        self, embedder: Embedder, vectors_of: Callable[[Sequence[bytes]], dict[bytes, Vectors]]
    ) -> None:
        self._embedder = embedder
        self._vectors_of = vectors_of
        self._share = float(getattr(embedder, "context_share", 0.0))
        # Texts without their context, with the first passage that has them.
        self._known: OrderedDict[bytes, PendingPassage] = OrderedDict()
        self._contexts: OrderedDict[str, Vectors] = OrderedDict()

    def embed(self, pending: Sequence[PendingPassage], check: Callable[[Vectors, int], Vectors]) -> Vectors:
        """Return a vector for each text."""
        sources = [self._source(passage) for passage in pending]
        fresh = [at for at, source in enumerate(sources) if source is None]
        wanted = {
            context
            for passage, source in zip(pending, sources, strict=True)
            if source is not None
            for context in (passage.context, source.context)
            if context not in self._contexts
        }
        contexts = sorted(wanted)
        texts = [passage_text(pending[at].context, pending[at].text) for at in fresh]
        made = check(self._embedder.embed([*texts, *contexts]), len(texts) + len(contexts))
        self._contexts.update(zip(contexts, made[len(texts) :], strict=True))
        vectors = np.zeros((len(pending), self._embedder.dimension), np.float32)
        vectors[fresh] = made[: len(texts)]
        self._move(pending, sources, vectors)
        while len(self._contexts) > _REMEMBERED_CONTEXTS:
            self._contexts.popitem(last=False)
        return vectors

    def _source(self, passage: PendingPassage) -> PendingPassage | None:
        """Return the passage whose vector this one takes, if any; otherwise remember it for others."""
        if not self._share or not passage.context or len(passage.text) < MIN_CHARACTERS:
            return None
        said = hashlib.blake2b(passage.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._known.get(said)
        if known is not None and passage.start:
            self._known.move_to_end(said)
            return known
        if known is None:
            self._known[said] = passage._replace(text="")
        if len(self._known) > _REMEMBERED_TEXTS:
            self._known.popitem(last=False)
        return None

    def _move(
        self,
        pending: Sequence[PendingPassage],
        sources: Sequence[PendingPassage | None],
        vectors: Vectors,
    ) -> None:
        here = {passage.text_hash: at for at, passage in enumerate(pending)}
        elsewhere = {source.text_hash for source in sources if source and source.text_hash not in here}
        stored = self._vectors_of(sorted(elsewhere))
        for at, (passage, source) in enumerate(zip(pending, sources, strict=True)):
            if source is not None:
                inside = here.get(source.text_hash)
                base = stored[source.text_hash] if inside is None else vectors[inside]
                apart = self._contexts[passage.context] - self._contexts[source.context]
                vectors[at] = normalise(base + self._share * apart)
