"""Which measures are shown of each kind of set, and which one it is judged by."""

from __future__ import annotations

from pinakes.evaluation.datasets import FIXED, LIBRARY, RETRIEVAL, SPANS

_RANKING = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
_SHOWN = {
    RETRIEVAL: _RANKING,
    LIBRARY: ("ndcg@10", "recall@10", "mrr@10", "hit@10"),
    FIXED: ("pass@5", "pass@10", "pass@20", "ndcg@10", "mrr@10"),
    SPANS: ("span_recall@5", "span_precision@5", "span_iou@5", "span_recall@10", "span_iou@10"),
}
_LOOKUPS = ("top1", "mrr@10")
_MAIN = {RETRIEVAL: "ndcg@10", LIBRARY: "ndcg@10", FIXED: "pass@10", SPANS: "span_iou@5"}


def shown_metrics(kind: str) -> tuple[str, ...]:
    """Return the measures that tables and plots have; a run keeps all."""
    return _SHOWN.get(kind, _LOOKUPS)


def main_metric(kind: str) -> str:
    """Return the measure that comparisons are made by."""
    return _MAIN.get(kind, _LOOKUPS[0])
