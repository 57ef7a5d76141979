from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from loccit.models.embedding import Embedder, load_embedder
from loccit.models.embedding.registry import BUNDLED_MODEL, FAST_MODEL, GRANITE_MODEL

TEXTS = [
    "The tenant shall pay the rent on the first day of each month.",
    "Rent is due monthly, in advance.",
    "Photosynthesis turns light into chemical energy.",
    "",
    "Zürich – 東京 🚀 \x00 e\u0301",
    "clause " * 3000,
    "x" * 100_000,
]


def test_is_an_embedder(bundled: Embedder) -> None:
    assert isinstance(bundled, Embedder)
    assert (bundled.dimension, bundled.max_tokens, bundled.languages) == (384, 256, frozenset({"en"}))


@pytest.mark.parametrize("folder", [BUNDLED_MODEL, FAST_MODEL, GRANITE_MODEL])
def test_shipped_files_are_the_recorded_ones(folder: Path) -> None:
    recorded = json.loads((folder / "model.json").read_text(encoding="utf-8"))["sha256"]
    assert set(recorded) == {"model.onnx", "tokenizer.json"}
    for name, digest in recorded.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_fast_is_a_student_of_the_default(bundled: Embedder) -> None:
    """Its vectors are near those of its teacher, and order texts alike."""
    fast = load_embedder("fast")
    assert (fast.dimension, fast.max_tokens, fast.languages) == (384, 256, frozenset({"en"}))
    sentences = TEXTS[:3]
    taught, learnt = bundled.embed(sentences), fast.embed(sentences)
    assert (taught * learnt).sum(axis=1).min() > 0.9
    query = "When must the rent be paid?"
    assert (learnt @ fast.embed_query(query)).argmax() == (taught @ bundled.embed_query(query)).argmax()


def test_a_word_means_the_same_alone_and_in_a_sentence() -> None:
    """The first word of a text is read like any other: ``roses`` is not ``ro`` and ``ses``."""
    granite = load_embedder("granite-embedding-30m-english")
    assert (granite.dimension, granite.max_tokens, granite.languages) == (384, 256, frozenset({"en"}))
    roses, stove, tax = (granite.embed_query(text) for text in ("roses", "stove", "tax return"))
    garden, kitchen = (granite.embed_query(text) for text in ("flower", "cooking"))
    assert garden @ roses > max(garden @ stove, garden @ tax) + 0.2
    assert kitchen @ stove > max(kitchen @ roses, kitchen @ tax) + 0.2


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("When must the rent be paid?", TEXTS[1], TEXTS[2]),
        ("how plants make energy", TEXTS[2], TEXTS[0]),
        (
            "ending the contract early",
            "Either party may terminate upon 90 days' notice.",
            "Deliveries are free.",
        ),
        ("delete my data", "Right to erasure: the data subject may ask for removal.", "The fee is 20 euros."),
    ],
)
def test_paraphrase_is_nearer_than_the_unrelated(bundled: Embedder, query: str, near: str, far: str) -> None:
    vectors = bundled.embed([near, far])
    scores = vectors @ bundled.embed_query(query)
    assert scores[0] > scores[1] + 0.2


def test_vectors_are_finite_and_of_length_one(bundled: Embedder) -> None:
    vectors = bundled.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts(bundled: Embedder) -> None:
    assert bundled.embed([]).shape == (0, 384)


def test_only_the_first_tokens_count(bundled: Embedder) -> None:
    start = "word " * 400
    first, second = bundled.embed([start + "one ending", start + "another end entirely"])
    np.testing.assert_allclose(first, second, atol=1e-6)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_text_has_the_same_vector_in_any_company(threads: int) -> None:
    texts = [
        f"Article {number}: {'the member states report yearly ' * (number % 30)}" for number in range(40)
    ]
    embedder = load_embedder(threads=threads)
    vectors = embedder.embed(texts)
    np.testing.assert_array_equal(vectors[::-1], embedder.embed(texts[::-1]))
    for text, vector in zip(texts[::7], vectors[::7], strict=True):
        np.testing.assert_array_equal(vector, embedder.embed_query(text))


def test_same_call_gives_the_same_vectors(bundled: Embedder) -> None:
    np.testing.assert_array_equal(bundled.embed(TEXTS), bundled.embed(TEXTS))


def test_many_threads_share_a_fresh_one() -> None:
    embedder = load_embedder(threads=1)
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(embedder.embed_query, ["the same words"] * 16))
    for vector in vectors[1:]:
        np.testing.assert_array_equal(vectors[0], vector)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys; from loccit.models.embedding import load_embedder, load_tokenizer\n"
        "embedder = load_embedder(); embedder.dimension, embedder.max_tokens\n"
        "heavy = {'onnxruntime', 'tokenizers', 'openai', 'huggingface_hub'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert load_tokenizer().offsets('two words') == [(0, 3), (4, 9)]\n"
        "assert 'onnxruntime' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
