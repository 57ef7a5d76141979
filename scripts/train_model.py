"""Teach loccit-30m-english: one small encoder learns the joint similarities of three published ones.

    python -m scripts.train_model TEXTS.jsonl model.npz   # needs torch and a GPU; five minutes on an H200
    python -m scripts.build_model --taught model.npz

TEXTS holds a JSON object a line: a passage (`text`, `context` with title and headings) or a `query`, which may say the
number of the `passage` that answers it. The student begins as granite-embedding-30m. Its targets are the vectors of all
three teachers, centred, put on one scale and joined. It learns their similarities within a batch of neighbours, as a
distribution and as numbers, and at first also a projection of the vectors themselves; with `--questions`, half of the
batches are queries and passages near to them. Texts and figures are in docs/decisions/0034-taught-model.md.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
RATE, WARM_UP, TEMPERATURE = 4e-4, 400, 0.05
# A batch has so many groups of neighbours, of so many short texts and about so many tokens of long ones each.
CLUSTERS, GROUPS, SHORT, LONG = 3000, 48, 24, 4096
# Or of so many runs of similar queries, so many in each, and of passages among the nearest to them: by length, so many
# for each query. A passage that is known to answer a query counts as nearer.
RUNS, RUN, NEAREST, ANSWER = 32, 8, 48, 0.04
PASSAGES = {64: 12, 128: 8, 192: 5, 256: 4}

Rows = Sequence[Any]


@dataclass
class Texts:
    """Random windows of the passages, with and without their context, and the queries.

    ``owner`` is the passage of a window, ``answer`` the passage that answers a query, or -1.
    """

    items: list[str] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    answer: list[int] = field(default_factory=list)


def crops(file: Path) -> Texts:
    """Return the texts to learn from."""
    random.seed(0)
    texts, passages = Texts(), 0
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "query" in row:
            texts.queries.append(row["query"])
            texts.answer.append(row.get("passage", -1))
            continue
        text, context = row["text"], row["context"]
        items = [f"{context}\n{_window(text, 250, 900)}", _window(text, 200, 1000), _window(text, 15, 160)]
        if random.random() < 0.4:
            items.append(f"{context}\n{_window(text, 100, 500)}")
        if random.random() < 0.3:
            items.append(_window(text, 8, 60))
        texts.items += items
        texts.owner += [passages] * len(items)
        passages += 1
    return texts


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


class Lessons:
    """The batches to learn from, by turns: neighbours, and queries with passages near to them."""

    def __init__(
        self, texts: Texts, buckets: Buckets, targets: Targets, own: Any, *, questions: bool
    ) -> None:
        self._projected, self._rotation = targets.projected(own)
        cluster = clusters(self._projected)
        self.padding, items = buckets.padding, len(texts.items)
        self.owner = torch.tensor(texts.owner + [-1] * len(texts.queries), device=DEVICE)
        self.answer = torch.tensor([-1] * items + texts.answer, device=DEVICE)
        steps = range(0, buckets.count, 100_000)
        joint = [functional.normalize(targets.joined(slice(at, at + 100_000)), dim=-1).half() for at in steps]
        self.joint = torch.cat(joint)
        self.rows = buckets.rows
        self.sizes = {length: len(at) for length, (at, _) in buckets.rows.items()}
        self.short, self.long = [n for n in self.sizes if n <= 32], [n for n in self.sizes if n >= 64]
        self.ordered = {}
        self.asked = {}
        self.near = {}
        for length, (at, ids) in buckets.rows.items():
            order = torch.argsort(cluster[at])
            starts = torch.searchsorted(
                cluster[at][order].contiguous(), torch.arange(CLUSTERS, device=DEVICE)
            )
            self.ordered[length] = at[order], ids[order], starts
            if length in self.short:
                order = order[at[order] >= items]
                self.asked[length] = at[order], ids[order]
        for length in self.long if questions else ():
            at = self.rows[length][0]
            passages = torch.nonzero(at < items).flatten()
            vectors = self.joint[at[passages]]
            for low, (queries, _) in self.asked.items():
                found = [
                    passages[(self.joint[part] @ vectors.T).topk(NEAREST, dim=1).indices].int()
                    for part in queries.split(4096)
                ]
                self.near[low, length] = torch.cat(found)

    def neighbours(self, student: Encoder) -> tuple[Any, Any, Any, Any]:
        """Return texts of a few clusters, their vectors, and how the student and the teachers judge them.

        The similarities are those wanted and those found; a text is not compared with itself.
        """
        groups = torch.randint(CLUSTERS, (GROUPS,), device=DEVICE)
        low = _draw(self.short, [self.sizes[n] for n in self.short])
        high = self._long()
        one, other = (
            self._pick(low, groups, SHORT),
            self._pick(high, groups, max(12, min(32, LONG // high))),
        )
        with torch.autocast(DEVICE, torch.bfloat16):
            learnt = torch.cat([student(ids, self.padding) for _, ids in (one, other)])
        at = torch.cat([one[0], other[0]])
        same = torch.eye(len(at), device=DEVICE, dtype=torch.bool)
        joint = self.joint[at].float()
        wanted, found = joint @ joint.T, learnt @ learnt.T
        unlike = ((wanted - found) ** 2)[~same].mean()
        return at, learnt, unlike, _order(wanted.masked_fill(same, -9), found.masked_fill(same, -9))

    def questions(self, student: Encoder) -> tuple[Any, Any, Any, Any]:
        """Return queries and passages near to them, likewise."""
        low = _draw(self.short, [len(self.asked[n][0]) for n in self.short])
        high = self._long()
        at, ids = self.asked[low]
        starts = (torch.rand(RUNS, 1, device=DEVICE) * (len(at) - RUN)).long()
        rows = (starts + torch.arange(RUN, device=DEVICE)).flatten()
        ranks = (torch.rand(len(rows), PASSAGES[high], device=DEVICE) ** 2 * NEAREST).long()
        near = self.near[low, high][rows].long().gather(1, ranks).flatten().unique()
        others = torch.randint(self.sizes[high], (ranks.numel() - len(near),), device=DEVICE)
        near = torch.cat([near, others])
        queries, passages = at[rows], self.rows[high][0][near]
        with torch.autocast(DEVICE, torch.bfloat16):
            asked = student(ids[rows].long(), self.padding)
            read = student(self.rows[high][1][near].long(), self.padding)
        owner = self.owner[passages]
        known = (owner == self.answer[queries][:, None]) & (owner >= 0)
        wanted = self.joint[queries].float() @ self.joint[passages].float().T + ANSWER * known
        found = asked @ read.T
        order = _order(wanted, found) + 0.3 * _order(wanted.T, found.T)
        return (
            torch.cat([queries, passages]),
            torch.cat([asked, read]),
            ((wanted - found) ** 2).mean(),
            order,
        )

    def projected(self, at: Any) -> Any:
        """Return where the vectors of some texts are drawn at first."""
        return functional.normalize(self._projected[at].float() @ self._rotation, dim=-1)

    def _long(self) -> int:
        return _draw(self.long, [self.sizes[n] * n**0.3 for n in self.long])

    def _pick(self, length: int, groups: Any, each: int) -> tuple[Any, Any]:
        at, ids, starts = self.ordered[length]
        first = starts[groups] + (torch.rand(len(groups), device=DEVICE) * 8).long()
        rows = (first[:, None] + torch.arange(each, device=DEVICE)).clamp(max=len(at) - 1).flatten()
        return at[rows], ids[rows].long()


def train(student: Encoder, lessons: Lessons, seconds: float) -> None:
    """Train for a while; the rate reaches zero at the end."""
    matrices = [part for part in student.parameters() if part.ndim > 1]
    others = [part for part in student.parameters() if part.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), fused=True)
    student.train()
    begun, step = time.monotonic(), 0
    while (done := (time.monotonic() - begun) / seconds) < 1:
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * done))
        asked = lessons.near and step % 2 == 0
        at, learnt, unlike, order = (lessons.questions if asked else lessons.neighbours)(student)
        apart = (1 - (lessons.projected(at) * learnt).sum(-1)).mean()
        optimizer.zero_grad(set_to_none=True)
        (10 * unlike + order + 0.5 * max(0.0, 1 - 1.5 * done) * apart).backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 500 < 2:
            print(f"{step}: similarities {unlike.item():.5f}, order {order.item():.4f}", flush=True)


def _order(wanted: Any, found: Any) -> Any:
    return functional.kl_div(
        functional.log_softmax(found / TEMPERATURE, -1),
        functional.softmax(wanted / TEMPERATURE, -1),
        reduction="batchmean",
    )


def _draw(values: Sequence[int], weights: Sequence[float]) -> int:
    return random.choices(values, weights)[0]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Teach a model the similarities of three others.")
    parser.add_argument(
        "texts", type=Path, help="a JSON object a line: text and context, or query and passage"
    )
    parser.add_argument("target", type=Path, help="where the weights go")
    parser.add_argument("--seconds", type=float, default=235)
    parser.add_argument(
        "--questions", action="store_true", help="learn from queries and passages near to them too"
    )
    options = parser.parse_args()
    texts = crops(options.texts)
    vectors, student, known = {}, None, None
    for name, (published, _) in TEACHERS.items():
        model = published()
        tokenizer = Tokenizer.from_buffer(build_model.prepared(model.tokenizer))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LENGTHS[-1])
        read = texts.items + [f"{model.query_prefix} {query}".strip() for query in texts.queries]
        rows = [encoding.ids for encoding in tokenizer.encode_batch_fast(read)]
        buckets = Buckets(rows, tokenizer.token_to_id("<pad>") or 0)
        encoder = Encoder.of(model.weights, first_token=model.first_token).to(DEVICE)
        vectors[name] = embed(encoder, buckets)
        if name == STUDENT:
            student, known = encoder, buckets
    assert student is not None and known is not None
    train(
        student,
        Lessons(texts, known, Targets(vectors), vectors[STUDENT], questions=options.questions),
        options.seconds,
    )
    np.savez(options.target, **named_weights(student))


if __name__ == "__main__":
    main()
