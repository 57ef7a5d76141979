"""Build the bundled embedding models as int8 ONNX graphs.

    pip install onnx
    python -m scripts.build_model                        # all-MiniLM-L6-v2, from the published weights
    python -m scripts.build_model --fast student.npz     # the preset `fast`, from what train_student.py wrote
    python -m scripts.build_model --granite              # granite-embedding-30m-english, from those of that
    python -m scripts.build_model --check                # compare the shipped files with model.json

The graph is written operator by operator, so that neither torch nor transformers is needed.
docs/decisions/0003-bundled-model.md says why it looks as it does.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scripts import published

Array = NDArray[Any]

MODELS = Path(__file__).resolve().parents[1] / "src" / "loccit" / "embedding" / "models"


@dataclass(frozen=True)
class Model:
    """A model to build: its name, what it comes from, and how it pools: the first token's vector, or the mean."""

    name: str
    base: tuple[str, ...]
    source: Mapping[str, str]
    first_token: bool
    # Whether what all texts have in common is taken off, so that the similarity of unrelated ones is near 0.
    centred: bool = False
    # Measured, and used where text is repeated in another context: docs/decisions/0028-order-and-repeats.md.
    context_share: float | None = None

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return MODELS / self.name.lower()


_MINILM = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT = Model(
    "all-MiniLM-L6-v2",
    (_MINILM,),
    {"pypi": published.MINILM, "safetensors_sha256": published.MINILM_SHA256},
    first_token=False,
)
FAST = Model(
    "minilm-l3-student",
    (_MINILM,),
    {"taught_by": "scripts/train_student.py"},
    first_token=False,
    context_share=0.45,
)
GRANITE = Model(
    "granite-embedding-30m-english",
    ("ibm-granite/granite-embedding-30m-english",),
    {"pypi": published.GRANITE, "pack_sha256": published.GRANITE_SHA256},
    first_token=True,
    centred=True,
)

HEADS, HIDDEN = 12, 384
MAX_TOKENS = 256
EPSILON = 1e-12
# 7 bits, not 8: processors without VNNI add two products in 16 bits, which full-range weights overflow.
WEIGHT_LIMIT = 63
MICROSOFT = "com.microsoft"

# (limit, power): a channel of activations that reaches further than `limit` medians is divided by
# (reach / limit)**power before it is quantised, and the matching row of weights multiplied by it: the
# result is the same, the int8 grid is finer.
SMOOTHING = {"attention": (1.0, 0.5), "expand": (2.0, 0.75), "contract": (4.0, 1.0)}

# What the reach of the channels is measured on: prose, law, code, tables, other scripts, a single letter.
CALIBRATION = (
    "The controller shall implement appropriate technical and organisational measures to ensure a level of "
    "security appropriate to the risk.",
    "Payment is due within thirty (30) days of the invoice date; late payments bear interest at 1.5% per "
    "month.",
    "§ 4.2 Termination for convenience. Either party may terminate this agreement upon 90 days' written "
    "notice.",
    "To install the package, run `pip install loccit` and then open the configuration file in your editor.",
    "def normalise(vector): return vector / max(norm(vector), 1e-12)",
    "Patients treated with the drug showed a 23% reduction in mortality (p < 0.01, n = 1,204).",
    "How do I reset my password?",
    "| Year | Revenue | Profit |",
    "| 2021 | $4.5M | $0.7M |",
    "The aircraft wing experiences laminar flow separation at a high angle of attack.",
    "Where is the definition of personal data?",
    "GET /api/v1/users?limit=10 HTTP/1.1 returned 404 Not Found",
    "Warning: disconnect the power supply before opening the housing.",
    "Café, naïve, Zürich, 東京 and Москва are tokenised one way or another.",
    "See Article 6(1)(f), Annex III and Regulation (EU) 2016/679.",
    "A",
)


def prepared(tokenizer: bytes) -> bytes:
    """Return tokenizer.json without truncation and padding, which the caller decides.

    The first word is read like any other, with a space before it: else `roses` alone would be two tokens.
    """
    content = json.loads(tokenizer)
    content["truncation"] = content["padding"] = None
    if "add_prefix_space" in content["pre_tokenizer"]:
        content["pre_tokenizer"]["add_prefix_space"] = True
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


# --- the reference: the same network in numpy, in double precision --------------------------------


@dataclass(frozen=True)
class Layer:
    """The weights of one transformer layer, matrices as (input, output)."""

    qkv: Array
    qkv_bias: Array
    project: Array
    project_bias: Array
    norm: tuple[Array, Array]
    expand: Array
    expand_bias: Array
    contract: Array
    contract_bias: Array
    output_norm: tuple[Array, Array]


def layers(weights: Mapping[str, Array]) -> Iterator[Layer]:
    """Yield the layers in order, as many as there are."""
    for index in itertools.count():
        if f"encoder.layer.{index}.output.dense.weight" not in weights:
            return

        def tensor(name: str, prefix: str = f"encoder.layer.{index}.") -> Array:
            return weights[prefix + name]

        heads = [f"attention.self.{part}" for part in ("query", "key", "value")]
        yield Layer(
            qkv=np.concatenate([tensor(f"{head}.weight").T for head in heads], axis=1),
            qkv_bias=np.concatenate([tensor(f"{head}.bias") for head in heads]),
            project=tensor("attention.output.dense.weight").T,
            project_bias=tensor("attention.output.dense.bias"),
            norm=(tensor("attention.output.LayerNorm.weight"), tensor("attention.output.LayerNorm.bias")),
            expand=tensor("intermediate.dense.weight").T,
            expand_bias=tensor("intermediate.dense.bias"),
            contract=tensor("output.dense.weight").T,
            contract_bias=tensor("output.dense.bias"),
            output_norm=(tensor("output.LayerNorm.weight"), tensor("output.LayerNorm.bias")),
        )


def positions(weights: Mapping[str, Array]) -> Array:
    """Return the position table with the embedding of segment 0, the only one in use, added to it."""
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    return np.asarray(weights["embeddings.position_embeddings.weight"] + segment)


@dataclass
class Reference:
    """Runs the network in numpy and notes how far each channel of the matrix inputs reaches."""

    weights: Mapping[str, Array]
    first_token: bool
    reach: dict[tuple[str, int], Array] = field(default_factory=dict)

    def embed(self, ids: list[int]) -> Array:
        """Return the unit vector of one sequence of token ids."""
        table = self.weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
        norm = self.weights["embeddings.LayerNorm.weight"], self.weights["embeddings.LayerNorm.bias"]
        x = self._normalise(table + positions(self.weights)[: len(ids)], norm)
        for index, layer in enumerate(layers(self.weights)):
            self._note("attention", index, x)
            query, key, value = (
                part.reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
                for part in np.split(x @ layer.qkv + layer.qkv_bias, 3, axis=1)
            )
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(HIDDEN // HEADS)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            context = (scores / scores.sum(-1, keepdims=True)) @ value
            context = context.transpose(1, 0, 2).reshape(len(ids), HIDDEN)
            x = self._normalise(context @ layer.project + layer.project_bias + x, layer.norm)
            self._note("expand", index, x)
            y = x @ layer.expand + layer.expand_bias
            y = y * 0.5 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)))
            self._note("contract", index, y)
            x = self._normalise(y @ layer.contract + layer.contract_bias + x, layer.output_norm)
        pooled = x[0] if self.first_token else x.mean(0)
        return np.asarray(pooled / np.linalg.norm(pooled))

    def _note(self, site: str, layer: int, x: Array) -> None:
        reach = np.abs(x).max(0)
        self.reach[site, layer] = np.maximum(self.reach.get((site, layer), reach), reach)

    @staticmethod
    def _normalise(x: Array, norm: tuple[Array, Array]) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return np.asarray(centred / deviation * norm[0] + norm[1])


def smoothing(site: str, reach: Array) -> Array:
    """Return the factor by which each channel is divided before quantisation."""
    limit, power = SMOOTHING[site]
    factor = np.maximum(1.0, reach / (limit * np.median(reach))) ** power
    # Rounding to quarter powers of two keeps the file the same on machines that add in another order.
    return np.asarray(2.0 ** (np.round(4 * np.log2(factor)) / 4), np.float32)


# --- the graph ------------------------------------------------------------------------------------


class GraphBuilder:
    """Collects the nodes and constants of an ONNX graph."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Array | np.generic) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(
            numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        )
        return name

    def node(
        self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add an operator and return the names of its outputs."""
        from onnx import helper

        name = f"{kind}_{len(self.nodes)}"
        names = [name if index == 0 else f"{name}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=name, domain=domain, **attributes))
        return names

    def quantised(self, matrix: Array) -> tuple[str, str]:
        """Add an (input, output) matrix as int8 with one scale per output column."""
        scale = (np.abs(matrix).max(0) / WEIGHT_LIMIT).astype(np.float32)
        return self.constant(np.round(matrix / scale).astype(np.int8)), self.constant(scale)

    def divided(self, x: str, factor: Array) -> str:
        """Divide the channels of ``x``."""
        return self.node("Mul", x, self.constant(1 / factor))[0]

    def linear(self, x: str, matrix: Array) -> str:
        """Multiply by a quantised matrix; the bias is left to the operator that follows."""
        return self.node("DynamicQuantizeMatMul", x, *self.quantised(matrix), domain=MICROSOFT)[0]

    def add_and_normalise(self, x: str, skip: str, bias: Array, norm: tuple[Array, Array]) -> str:
        """Return LayerNorm(x + bias + skip)."""
        inputs = (x, skip, self.constant(norm[0]), self.constant(norm[1]), self.constant(bias))
        return self.node("SkipLayerNormalization", *inputs, domain=MICROSOFT, epsilon=EPSILON)[0]


def embeddings(graph: GraphBuilder, weights: Mapping[str, Array]) -> str:
    """Add word and position embeddings; words are int8 with one scale per word."""
    from onnx import TensorProto

    words = weights["embeddings.word_embeddings.weight"]
    scale = np.abs(words).max(1, keepdims=True) / np.float32(127)
    scale[scale == 0] = 1
    table = graph.constant(np.round(words / scale).astype(np.int8))
    (rows,) = graph.node("Cast", *graph.node("Gather", table, "input_ids"), to=TensorProto.FLOAT)
    (word,) = graph.node("Mul", rows, *graph.node("Gather", graph.constant(scale), "input_ids"))
    (length,) = graph.node("Shape", "input_ids", start=1, end=2)
    zero = graph.constant(np.array([0], np.int64))
    (position,) = graph.node("Slice", graph.constant(positions(weights)), zero, length, zero)
    norm = [graph.constant(weights[f"embeddings.LayerNorm.{name}"]) for name in ("weight", "bias")]
    return graph.node(
        "LayerNormalization", *graph.node("Add", word, position), *norm, axis=-1, epsilon=EPSILON
    )[0]


def encoder(
    graph: GraphBuilder, x: str, weights: Mapping[str, Array], reach: Mapping[tuple[str, int], Array]
) -> str:
    """Add the transformer layers, in the fused form that onnxruntime would otherwise have to look for."""
    from onnx import TensorProto

    (mask,) = graph.node("Cast", "attention_mask", to=TensorProto.INT32)
    for index, layer in enumerate(layers(weights)):
        factor = {site: smoothing(site, reach[site, index]) for site in SMOOTHING}
        small = graph.divided(x, factor["attention"])
        levels, scale, zero = graph.node("DynamicQuantizeLinear", small, outputs=3)
        matrix, matrix_scale = graph.quantised(layer.qkv * factor["attention"][:, None])
        (context,) = graph.node(
            "QAttention",
            *(levels, matrix, graph.constant(layer.qkv_bias), scale, matrix_scale, mask, zero),
            graph.constant(np.zeros(3 * HIDDEN, np.int8)),
            domain=MICROSOFT,
            num_heads=HEADS,
        )
        x = graph.add_and_normalise(graph.linear(context, layer.project), x, layer.project_bias, layer.norm)
        small = graph.divided(x, factor["expand"])
        wide = graph.linear(small, layer.expand * factor["expand"][:, None])
        (wide,) = graph.node("BiasGelu", wide, graph.constant(layer.expand_bias), domain=MICROSOFT)
        small = graph.divided(wide, factor["contract"])
        narrow = graph.linear(small, layer.contract * factor["contract"][:, None])
        x = graph.add_and_normalise(narrow, x, layer.contract_bias, layer.output_norm)
    return x


def pooling(graph: GraphBuilder, x: str, *, first_token: bool, centre: Array | None) -> None:
    """Add pooling and normalisation. The divisor of a mean is left out: normalisation cancels it."""
    from onnx import TensorProto

    one = graph.constant(np.array([1], np.int64))
    if first_token:
        (pooled,) = graph.node("Gather", x, graph.constant(np.array(0, np.int64)), axis=1)
    else:
        (mask,) = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        (mask,) = graph.node("Unsqueeze", mask, graph.constant(np.array([2], np.int64)))
        (pooled,) = graph.node("ReduceSum", *graph.node("Mul", x, mask), one, keepdims=0)
    if centre is not None:
        (pooled,) = graph.node("Sub", _unit(graph, pooled, one), graph.constant(centre.astype(np.float32)))
    _unit(graph, pooled, one, "embedding")


def _unit(graph: GraphBuilder, x: str, axis: str, name: str = "") -> str:
    from onnx import helper

    (length,) = graph.node("ReduceL2", x, axis, keepdims=1)
    (length,) = graph.node("Clip", length, graph.constant(np.float32(EPSILON)))
    name = name or f"Unit_{len(graph.nodes)}"
    graph.nodes.append(helper.make_node("Div", [x, length], [name], name=name))
    return name


def build_graph(
    weights: Mapping[str, Array],
    reach: Mapping[tuple[str, int], Array],
    built: Model,
    centre: Array | None,
) -> bytes:
    """Return the whole model, serialised."""
    from onnx import TensorProto, checker, helper

    graph = GraphBuilder()
    x = encoder(graph, embeddings(graph, weights), weights, reach)
    pooling(graph, x, first_token=built.first_token, centre=centre)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", HIDDEN])
    model = helper.make_model(
        helper.make_graph(graph.nodes, built.name, inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=9,
        producer_name="loccit",
    )
    checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


# --- putting it together --------------------------------------------------------------------------


def verify(model: bytes, sequences: list[list[int]], expected: list[Array], lowest: float) -> float:
    """Return the mean cosine between the int8 model and the reference, and stop when it is poor."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    cosines = []
    for ids, vector in zip(sequences, expected, strict=True):
        feed = np.array([ids], np.int64)
        (found,) = session.run(None, {"input_ids": feed, "attention_mask": np.ones_like(feed)})
        cosines.append(float(found[0] @ vector))
    if min(cosines) < lowest:
        raise SystemExit(f"The converted model is wrong: cosine to the reference {min(cosines):.4f}")
    return sum(cosines) / len(cosines)


def describe(files: Mapping[str, bytes], built: Model) -> dict[str, Any]:
    """Return what model.json says."""
    return {
        "name": f"{built.name}-int8",
        "dimension": HIDDEN,
        "max_tokens": MAX_TOKENS,
        "languages": ["en"],
        "output": "embedding",
        "pooling": {"mode": "cls" if built.first_token else "mean", "in_graph": True, "normalised": True},
        **({"centred": True} if built.centred else {}),
        "quantization": {"weights": "int8 per channel", "activations": "uint8 dynamic"},
        "base_models": list(built.base),
        "license": "Apache-2.0",
        "source": dict(built.source),
        "sha256": {file: hashlib.sha256(data).hexdigest() for file, data in files.items()},
        **({"context_share": built.context_share} if built.context_share else {}),
    }


def read(file: Path) -> Mapping[str, Array]:
    """Return trained weights."""
    with np.load(file) as saved:
        return {name: saved[name].astype(np.float32) for name in saved.files}


def convert(weights: Mapping[str, Array], tokenizer: bytes, built: Model) -> None:
    """Turn weights into a graph, verify it and write the folder of the model."""
    from tokenizers import Tokenizer

    tokenizer = prepared(tokenizer)
    encode = Tokenizer.from_buffer(tokenizer).encode
    sequences = [encode(text).ids for text in CALIBRATION]
    reference = Reference(weights, built.first_token)
    expected = [reference.embed(ids) for ids in sequences]
    centre = np.mean(expected, axis=0) if built.centred else None
    if centre is not None:
        expected = [(vector - centre) / np.linalg.norm(vector - centre) for vector in expected]
    model = build_graph(weights, reference.reach, built, centre)
    # The same error is a wider angle once what all vectors have in common is gone.
    cosine = verify(model, sequences, expected, 0.96 if built.centred else 0.98)
    files = {"model.onnx": model, "tokenizer.json": tokenizer}
    built.folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (built.folder / name).write_bytes(data)
    text = json.dumps(describe(files, built), indent=2) + "\n"
    (built.folder / "model.json").write_text(text, encoding="utf-8")
    print(f"{built.name}: {len(model) / 1e6:.1f} MB, mean cosine to double precision {cosine:.4f}")


def check() -> None:
    """Compare the shipped files with the hashes in model.json."""
    for built in (DEFAULT, FAST, GRANITE):
        recorded = json.loads((built.folder / "model.json").read_text(encoding="utf-8"))["sha256"]
        for name, expected in recorded.items():
            found = hashlib.sha256((built.folder / name).read_bytes()).hexdigest()
            if found != expected:
                raise SystemExit(f"{built.name}/{name} has SHA-256 {found}, model.json says {expected}")
    print("The shipped files match model.json.")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Build the bundled embedding models.")
    parser.add_argument("--fast", type=Path, metavar="NPZ", help="convert what train_student.py wrote")
    parser.add_argument("--granite", action="store_true", help="convert granite-embedding-30m-english")
    parser.add_argument("--check", action="store_true", help="only compare the shipped files with model.json")
    options = parser.parse_args()
    if options.check:
        check()
    elif options.fast:
        convert(read(options.fast), published.minilm().tokenizer, FAST)
    elif options.granite:
        model = published.granite()
        convert(model.weights, model.tokenizer, GRANITE)
    else:
        model = published.minilm()
        convert(model.weights, model.tokenizer, DEFAULT)


if __name__ == "__main__":
    main()
