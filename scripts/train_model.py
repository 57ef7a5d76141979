"""Teach loccit-30m-english: one small encoder learns the joint similarities of three published ones.

    python -m scripts.train_model TEXTS.jsonl model.npz   # needs torch and a GPU; five minutes on an H200
    python -m scripts.build_model --taught model.npz

TEXTS holds a JSON object a line: a passage (`text`, `context` with title and headings) or a `query`. The student begins
as granite-embedding-30m. Its targets are the vectors of all three teachers, centred, put on one scale and joined: it
learns their similarities within a batch of neighbours, as a distribution and as numbers, and at first also a projection
of the vectors themselves. Figures are in docs/decisions/0034-taught-model.md.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scripts import build_model, teachers
from scripts.encoder import Encoder, named_weights
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

DEVICE = "cuda"
LENGTHS = (16, 32, 64, 128, 192, 256)
# Teachers with the weight of their similarities.
TEACHERS: Mapping[str, tuple[Callable[[], teachers.Published], float]] = {
    "minilm": (teachers.minilm, 1.0),
    "granite": (teachers.granite, 1.0),
    "bge": (teachers.bge, 1.2),
}
STUDENT = "granite"
RATE, WARM_UP, TEMPERATURE = 4e-4, 300, 0.05
# A batch has so many groups of neighbours, of so many short texts and about so many tokens of long ones each.
CLUSTERS, GROUPS, SHORT, LONG = 3000, 48, 24, 4096

Rows = Sequence[Any]


def crops(file: Path) -> tuple[list[str], list[str]]:
    """Return random windows of the passages, with and without their context, and the queries."""
    random.seed(0)
    items: list[str] = []
    queries: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "query" in row:
            queries.append(row["query"])
            continue
        text, context = row["text"], row["context"]
        items += [f"{context}\n{_window(text, 250, 900)}", _window(text, 200, 1000), _window(text, 15, 160)]
        if random.random() < 0.4:
            items.append(f"{context}\n{_window(text, 100, 500)}")
        if random.random() < 0.3:
            items.append(_window(text, 8, 60))
    return items, queries


def _window(text: str, low: int, high: int) -> str:
    size = random.randint(low, high)
    if len(text) <= size:
        return text
    start = random.randint(0, len(text) - size) if random.random() < 0.65 else 0
    if start:
        start = text.find(" ", start) + 1
    window = text[start : start + size]
    end = window.rfind(" ")
    return window[:end] if end > low // 2 else window


class Buckets:
    """Tokenised texts on the GPU, by length, so that nothing is padded far."""

    def __init__(self, rows: Rows, padding: int) -> None:
        self.padding, self.count = padding, len(rows)
        self.rows: dict[int, tuple[Any, Any]] = {}
        sizes = np.array([len(row) for row in rows])
        for low, high in zip((0, *LENGTHS), LENGTHS, strict=False):
            at = np.flatnonzero((sizes > low) & (sizes <= high))
            if len(at):
                ids = np.full((len(at), high), padding, np.int32)
                for place, row in enumerate(at.tolist()):
                    ids[place, : sizes[row]] = rows[row]
                self.rows[high] = torch.tensor(at, device=DEVICE), torch.tensor(ids, device=DEVICE)


@torch.no_grad()  # type: ignore[untyped-decorator]
def embed(model: Encoder, buckets: Buckets) -> Any:
    """Return the vectors of all texts."""
    model.eval()
    vectors = torch.zeros(buckets.count, build_model.HIDDEN, device=DEVICE, dtype=torch.float16)
    for length, (at, ids) in buckets.rows.items():
        step = max(256, 400_000 // length)
        for start in range(0, len(at), step):
            with torch.autocast(DEVICE, torch.bfloat16):
                made = model(ids[start : start + step].long(), buckets.padding)
            vectors[at[start : start + step]] = made.half()
    return vectors


class Targets:
    """The teachers' vectors, centred and scaled so that each has its weight in the joint similarity."""

    def __init__(self, vectors: Mapping[str, Any]) -> None:
        self._parts = []
        for name, found in vectors.items():
            mean = found[:: max(1, len(found) // 200_000)].float().mean(0)
            one, other = (
                found[torch.randint(len(found), (4000,), device=DEVICE)].float() - mean for _ in "ab"
            )
            scale = math.sqrt(TEACHERS[name][1] / float((one @ other.T).std()))
            self._parts.append((found, mean, scale))

    def joined(self, at: Any) -> Any:
        """Return the joint vectors of some texts."""
        return torch.cat([(found[at].float() - mean) * scale for found, mean, scale in self._parts], 1)

    def projected(self, own: Any) -> Any:
        """Return all joint vectors in as many dimensions as the student has, turned towards its own."""
        sample = torch.randint(len(own), (150_000,), device=DEVICE)
        joint = self.joined(sample)
        _, axes = torch.linalg.eigh((joint.T @ joint / len(joint)).double())
        axes = axes[:, -build_model.HIDDEN :].float()
        steps = range(0, len(own), 100_000)
        made = torch.cat(
            [functional.normalize(self.joined(slice(at, at + 100_000)) @ axes, dim=-1).half() for at in steps]
        )
        toward = own[sample].float() - own[sample].float().mean(0)
        left, _, right = torch.linalg.svd((made[sample].float().T @ toward).double())
        return made, (left @ right).float()


def clusters(vectors: Any) -> Any:
    """Return the cluster of each vector, by a few rounds of k-means."""
    centres = vectors[torch.randperm(len(vectors), device=DEVICE)[:CLUSTERS]].float()
    for turn in range(6):
        steps = range(0, len(vectors), 50_000)
        nearest = torch.cat([(vectors[at : at + 50_000].float() @ centres.T).argmax(1) for at in steps])
        if turn < 5:
            sums = torch.zeros_like(centres).index_add_(0, nearest, vectors.float())
            centres = functional.normalize(sums, dim=-1)
    return nearest


def train(student: Encoder, buckets: Buckets, targets: Targets, own: Any, seconds: float) -> None:
    """Train for a while on batches of short and long neighbours."""
    projected, rotation = targets.projected(own)
    cluster = clusters(projected)
    ordered = {}
    for length, (at, ids) in buckets.rows.items():
        order = torch.argsort(cluster[at])
        starts = torch.searchsorted(cluster[at][order].contiguous(), torch.arange(CLUSTERS, device=DEVICE))
        ordered[length] = at[order], ids[order], starts
    sizes = {length: len(at) for length, (at, _) in buckets.rows.items()}
    short, long = [n for n in sizes if n <= 32], [n for n in sizes if n >= 64]

    def pick(length: int, groups: Any, each: int) -> tuple[Any, Any]:
        at, ids, starts = ordered[length]
        first = starts[groups] + (torch.rand(len(groups), device=DEVICE) * 8).long()
        rows = (first[:, None] + torch.arange(each, device=DEVICE)).clamp(max=len(at) - 1).flatten()
        return at[rows], ids[rows].long()

    matrices = [part for part in student.parameters() if part.ndim > 1]
    others = [part for part in student.parameters() if part.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), fused=True)
    student.train()
    begun, step = time.monotonic(), 0
    while (done := (time.monotonic() - begun) / seconds) < 1:
        for group in optimizer.param_groups:
            wave = max(0.02, 0.5 * (1 + math.cos(math.pi * done)))
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * wave
        chosen = torch.randint(CLUSTERS, (GROUPS,), device=DEVICE)
        low = _draw(short, [sizes[n] for n in short])
        high = _draw(long, [sizes[n] * n**0.3 for n in long])
        one, other = pick(low, chosen, SHORT), pick(high, chosen, max(12, min(32, LONG // high)))
        with torch.autocast(DEVICE, torch.bfloat16):
            learnt = torch.cat([student(ids, buckets.padding) for _, ids in (one, other)])
        at = torch.cat([one[0], other[0]])
        joint = functional.normalize(targets.joined(at), dim=-1)
        wanted, found = joint @ joint.T, learnt @ learnt.T
        same = torch.eye(len(at), device=DEVICE, dtype=torch.bool)
        toward = functional.normalize(projected[at].float() @ rotation, dim=-1)
        apart = (1 - (toward * learnt).sum(-1)).mean()
        unlike = ((wanted - found) ** 2)[~same].mean()
        order = functional.kl_div(
            functional.log_softmax(found.masked_fill(same, -9) / TEMPERATURE, -1),
            functional.softmax(wanted.masked_fill(same, -9) / TEMPERATURE, -1),
            reduction="batchmean",
        )
        optimizer.zero_grad(set_to_none=True)
        (0.5 * (1 - done) * apart + 10 * unlike + order).backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 500 == 0:
            print(f"{step}: similarities {unlike.item():.5f}, order {order.item():.4f}", flush=True)


def _draw(values: Sequence[int], weights: Sequence[float]) -> int:
    return random.choices(values, weights)[0]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Teach a model the similarities of three others.")
    parser.add_argument("texts", type=Path, help="a JSON object a line: text and context, or query")
    parser.add_argument("target", type=Path, help="where the weights go")
    parser.add_argument("--seconds", type=float, default=235)
    options = parser.parse_args()
    items, queries = crops(options.texts)
    vectors, student, known = {}, None, None
    for name, (published, _) in TEACHERS.items():
        model = published()
        tokenizer = Tokenizer.from_buffer(model.tokenizer)
        tokenizer.no_padding()
        tokenizer.enable_truncation(LENGTHS[-1])
        texts = items + [f"{model.query_prefix} {query}".strip() for query in queries]
        rows = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]
        buckets = Buckets(rows, tokenizer.token_to_id("<pad>") or 0)
        encoder = Encoder.of(model.weights, first_token=model.first_token).to(DEVICE)
        vectors[name] = embed(encoder, buckets)
        if name == STUDENT:
            student, known = encoder, buckets
    assert student is not None and known is not None
    train(student, known, Targets(vectors), vectors[STUDENT], options.seconds)
    np.savez(options.target, **named_weights(student))


if __name__ == "__main__":
    main()
