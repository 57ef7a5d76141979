"""Models by name: what their files say, what the table adds, and files that do not belong together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.models.embedding.tiny import (
    WORDS,
    encoder,
    onnx_graph,
    safetensors,
    static,
    table_of,
    tokenizer_json,
    write_folder,
)

from loccit.errors import LoccitError
from loccit.models.embedding import Embedder, load_embedder
from loccit.models.embedding.families import family_of, graphs_of, table
from loccit.models.embedding.folder import read_folder
from loccit.models.embedding.onnx import normalise

DOCS = Path(__file__).parents[3] / "docs" / "configuration.md"
FOR_SEARCH = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("name", "pooling", "query", "document", "tokens"),
    [
        ("BAAI/bge-small-en-v1.5", "cls", FOR_SEARCH, "", 512),
        ("Xenova/bge-large-en-v1.5", "cls", FOR_SEARCH, "", 512),
        ("BAAI/bge-m3", "cls", "", "", 8192),
        ("intfloat/e5-base-v2", "mean", "query: ", "passage: ", 512),
        ("intfloat/multilingual-e5-small", "mean", "query: ", "passage: ", 512),
        ("thenlper/gte-small", "mean", "", "", 512),
        ("Alibaba-NLP/gte-large-en-v1.5", "cls", "", "", 8192),
        ("nomic-ai/nomic-embed-text-v1.5", "mean", "search_query: ", "search_document: ", 8192),
        ("mixedbread-ai/mxbai-embed-large-v1", "cls", FOR_SEARCH, "", 512),
        ("Snowflake/snowflake-arctic-embed-m", "cls", FOR_SEARCH, "", 512),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "cls", "query: ", "", 8192),
        ("jinaai/jina-embeddings-v2-base-de", "mean", "", "", 8192),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "mean", "", "", 128),
    ],
)
def test_what_the_files_leave_open(
    tmp_path: Path, name: str, pooling: str, query: str, document: str, tokens: int
) -> None:
    files = {"model.onnx": b"", "tokenizer.json": b"{}", "config.json": b'{"max_position_embeddings": 8192}'}
    found = read_folder(write_folder(tmp_path, files), name=name)
    assert (found.pooling, found.query_prefix, found.document_prefix) == (pooling, query, document)
    assert found.max_tokens == tokens


def test_a_model_is_known_by_the_name_of_its_folder_too(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "e5-small-v2", {"model.onnx": b"", "tokenizer.json": b"{}"})
    assert read_folder(folder).query_prefix == "query: "
    assert family_of("maker/of-its-own") is None


def test_the_files_of_a_model_come_before_the_table(tmp_path: Path) -> None:
    files = {
        "model.onnx": b"",
        "tokenizer.json": b"{}",
        "1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true, "include_prompt": true}',
        "sentence_bert_config.json": b'{"max_seq_length": 300}',
        "config_sentence_transformers.json": b'{"prompts": {"retrieval.query": "Ask: ", "document": ""}}',
    }
    found = read_folder(write_folder(tmp_path, files), name="BAAI/bge-small-en-v1.5")
    assert (found.pooling, found.max_tokens) == ("mean", 300)
    assert (found.query_prefix, found.document_prefix) == ("Ask: ", "")


def test_empty_prompts_say_nothing(tmp_path: Path) -> None:
    prompts = b'{"prompts": {"query": "", "document": ""}}'
    files = {"model.onnx": b"", "tokenizer.json": b"{}", "config_sentence_transformers.json": prompts}
    assert read_folder(write_folder(tmp_path, files), name="intfloat/e5-small").query_prefix == "query: "


def test_positions_that_begin_after_the_padding(tmp_path: Path) -> None:
    config = b'{"model_type": "xlm-roberta", "max_position_embeddings": 514}'
    files = {"model.onnx": b"", "tokenizer.json": b"{}", "config.json": config}
    assert read_folder(write_folder(tmp_path, files)).max_tokens == 512


def test_converted_copies_are_taken_small() -> None:
    assert graphs_of("Xenova/multilingual-e5-small")[0] == "onnx/model_quantized.onnx"
    assert graphs_of("intfloat/multilingual-e5-small")[1] == "onnx/model.onnx"


def test_the_documentation_has_the_table() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")


def opened(tmp_path: Path, files: dict[str, bytes], name: str = "maker/tiny") -> Embedder:
    return load_embedder(write_folder(tmp_path / "model", files), name=name)


def test_prefixes_reach_the_model(tmp_path: Path) -> None:
    embedder, rows = opened(tmp_path, encoder(), "intfloat/e5-small"), table_of(len(WORDS), 4)
    query, passage, law = (rows[WORDS.index(word)] for word in ("query:", "passage:", "law"))
    np.testing.assert_allclose(embedder.embed_query("law"), normalise((query + law)[None])[0], atol=1e-6)
    np.testing.assert_allclose(embedder.embed(["law"])[0], normalise((passage + law)[None])[0], atol=1e-6)


def test_a_model_that_is_told_its_task(tmp_path: Path) -> None:
    files = encoder(lora_adaptations=["retrieval.query", "retrieval.passage", "separation"])
    files["onnx/model.onnx"] = onnx_graph(table_of(len(WORDS), 4), output="text_embeds", inputs=["task_id"])
    embedder, row = opened(tmp_path, files), table_of(len(WORDS), 4)[WORDS.index("law")]
    np.testing.assert_allclose(embedder.embed_query("law"), normalise(row[None])[0], atol=1e-6)
    np.testing.assert_allclose(embedder.embed(["law"])[0], normalise((row + 1)[None])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokenizer.json": tokenizer_json((*WORDS, "more"))}, "9 tokens, more than"),
        ({"onnx/model.onnx": onnx_graph(table_of(len(WORDS), 5))}, "vectors of 5 dimensions, but .* say 4"),
        ({"1_Pooling/config.json": b"{}"}, "no file says how to pool them"),
        (
            {"1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}'},
            "'mean and max' is not supported",
        ),
        (
            {
                "modules.json": b'[{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]',
                "2_Dense/config.json": b'{"out_features": 4}',
            },
            "lacks the model's last step",
        ),
        ({"onnx/model.onnx": onnx_graph(table_of(len(WORDS), 4), inputs=["pixels"])}, "not a text encoder"),
        ({"config.json": b'{"hidden_size": 4, "vocab_size": 5}'}, "8 tokens, more than"),
    ],
)
def test_files_that_do_not_match_are_refused(tmp_path: Path, change: dict[str, bytes], said: str) -> None:
    with pytest.raises(LoccitError, match=said):
        opened(tmp_path, encoder() | change).embed(["law"])


def test_a_static_model_averages_the_tokens_that_it_knows(tmp_path: Path) -> None:
    embedder, rows = opened(tmp_path, static()), table_of(len(WORDS), 3)
    expected = normalise((rows[WORDS.index("harbour")] + rows[WORDS.index("law")])[None])[0]
    np.testing.assert_allclose(embedder.embed(["harbour zzz law"])[0], expected, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("harbour law"), expected, atol=1e-6)
    assert embedder.embed(["zzz", ""]).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert (embedder.name, embedder.dimension, embedder.max_tokens) == ("maker/tiny", 3, 512)


@pytest.mark.parametrize("kind", ["float16", "int8"])
def test_a_static_model_with_weights_and_shared_vectors(tmp_path: Path, kind: str) -> None:
    rows = (10 * table_of(2, 3)).astype(kind)
    tensors = {
        "embeddings": rows,
        "mapping": np.array([0, 0, 1, 0, 0, 0, 0, 1], np.int64),
        "weights": np.array([1, 1, 3, 1, 1, 1, 1, 1], np.float32),
    }
    embedder = opened(tmp_path, static() | {"model.safetensors": safetensors(tensors)})
    expected = normalise((3 * rows[1].astype(np.float32) + rows[0])[None])[0]
    np.testing.assert_allclose(embedder.embed(["harbour the"])[0], expected, atol=1e-5)


def test_a_static_model_of_sentence_transformers(tmp_path: Path) -> None:
    files = {
        "modules.json": b'[{"type": "sentence_transformers.models.StaticEmbedding", "path": "0_StaticEmbedding"}]',
        "0_StaticEmbedding/model.safetensors": safetensors({"embedding.weight": table_of(len(WORDS), 3)}),
        "0_StaticEmbedding/tokenizer.json": tokenizer_json(),
    }
    rows = table_of(len(WORDS), 3)
    found = opened(tmp_path, files).embed(["harbour zzz"])[0]
    np.testing.assert_allclose(found, normalise((rows[0] + rows[2])[None])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokenizer.json": tokenizer_json((*WORDS, "more"))}, "9 tokens, more than"),
        (
            {"config.json": b'{"model_type": "model2vec", "hidden_dim": 7}'},
            "vectors of 3 dimensions, but .* say 7",
        ),
        ({"model.safetensors": b"\x07\0\0\0\0\0\0\0nothing"}, "Cannot read .* as safetensors"),
        ({"model.safetensors": static()["model.safetensors"][:-4]}, "Cannot read .* as safetensors"),
        ({"model.safetensors": safetensors({"other": table_of(8, 3)})}, "no table of vectors"),
    ],
)
def test_a_static_model_whose_files_do_not_match(tmp_path: Path, change: dict[str, bytes], said: str) -> None:
    with pytest.raises(LoccitError, match=said):
        opened(tmp_path, static() | change).embed(["law"])


def test_settings_of_the_table_are_plain() -> None:
    shown = [line.split(" | ") for line in table().splitlines()[2:]]
    assert all(len(cells) == 5 for cells in shown), json.dumps(shown)
