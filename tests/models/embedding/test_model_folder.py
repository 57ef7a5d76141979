from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loccit.errors import LoccitError
from loccit.models.embedding import onnx
from loccit.models.embedding.folder import read_folder
from loccit.models.embedding.onnx import OnnxEmbedder, normalise, open_session, pool
from loccit.models.embedding.registry import BUNDLED_MODEL


def make_folder(path: Path, files: dict[str, Any]) -> Path:
    """Write a folder whose model is only named, with the given settings."""
    (path / "onnx").mkdir(parents=True)
    (path / "onnx" / "model.onnx").write_bytes(b"not a model")
    shutil.copy(BUNDLED_MODEL / "tokenizer.json", path)
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(json.dumps(content), encoding="utf-8")
    return path


def test_settings_of_sentence_transformers(tmp_path: Path) -> None:
    folder = make_folder(
        tmp_path / "some-model",
        {
            "config.json": {"hidden_size": 768, "max_position_embeddings": 514},
            "sentence_bert_config.json": {"max_seq_length": 512},
            "1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
            "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}},
        },
    )
    found = read_folder(folder)
    assert (found.name, found.dimension, found.max_tokens, found.pooling) == ("some-model", 768, 512, "cls")
    assert (found.query_prefix, found.document_prefix) == ("query: ", "passage: ")
    assert found.graph == folder / "onnx" / "model.onnx"


def test_own_settings_win(tmp_path: Path) -> None:
    folder = make_folder(
        tmp_path / "model",
        {
            "model.json": {"name": "mine", "max_tokens": 64, "languages": ["en", "de"], "pooling": "max"},
            "config.json": {"hidden_size": 32, "max_position_embeddings": 512},
        },
    )
    found = read_folder(folder)
    assert (found.name, found.max_tokens, found.pooling) == ("mine", 64, "max")
    assert found.languages == frozenset({"en", "de"})


def test_unsupported_pooling(tmp_path: Path) -> None:
    with pytest.raises(LoccitError, match="not supported"):
        read_folder(make_folder(tmp_path / "model", {"model.json": {"pooling": "lasttoken"}}))


def test_broken_settings(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model", {})
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(LoccitError, match=r"Cannot read .*config\.json"):
        read_folder(folder)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(LoccitError, match="no ONNX model"):
        read_folder(tmp_path)
    (tmp_path / "model.onnx").touch()
    with pytest.raises(LoccitError, match=r"no tokenizer\.json"):
        read_folder(tmp_path)
    with pytest.raises(LoccitError, match="no model folder"):
        read_folder(tmp_path / "absent")


def test_broken_graph_is_found_when_it_is_used(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(make_folder(tmp_path / "model", {"config.json": {"hidden_size": 8}}))
    assert embedder.dimension == 8
    with pytest.raises(LoccitError, match="Cannot load the model"):
        embedder.embed(["text"])


def test_wrong_dimension_is_found(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model", {"config.json": {"hidden_size": 8}})
    shutil.copy(BUNDLED_MODEL / "model.onnx", folder / "onnx")
    with pytest.raises(LoccitError, match="vectors of 384 dimensions"):
        OnnxEmbedder(folder).embed(["text"])


def test_dimension_without_settings_and_prefixes(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model", {"model.json": {"query_prefix": "query: ", "max_tokens": 256}})
    shutil.copy(BUNDLED_MODEL / "model.onnx", folder / "onnx")
    embedder, plain = OnnxEmbedder(folder), OnnxEmbedder(BUNDLED_MODEL)
    assert embedder.dimension == 384
    np.testing.assert_array_equal(embedder.embed_query("law"), plain.embed_query("query: law"))
    np.testing.assert_array_equal(embedder.embed(["law"]), plain.embed(["law"]))


@pytest.mark.parametrize(("token_types", "mode"), [(False, "mean"), (True, "cls"), (True, "max")])
def test_graph_that_gives_token_vectors(tmp_path: Path, token_types: bool, mode: str) -> None:
    onnx = pytest.importorskip("onnx")
    helper, integer, real = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    table = np.random.default_rng(7).normal(size=(30522, 4)).astype(np.float32)
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * token_types
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tokens",
        [helper.make_tensor_value_info(name, integer, ["batch", "sequence"]) for name in names],
        [helper.make_tensor_value_info("last_hidden_state", real, ["batch", "sequence", 4])],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    folder = make_folder(tmp_path / "model", {"model.json": {"pooling": mode, "max_tokens": 16}})
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, folder / "onnx" / "model.onnx")
    vectors = OnnxEmbedder(folder).embed(["law", "the law of the land"])
    ids = [[101, 2375, 102], [101, 1996, 2375, 1997, 1996, 2455, 102]]
    reduce = {"mean": lambda rows: rows.mean(0), "cls": lambda rows: rows[0], "max": lambda rows: rows.max(0)}
    expected = normalise(np.stack([reduce[mode](table[row]) for row in ids]))
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_pooling_leaves_padding_out() -> None:
    hidden = np.array([[[1.0, 5.0], [3.0, 1.0], [99.0, 99.0]], [[99.0, 99.0], [2.0, 2.0], [4.0, 0.0]]])
    mask = np.array([[1, 1, 0], [0, 1, 1]])
    assert pool(hidden, mask, "mean").tolist() == [[2, 3], [3, 1]]
    assert pool(hidden, mask, "max").tolist() == [[3, 5], [4, 2]]
    assert pool(hidden, mask, "cls").tolist() == [[1, 5], [2, 2]]


def test_zero_vector_stays_zero() -> None:
    assert normalise(np.zeros((1, 3))).tolist() == [[0, 0, 0]]


def test_threads_must_be_positive() -> None:
    with pytest.raises(LoccitError, match="threads"):
        OnnxEmbedder(BUNDLED_MODEL, threads=0)


@pytest.mark.parametrize(("small", "cores"), [(1 << 30, [1]), (0, [3])])
def test_a_text_is_embedded_on_one_core_unless_the_model_is_large(
    monkeypatch: pytest.MonkeyPatch, small: int, cores: list[int]
) -> None:
    opened: list[int] = []

    def record(graph: Path, threads: int) -> Any:
        opened.append(threads)
        return open_session(graph, threads)

    monkeypatch.setattr(onnx, "open_session", record)
    monkeypatch.setattr(onnx, "_SMALL_MODEL", small)
    embedder = OnnxEmbedder(BUNDLED_MODEL, threads=3)
    alone = embedder.embed_query("mooring fees")
    embedder.embed_query("berths")
    # The cores that work on a text do not change its vector, and the model is loaded once for queries and texts.
    assert np.allclose(embedder.embed(["mooring fees", "berths"])[0], alone, atol=1e-6)
    assert opened == cores
