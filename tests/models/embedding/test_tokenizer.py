from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

from loccit.errors import LoccitError
from loccit.models.embedding import Tokenizer
from loccit.models.embedding import tokenizer as module
from loccit.models.embedding.registry import BUNDLED_MODEL
from loccit.models.embedding.tokenizer import HuggingFaceTokenizer

TOKENIZER = HuggingFaceTokenizer(BUNDLED_MODEL / "tokenizer.json")

PARAGRAPHS = st.lists(st.text(max_size=40), max_size=12).map("\n\n".join)


def check_spans(text: str, spans: list[tuple[int, int]]) -> None:
    end = 0
    for start, stop in spans:
        assert end <= start < stop <= len(text)
        end = stop


def test_is_a_tokenizer() -> None:
    assert isinstance(TOKENIZER, Tokenizer)


@given(st.one_of(st.text(), PARAGRAPHS))
def test_spans_ascend_without_overlap(text: str) -> None:
    check_spans(text, TOKENIZER.offsets(text))


@given(PARAGRAPHS)
def test_pieces_change_nothing(text: str) -> None:
    whole, count = TOKENIZER.offsets(text), TOKENIZER.count(text)
    before = module._PIECE_CHARACTERS
    module._PIECE_CHARACTERS = 10
    try:
        assert TOKENIZER.offsets(text) == whole
        assert TOKENIZER.count(text) == count
    finally:
        module._PIECE_CHARACTERS = before


@given(st.text(alphabet="abc XYZ.,;\n§é東🚀", max_size=200))
def test_every_visible_character_is_in_a_token(text: str) -> None:
    covered = {index for start, stop in TOKENIZER.offsets(text) for index in range(start, stop)}
    assert {index for index, character in enumerate(text) if not character.isspace()} <= covered


@given(st.text(alphabet="abiscXYZ09.,_-[]`~\"'\t\r\n\x07\x0b §é東🚀\u0301\u200b", max_size=200))
def test_words_that_are_looked_up_have_the_tokens_that_the_model_gives_them(text: str) -> None:
    tokenizer = module.read_tokenizer(TOKENIZER.path)
    given = dict.fromkeys(tokenizer.encode(text, add_special_tokens=False).offsets)
    assert TOKENIZER.offsets(text) == [span for span in given if span[0] < span[1]]


def test_a_special_token_in_the_text_stays_one_token() -> None:
    text = "Fill in the [MASK] of a sentence."
    assert (12, 18) in TOKENIZER.offsets(text)


def test_empty() -> None:
    assert TOKENIZER.offsets("") == []
    assert TOKENIZER.count("") == 0
    assert TOKENIZER.offsets(" \n\n ") == []


def test_offsets_are_characters_not_bytes() -> None:
    text = "§ 4 Zürich 🚀 law"
    assert [text[start:stop] for start, stop in TOKENIZER.offsets(text)] == ["§", "4", "Zürich", "🚀", "law"]


def test_long_text_is_not_truncated() -> None:
    text = "\n\n".join("the quick brown fox jumps over the lazy dog" for _ in range(20_000))
    spans = TOKENIZER.offsets(text)
    assert len(spans) == TOKENIZER.count(text) == 180_000
    check_spans(text, spans)
    assert text[slice(*spans[-1])] == "dog"


ODD = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from(' \n\x0b\x1c\x85\u2028\u200b"\\.,_-é東ß\u0301')
)


@given(ODD | ODD.map(lambda text: f"{text}[SEP] [MASK].{text}"))
def test_words_are_counted_as_the_model_does(text: str) -> None:
    direct = tokenizers.Tokenizer.from_file(str(TOKENIZER.path))
    for _ in range(2):
        assert TOKENIZER.count(text) == len(direct.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("splitter", [pre_tokenizers.ByteLevel(), pre_tokenizers.Metaspace()])
def test_models_that_join_spaces_to_words_count_those(
    tmp_path: Path, splitter: pre_tokenizers.PreTokenizer
) -> None:
    trained = tokenizers.Tokenizer(models.BPE())
    trained.pre_tokenizer = splitter
    trained.train_from_iterator(
        ["a law  of the sea,\n\n  and of the land"] * 3, trainers.BpeTrainer(vocab_size=40)
    )
    trained.save(str(tmp_path / "tokenizer.json"))
    text = "the   law of\n\n the sea"
    assert HuggingFaceTokenizer(tmp_path / "tokenizer.json").count(text) == len(trained.encode(text).ids)


@pytest.mark.slow
def test_only_so_many_words_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WORDS", 100)
    counter = HuggingFaceTokenizer(TOKENIZER.path)
    for start in range(0, 1000, 30):
        assert counter.count(" ".join(f"number{number}" for number in range(start, start + 40))) >= 40
    tracemalloc.start()
    for start in range(1000, 21_000, 30):
        long_words = " ".join(f"number{number}" + "x" * 100 for number in range(start, start + 40))
        counter.count(long_words)
        assert len(counter.offsets(long_words)) >= 40
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 100_000


def test_special_tokens_are_not_added() -> None:
    assert TOKENIZER.count("law") == 1


def test_travels_to_another_process() -> None:
    copy = pickle.loads(pickle.dumps(TOKENIZER))
    assert copy.offsets("two words") == [(0, 3), (4, 9)]


def test_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LoccitError, match="Cannot read the tokenizer"):
        HuggingFaceTokenizer(tmp_path / "tokenizer.json").offsets("text")
