"""Evaluation: how good the answers are, on your own documents and questions or on public sets."""

from loccit.evaluation.ablate import compare_runs
from loccit.evaluation.run import evaluate
from loccit.evaluation.runs import Run, load_run, save_run

__all__ = ["Run", "compare_runs", "evaluate", "load_run", "save_run"]
