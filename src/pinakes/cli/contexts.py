"""How contexts by a language model are shown: what they would cost, and what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.cli.figures import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pinakes.model import IndexReport
    from pinakes.model.report import ContextEstimate

OFF = ("", "none", "off")


def model_name(given: str | None) -> str | None:
    """Return the model that an option names, empty for none; one that cannot be is refused before any work is done."""
    if given is None or given.strip().lower() in OFF:
        return None if given is None else ""
    from pinakes.llm import load_model

    load_model(given)
    return given.strip()


def estimate_lines(estimate: ContextEstimate) -> list[RenderableType]:
    """Return what an estimate says, in words."""
    from rich.text import Text

    if not estimate.chunks:
        return [Text(f"Every chunk has its context from {estimate.model}.")]
    known = estimate.chunks - estimate.calls
    wanting = f"{plural(estimate.chunks, 'chunk')} of {plural(estimate.documents, 'document')} want a context"
    if known:
        wanting += f", {known:,} of which take one that is there already or is asked for once"
    line = f"{plural(estimate.calls, 'prompt')} · {estimate.input_tokens:,} tokens in"
    line += _cached(estimate.input_tokens, estimate.cached_tokens)
    line += f" · at most {estimate.output_tokens:,} out{_dollars(estimate.dollars)}"
    return [Text(f"{wanting}."), Text(f"{estimate.model}: {line}"), Text("Nothing was sent.", style="dim")]


def report_lines(report: IndexReport) -> list[RenderableType]:
    """Return what the contexts of a run took, if there were any."""
    from rich.text import Text

    if not report.contexts and not report.context_calls:
        return []
    line = f"  {plural(report.contexts, 'context')}"
    if report.context_calls:
        line += f" · {plural(report.context_calls, 'prompt')} · {report.context_input_tokens:,} tokens in"
        line += _cached(report.context_input_tokens, report.context_cached_tokens)
        line += f" · {report.context_output_tokens:,} out{_dollars(report.context_dollars)}"
    else:
        line += ", all written before"
    return [Text(line)]


def _cached(tokens: int, cached: int) -> str:
    return f" ({100 * cached // tokens} % from the cache)" if cached else ""


def _dollars(dollars: float | None) -> str:
    if dollars is None:
        return ""
    return f" · about ${dollars:,.2f}" if dollars >= 0.01 else " · less than $0.01"
