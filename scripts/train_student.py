"""Teach a smaller model the vectors of all-MiniLM-L6-v2: the preset `fast`.

    python -m scripts.train_student TEXTS.jsonl student.npz   # needs torch and a GPU; eight minutes on an H200
    python -m scripts.build_model --fast student.npz

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
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scripts import published
from scripts.encoder import Encoder, named_weights
from torch import nn

POSITIONS = 512
KEPT_LAYERS, KEPT_UNITS = (0, 2, 5), 1024
# (tokens, texts): batches of one length, so that nothing is padded far.
SHAPES = ((24, 4096), (64, 2048), (128, 1024), (192, 768), (256, 640))
PAD, CLS, SEP = 0, 101, 102
WARM_UP = 400


def student_of(teacher: Encoder) -> Encoder:
    """Return a student with some of the teacher's layers, and of these the units with the largest weights."""
    words = len(teacher.words.weight)
    student = Encoder(words, POSITIONS, len(KEPT_LAYERS), KEPT_UNITS, first_token=False)
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

    def __init__(self, file: Path, tokenizer: bytes, device: str) -> None:
        from tokenizers import Tokenizer

        encode = Tokenizer.from_buffer(tokenizer).encode_batch_fast
        texts = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        ids = [entry.ids for entry in encode(texts, add_special_tokens=False)]
        ids = [row for row in ids if len(row) > 2]
        self.starts = torch.tensor(np.cumsum([0, *map(len, ids)]), device=device)
        self.tokens = torch.tensor([token for row in ids for token in row] + [0] * POSITIONS, device=device)
        self.device = device

    def crops(self, tokens: int, count: int) -> Any:
        """Return the ids of random crops; half of them begin where their text does, with its context."""
        rows = torch.randint(len(self.starts) - 1, (count,), device=self.device)
        start, length = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        wanted = ((tokens - 2) * (0.55 + 0.45 * self._random(count))).long().clamp(min=3)
        size = torch.minimum(length, wanted)
        offset = (self._random(count) * (length - size + 1)).long() * (self._random(count) < 0.5)
        place, end = torch.arange(tokens, device=self.device)[None], size[:, None]
        body = self.tokens[(start + offset)[:, None] + (place - 1).clamp(min=0)]
        return torch.where(
            place == 0, CLS, torch.where(place <= end, body, torch.where(place == end + 1, SEP, PAD))
        )

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
        ids = texts.crops(*SHAPES[np.random.randint(len(SHAPES))])
        with torch.autocast("cuda", torch.bfloat16):
            with torch.no_grad():
                taught = teacher_pass(ids, PAD)
            learnt = student_pass(ids, PAD)
        apart = (1 - (taught * learnt).sum(-1)).mean()
        unlike = ((taught @ taught.T - learnt @ learnt.T) ** 2).mean()
        optimizer.zero_grad(set_to_none=True)
        (apart + 10 * unlike).backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 1000 == 0:
            print(f"{step}: cosine {1 - apart.item():.4f}", flush=True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Teach a smaller model the vectors of the bundled one.")
    parser.add_argument("texts", type=Path, help="a JSON string a line")
    parser.add_argument("target", type=Path, help="where the weights go")
    parser.add_argument("--seconds", type=float, default=560)
    options = parser.parse_args()
    model = published.minilm()
    teacher = Encoder.of(model.weights, first_token=False).to("cuda")
    student = student_of(teacher).to("cuda")
    train(teacher, student, Texts(options.texts, model.tokenizer, "cuda"), options.seconds)
    np.savez(options.target, **named_weights(student))


if __name__ == "__main__":
    main()
