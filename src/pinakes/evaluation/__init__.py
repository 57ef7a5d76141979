"""Evaluation: how good the answers are, on your own documents and questions or on public sets."""

from pinakes.evaluation.ablate import compare_runs
from pinakes.evaluation.run import evaluate
from pinakes.evaluation.runs import Run, load_run, save_run

__all__ = ["Run", "compare_runs", "evaluate", "load_run", "save_run"]
