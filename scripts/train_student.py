"""Teach a smaller model the vectors of the bundled one: the preset `fast`.

    python -m scripts.train_student TEXTS.jsonl student.npz   # needs torch and a GPU; eight minutes on an H200
    python scripts/build_model.py --student student.npz

TEXTS holds a JSON string a line: passages of many kinds with their titles, questions, headings. The student
keeps layers 0, 2 and 5 of the six and the 1,024 strongest of the 1,536 units of each feed-forward part. It is
trained on random crops of the texts, to give the teacher's vector (1 - cosine) and the teacher's similarities
within a batch. Figures are in docs/decisions/0027-fast-model.md.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scripts import build_model
from torch import nn
from torch.nn import functional

HIDDEN, HEADS, VOCABULARY, POSITIONS = build_model.HIDDEN, build_model.HEADS, 30522, 512
KEPT_LAYERS, KEPT_UNITS = (0, 2, 5), 1024
# (tokens, texts): batches of one length, so that nothing is padded far.
SHAPES = ((24, 4096), (64, 2048), (128, 1024), (192, 768), (256, 640))
CLS, SEP = 101, 102
WARM_UP = 400
PARTS = {
    "project": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "expand": "intermediate.dense",
    "contract": "output.dense",
    "output_norm": "output.LayerNorm",
}


class EncoderLayer(nn.Module):  # type: ignore[misc]
    """One transformer layer, as in BERT."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.qkv, self.project = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.expand, self.contract = nn.Linear(HIDDEN, units), nn.Linear(units, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=build_model.EPSILON)
        self.output_norm = nn.LayerNorm(HIDDEN, eps=build_model.EPSILON)

    def forward(self, x: Any, mask: Any) -> Any:
        texts, length, _ = x.shape
        query, key, value = self.qkv(x).view(texts, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.norm(x + self.project(context.transpose(1, 2).reshape(texts, length, HIDDEN)))
        return self.output_norm(x + self.contract(functional.gelu(self.expand(x))))


class Encoder(nn.Module):  # type: ignore[misc]
    """Word and position embeddings, layers, mean pooling, unit length."""

    def __init__(self, layers: int, units: int) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(POSITIONS, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=build_model.EPSILON)
        self.layers = nn.ModuleList(EncoderLayer(units) for _ in range(layers))

    def forward(self, ids: Any, mask: Any) -> Any:
        x = self.norm(self.words(ids) + self.positions.weight[: ids.shape[1]])
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :].bool())
        return functional.normalize((x * mask[..., None]).sum(1).float(), dim=-1)


def load_teacher() -> Encoder:
    """Return the published model."""
    source = build_model.fetch_source()
    data = build_model.read_known(source, "model.safetensors", build_model.SAFETENSORS_SHA256)
    weights = build_model.read_weights(data)
    teacher = Encoder(6, 1536)
    state = {
        "words.weight": weights["embeddings.word_embeddings.weight"],
        "positions.weight": build_model.positions(weights),
        "norm.weight": weights["embeddings.LayerNorm.weight"],
        "norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    for index, layer in enumerate(build_model.layers(weights)):
        state[f"layers.{index}.qkv.weight"] = layer.qkv.T
        state[f"layers.{index}.qkv.bias"] = layer.qkv_bias
        for part, name in PARTS.items():
            for kind in ("weight", "bias"):
                state[f"layers.{index}.{part}.{kind}"] = weights[f"encoder.layer.{index}.{name}.{kind}"]
    teacher.load_state_dict({name: torch.tensor(np.array(value)) for name, value in state.items()})
    return teacher


def student_of(teacher: Encoder) -> Encoder:
    """Return a student with some of the teacher's layers, and of these the units with the largest weights."""
    student = Encoder(len(KEPT_LAYERS), KEPT_UNITS)
    for part in ("words", "positions", "norm"):
        getattr(student, part).load_state_dict(getattr(teacher, part).state_dict())
    for layer, index in zip(student.layers, KEPT_LAYERS, strict=True):
        taught = teacher.layers[index].state_dict()
        reach = taught["expand.weight"].norm(dim=1) * taught["contract.weight"].norm(dim=0)
        units = reach.topk(KEPT_UNITS).indices.sort().values
        for name in ("expand.weight", "expand.bias"):
            taught[name] = taught[name][units]
        taught["contract.weight"] = taught["contract.weight"][:, units]
        layer.load_state_dict(taught)
    return student


class Texts:
    """The tokens of all texts on the GPU, from which batches of random crops are taken."""

    def __init__(self, file: Path, device: str) -> None:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(build_model.TARGET / "tokenizer.json"))
        texts = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        ids = [entry.ids for entry in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        ids = [row for row in ids if len(row) > 2]
        self.starts = torch.tensor(np.cumsum([0, *map(len, ids)]), device=device)
        self.tokens = torch.tensor([token for row in ids for token in row] + [0] * POSITIONS, device=device)
        self.device = device

    def crops(self, tokens: int, count: int) -> tuple[Any, Any]:
        """Return ids and mask of random crops; half of them begin where their text does, with its context."""
        rows = torch.randint(len(self.starts) - 1, (count,), device=self.device)
        start, length = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        wanted = ((tokens - 2) * (0.55 + 0.45 * self._random(count))).long().clamp(min=3)
        size = torch.minimum(length, wanted)
        offset = (self._random(count) * (length - size + 1)).long() * (self._random(count) < 0.5)
        place, end = torch.arange(tokens, device=self.device)[None], size[:, None]
        body = self.tokens[(start + offset)[:, None] + (place - 1).clamp(min=0)]
        ids = torch.where(
            place == 0, CLS, torch.where(place <= end, body, torch.where(place == end + 1, SEP, 0))
        )
        return ids, (place <= end + 1).long()

    def _random(self, count: int) -> Any:
        return torch.rand(count, device=self.device)


def train(teacher: Encoder, student: Encoder, texts: Texts, seconds: float, peak: float = 5e-4) -> None:
    """Train for a while; the rate rises, then falls as a cosine."""
    teacher_pass = torch.compile(teacher.eval().requires_grad_(False), dynamic=False)
    student_pass = torch.compile(student.train(), dynamic=False)
    optimizer = torch.optim.AdamW(student.parameters(), lr=peak, weight_decay=0.01, betas=(0.9, 0.98))
    begun, step = time.monotonic(), 0
    while (done := (time.monotonic() - begun) / seconds) < 1:
        for group in optimizer.param_groups:
            group["lr"] = peak * min(1, step / WARM_UP) * 0.5 * (1 + math.cos(math.pi * done))
        ids, mask = texts.crops(*SHAPES[np.random.randint(len(SHAPES))])
        with torch.autocast("cuda", torch.bfloat16):
            with torch.no_grad():
                taught = teacher_pass(ids, mask)
            learnt = student_pass(ids, mask)
        apart = (1 - (taught * learnt).sum(-1)).mean()
        unlike = ((taught @ taught.T - learnt @ learnt.T) ** 2).mean()
        optimizer.zero_grad(set_to_none=True)
        (apart + 10 * unlike).backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 1000 == 0:
            print(f"{step}: cosine {1 - apart.item():.4f}", flush=True)


def named_weights(student: Encoder) -> Mapping[str, Any]:
    """Return the weights under the names that build_model.py reads."""
    state = {name: value.detach().cpu().numpy() for name, value in student.state_dict().items()}
    weights = {
        "embeddings.word_embeddings.weight": state["words.weight"],
        "embeddings.position_embeddings.weight": state["positions.weight"][: build_model.MAX_TOKENS],
        "embeddings.token_type_embeddings.weight": np.zeros((2, HIDDEN), np.float32),
        "embeddings.LayerNorm.weight": state["norm.weight"],
        "embeddings.LayerNorm.bias": state["norm.bias"],
    }
    for index in range(len(KEPT_LAYERS)):
        layer, prefix = f"layers.{index}.", f"encoder.layer.{index}."
        for kind in ("weight", "bias"):
            parts = np.split(state[f"{layer}qkv.{kind}"], 3)
            for name, part in zip(("query", "key", "value"), parts, strict=True):
                weights[f"{prefix}attention.self.{name}.{kind}"] = part
            for own, name in PARTS.items():
                weights[f"{prefix}{name}.{kind}"] = state[f"{layer}{own}.{kind}"]
    return weights


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Teach a smaller model the vectors of the bundled one.")
    parser.add_argument("texts", type=Path, help="a JSON string a line")
    parser.add_argument("target", type=Path, help="where the weights go")
    parser.add_argument("--seconds", type=float, default=560)
    options = parser.parse_args()
    teacher = load_teacher().to("cuda")
    student = student_of(teacher).to("cuda")
    train(teacher, student, Texts(options.texts, "cuda"), options.seconds)
    np.savez(options.target, **named_weights(student))


if __name__ == "__main__":
    main()
