"""Build a tiny cross-encoder as an ONNX model: a real reranker of a fifth of a megabyte, for tests and trials.

    pip install onnx
    python scripts/build_tiny_reranker.py FOLDER

It has no trained weights. It reads a query and a text as one sequence of bytes, turns every three bytes in a row
into a vector (random ones for the bytes, a convolution over three of them), and lets each vector of the query look for
its like in the text, as attention does. The score is the share of the query that is found: it knows words and their
forms and misspellings, in any script, and nothing of meaning.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

CHANNELS = 96
SPAN = 3
MAX_TOKENS = 1024
SPECIAL = ("[PAD]", "[CLS]", "[SEP]")
# Vectors that agree less than this have nothing to do with each other: chance alone reaches about a third.
LEAST_SIMILARITY = 0.5
# From a share of the query, 0 to 1, to a logit.
SCALE, SHIFT = 12.0, -6.0


def build(folder: str | Path, *, classes: Literal[1, 2] = 1, token_types: bool = True) -> Path:
    """Write model.onnx, tokenizer.json and model.json into ``folder`` and return it.

    Like trained models, it comes in variants: with one logit or with two (no and yes), and with or without an input
    that tells the query from the text.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.save(str(target / "tokenizer.json"))
    graph = make_graph(tokenizer.get_vocab_size(), tokenizer.token_to_id("[SEP]"), classes, token_types)
    (target / "model.onnx").write_bytes(graph)
    settings = {"name": "tiny-overlap-reranker", "max_tokens": MAX_TOKENS}
    (target / "model.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    return target


def make_tokenizer() -> Any:
    """Return a tokenizer with a token for each byte of the text in lower case and without accents."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(r"\s+"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in SPECIAL[1:]],
    )
    return tokenizer


def make_weights(vocabulary: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the vectors of the tokens, and the convolution: a rotation for each of the three places."""
    random = np.random.default_rng(20240229)
    table = random.normal(size=(vocabulary, CHANNELS))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    table[: len(SPECIAL)] = 0.0
    rotations = [np.linalg.qr(random.normal(size=(CHANNELS, CHANNELS)))[0] for _ in range(SPAN)]
    return table.astype(np.float32), np.stack(rotations, axis=2).astype(np.float32)


class Graph:
    """Collects the nodes and constants of an ONNX graph."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, kind: type[Any] = np.float32) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its output."""
        from onnx import helper

        name = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name


def make_graph(vocabulary: int, separator: int, classes: int, token_types: bool) -> bytes:
    """Return the model, serialised."""
    from onnx import TensorProto, checker, helper

    graph = Graph()
    query, text = segments(graph, separator, token_types)
    logit = overlap(graph, vectors(graph, vocabulary), query, text)
    weights = [[1.0]] if classes == 1 else [[-0.5, 0.5]]
    graph.node("MatMul", logit, graph.constant(weights), output="logits")
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * token_types
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "tiny-overlap-reranker",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in names],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
        producer_name="loccit",
    )
    checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def segments(graph: Graph, separator: int, token_types: bool) -> tuple[str, str]:
    """Add two masks over the sequence: the bytes of the query, and those of the text."""
    from onnx import TensorProto

    if token_types:
        side = graph.node("Cast", "token_type_ids", to=TensorProto.FLOAT)
    else:
        # Without being told, a model knows the text by the separator before it.
        ends = graph.node("Equal", "input_ids", graph.constant(separator, np.int64))
        axis = graph.constant(1, np.int64)
        count = graph.node("CumSum", graph.node("Cast", ends, to=TensorProto.FLOAT), axis, exclusive=1)
        side = graph.node("Min", count, graph.constant(1.0))
    ordinary = graph.node("Greater", "input_ids", graph.constant(len(SPECIAL) - 1, np.int64))
    present = graph.node(
        "Mul",
        graph.node("Cast", ordinary, to=TensorProto.FLOAT),
        graph.node("Cast", "attention_mask", to=TensorProto.FLOAT),
    )
    text = graph.node("Mul", present, side)
    return graph.node("Sub", present, text), text


def vectors(graph: Graph, vocabulary: int) -> str:
    """Add the unit vectors of each place and the two after it: (batch, sequence, channel)."""
    table, kernel = make_weights(vocabulary)
    tokens = graph.node("Gather", graph.constant(table), "input_ids")
    joined = graph.node(
        "Conv",
        graph.node("Transpose", tokens, perm=[0, 2, 1]),
        graph.constant(kernel),
        pads=[0, SPAN - 1],
    )
    rows = graph.node("Transpose", joined, perm=[0, 2, 1])
    length = graph.node("ReduceL2", rows, graph.constant([2], np.int64), keepdims=1)
    return graph.node("Div", rows, graph.node("Max", length, graph.constant(1e-6)))


def overlap(graph: Graph, rows: str, query: str, text: str) -> str:
    """Add the share of the query that the text has, as a logit: (batch, 1)."""
    similar = graph.node("MatMul", rows, graph.node("Transpose", rows, perm=[0, 2, 1]))
    above = graph.node("Relu", graph.node("Sub", similar, graph.constant(LEAST_SIMILARITY)))
    scaled = graph.node("Div", above, graph.constant(1 - LEAST_SIMILARITY))
    in_text = graph.node("Mul", scaled, graph.node("Unsqueeze", text, graph.constant([1], np.int64)))
    best = graph.node("ReduceMax", in_text, graph.constant([2], np.int64), keepdims=0)
    axis = graph.constant([1], np.int64)
    found = graph.node("ReduceSum", graph.node("Mul", best, query), axis, keepdims=1)
    length = graph.node("Max", graph.node("ReduceSum", query, axis, keepdims=1), graph.constant(1.0))
    share = graph.node("Div", found, length)
    return graph.node("Add", graph.node("Mul", share, graph.constant(SCALE)), graph.constant(SHIFT))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Build a tiny cross-encoder.")
    parser.add_argument("folder", type=Path, help="where to write model.onnx, tokenizer.json and model.json")
    folder = build(parser.parse_args().folder)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {size / 1000:.0f} kB. Try it: loccit search QUERY --reranker {folder}")


if __name__ == "__main__":
    main()
