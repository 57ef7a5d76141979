from __future__ import annotations

import json
import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.errors import LoccitError, UsageError
from loccit.models.embedding.registry import BUNDLED_MODEL
from loccit.models.rerank import PartialScores, Reranker, RerankError, apply_reranker, load_reranker
from loccit.models.rerank.onnx import OnnxReranker

onnx = pytest.importorskip("onnx")

QUERY = "How much notice must an employee give?"
TEXTS = [
    "The canteen opens at noon and closes at two.",
    "Notice boards hang in each corridor.",
    "An employee must give one month of notice in writing.",
    "Visitors sign in at the front desk.",
]


def best_first(scores: list[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda index: -scores[index])


def ticking(step: float) -> Callable[[], float]:
    """A clock on which ``step`` seconds pass each time somebody looks."""
    now = [0.0]

    def look() -> float:
        now[0] += step
        return now[0]

    return look


def test_texts_that_match_the_query_score_higher(tiny: Path) -> None:
    reranker = load_reranker(tiny)
    assert isinstance(reranker, Reranker)
    assert reranker.name == "tiny-overlap-reranker"
    scores = reranker.rerank(QUERY, TEXTS)
    assert best_first(scores)[:2] == [2, 1]
    assert all(0.0 < score < 1.0 for score in scores)


def test_the_model_is_small(tiny: Path) -> None:
    assert sum(file.stat().st_size for file in tiny.iterdir()) < 300_000


@pytest.mark.parametrize(
    ("query", "good", "poor"),
    [
        ("résumé of the candidate", "Send the RESUME of each candidate.", "Send flowers."),
        ("保証期間", "保証期間は二年です。", "返品はできません。"),
        ("getAuthToken", "token = client.getAuthToken(user)", "page = client.render(user)"),
        ("terminaton clause", "The termination clause is in Annex B.", "Rent is due on the first."),
    ],
)
def test_other_scripts_names_and_misspellings(tiny: Path, query: str, good: str, poor: str) -> None:
    scores = OnnxReranker(tiny).rerank(query, [poor, good])
    assert scores[1] > scores[0]


@pytest.mark.parametrize(("classes", "token_types"), [(1, False), (2, True), (2, False)])
def test_variants_of_models_agree(tiny: Path, tmp_path: Path, classes: int, token_types: bool) -> None:
    """One logit or two classes, with and without token types: the same model, the same scores."""
    from scripts.build_tiny_reranker import build

    variant = OnnxReranker(build(tmp_path, classes=classes, token_types=token_types))  # type: ignore[arg-type]
    np.testing.assert_allclose(
        variant.rerank(QUERY, TEXTS), OnnxReranker(tiny).rerank(QUERY, TEXTS), rtol=1e-4
    )


def test_no_text_and_empty_texts(tiny: Path) -> None:
    reranker = OnnxReranker(tiny)
    assert reranker.rerank(QUERY, []) == []
    assert best_first(reranker.rerank(QUERY, ["", TEXTS[2], " \n"]))[0] == 1
    assert len(reranker.rerank("", ["a", ""])) == 2


def test_long_texts_are_cut_and_the_query_is_not(tiny: Path) -> None:
    reranker = OnnxReranker(tiny, max_tokens=128)
    filler = "lorem ipsum " * 500
    early, late = f"notice of employees {filler}", f"{filler} notice of employees"
    scores = reranker.rerank("notice of employees", [late, early, filler])
    assert best_first(scores)[0] == 1
    assert scores[0] == scores[2], "what is beyond the limit is not read"


def test_very_long_query_leaves_room_for_the_text(tiny: Path) -> None:
    reranker = OnnxReranker(tiny, max_tokens=64)
    scores = reranker.rerank("notice " * 5000, ["canteen", "notice"])
    assert scores[1] > scores[0]


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.text(max_size=300), max_size=20), query=st.text(max_size=80))
def test_any_text_gets_a_score_that_does_not_depend_on_its_company(
    tiny: Path, texts: list[str], query: str
) -> None:
    reranker = SHARED.setdefault(tiny, OnnxReranker(tiny, time_limit_ms=None, threads=1))
    together = reranker.rerank(query, texts)
    alone = [reranker.rerank(query, [text])[0] for text in texts]
    np.testing.assert_allclose(together, alone, rtol=1e-3)


SHARED: dict[Path, OnnxReranker] = {}


def test_texts_of_all_lengths_come_back_in_their_order(tiny: Path) -> None:
    random.seed(7)
    texts = [" ".join(random.choices(["tide", "moon", "harbour", "ebb"], k=k)) for k in range(60)]
    texts[17] = "notice of employees"
    scores = OnnxReranker(tiny, time_limit_ms=None).rerank("notice of employees", texts)
    assert len(scores) == 60
    assert best_first(scores)[0] == 17


# -- time ----------------------------------------------------------------------------------------------------


def test_when_time_is_up_the_first_candidates_are_judged(tiny: Path) -> None:
    texts = [f"text {number:02}" for number in range(40)]
    reranker = OnnxReranker(tiny, time_limit_ms=1000, clock=ticking(0.15))
    scores = reranker.rerank("text 01", texts)
    assert isinstance(scores, PartialScores)
    assert 2 <= len(scores.known) < 40
    assert scores.known == set(range(len(scores.known))), "from the top of the list"
    unjudged = [index for index in best_first(scores) if index not in scores.known]
    assert best_first(scores)[-len(unjudged) :] == sorted(unjudged)


def test_at_least_the_first_two_are_judged(tiny: Path) -> None:
    reranker = OnnxReranker(tiny, time_limit_ms=1, clock=ticking(10.0))
    scores = reranker.rerank(QUERY, TEXTS)
    assert isinstance(scores, PartialScores)
    assert scores.known == {0, 1}
    found = apply_reranker(reranker, QUERY, TEXTS, [0.9, 0.8, 0.7, 0.6])
    assert found.order == [1, 0, 2, 3]
    assert "2 of 4" in found.note


def test_with_enough_time_or_no_limit_all_are_judged(tiny: Path) -> None:
    for limit in (60_000.0, None):
        scores = OnnxReranker(tiny, time_limit_ms=limit, clock=ticking(0.1)).rerank(QUERY, TEXTS * 10)
        assert not isinstance(scores, PartialScores)
        assert len(scores) == 40


def test_loading_is_not_counted(tiny: Path) -> None:
    looks: list[bool] = []

    def clock() -> float:
        looks.append(reranker._runtime is not None)
        return 0.0

    reranker = OnnxReranker(tiny, clock=clock)
    reranker.rerank(QUERY, TEXTS)
    assert looks
    assert all(looks), "the clock starts when the model is there"


def test_shared_between_threads(tiny: Path) -> None:
    reranker = OnnxReranker(tiny, threads=1)
    expected = OnnxReranker(tiny, threads=1).rerank(QUERY, TEXTS)
    found: list[list[float]] = []
    threads = [threading.Thread(target=lambda: found.append(reranker.rerank(QUERY, TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for scores in found:
        np.testing.assert_allclose(scores, expected)


# -- models that are not what they should be -----------------------------------------------------------------


def graph_folder(tiny: Path, folder: Path, operator: str, width: int) -> Path:
    """A folder with a model that computes something simple of the ids."""
    helper, types = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["real"], to=types.FLOAT),
        helper.make_node("ReduceMean", ["real", "axis"], ["mean"], keepdims=1),
        helper.make_node("Tile", ["mean", "times"], ["wide"]),
        helper.make_node(operator, ["wide"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "odd",
        [helper.make_tensor_value_info("input_ids", types.INT64, ["batch", "sequence"])],
        [helper.make_tensor_value_info("logits", types.FLOAT, ["batch", width])],
        [
            onnx.numpy_helper.from_array(np.array([1]), "axis"),
            onnx.numpy_helper.from_array(np.array([1, width]), "times"),
        ],
    )
    folder.mkdir(exist_ok=True)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9),
        folder / "model.onnx",
    )
    shutil.copy(tiny / "tokenizer.json", folder)
    return folder


def test_model_that_gives_no_numbers(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(RerankError, match="no usable scores"):
        OnnxReranker(graph_folder(tiny, tmp_path, "Acos", 1)).rerank(QUERY, TEXTS)


@pytest.mark.parametrize(("operator", "limit"), [("Relu", 1.0), ("Neg", 0.0)])
def test_large_logits_stay_probabilities(tiny: Path, tmp_path: Path, operator: str, limit: float) -> None:
    scores = OnnxReranker(graph_folder(tiny, tmp_path, operator, 1)).rerank(QUERY, TEXTS)
    assert scores == pytest.approx([limit] * len(TEXTS))
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_models_of_another_kind_are_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(LoccitError, match="not a cross-encoder"):
        OnnxReranker(graph_folder(tiny, tmp_path, "Relu", 3)).rerank(QUERY, TEXTS)
    with pytest.raises(LoccitError, match="not a cross-encoder"):
        OnnxReranker(BUNDLED_MODEL).prepare()


def test_broken_model_is_found_when_it_is_used(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.onnx").write_bytes(b"broken")
    reranker = OnnxReranker(tmp_path)
    with pytest.raises(LoccitError, match="Cannot load the model"):
        reranker.prepare()


def test_one_of_several_graphs(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / "onnx" / "model_quint8_avx2.onnx")
    (tmp_path / "model.onnx").write_bytes(b"broken")
    reranker = OnnxReranker(tmp_path, graph="onnx/model_quint8_avx2.onnx")
    assert best_first(reranker.rerank(QUERY, TEXTS))[0] == 2
    with pytest.raises(LoccitError, match="no model file"):
        OnnxReranker(tmp_path, graph="onnx/absent.onnx")


def test_no_more_tokens_than_the_model_reads(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    assert OnnxReranker(tmp_path).max_tokens == 512
    assert OnnxReranker(tmp_path, max_tokens=4000).max_tokens == 1024
    (tmp_path / "model.json").unlink()
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 128}), encoding="utf-8")
    assert OnnxReranker(tmp_path).max_tokens == 128


@pytest.mark.parametrize(
    "options", [{"threads": 0}, {"max_tokens": 4}, {"time_limit_ms": 0}, {"time_limit_ms": -1}]
)
def test_wrong_settings(tiny: Path, options: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        OnnxReranker(tiny, **options)  # type: ignore[arg-type]
