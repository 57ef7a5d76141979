"""The report of a run: one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from pinakes.config import IndexSettings, SearchSettings
from pinakes.errors import UsageError
from pinakes.evaluation.report_parts import anchor, table
from pinakes.evaluation.report_set import render_set
from pinakes.evaluation.report_style import STYLE
from pinakes.evaluation.runs import Run, SetRun, Variant
from pinakes.evaluation.significance import Difference


def write_report(run: Run, path: Path, before: Run | None = None) -> None:
    """Write the report of a run; ``before`` is the run it was compared with."""
    try:
        path.write_text(render(run, before), encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def render(run: Run, before: Run | None = None) -> str:
    """Return the page."""
    body = [_head(run), _overview(run)]
    if run.comparison:
        body.append(_comparison(run))
    body += [render_set(one, _earlier(one, before), run.compared_with) for one in run.sets]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Evaluation</title><style>{STYLE}</style></head><body><main>{''.join(body)}</main></body></html>\n"
    )


def _head(run: Run) -> str:
    changed = {
        **_changed(run.settings["index"], IndexSettings()),
        **_changed(run.settings["search"], SearchSettings()),
    }
    words = ", ".join(
        f"<code>{escape(name)} = {escape(str(value))}</code>" for name, value in changed.items()
    )
    return (
        f'<h1>How good are the answers?</h1><p class="soft">Pinakes {escape(run.version)} · {escape(run.model)} · '
        f"{escape(run.created.replace('T', ' ').replace('+00:00', ' UTC'))} · "
        f"{'settings: ' + words if words else 'default settings'}</p>"
    )


def _changed(values: dict[str, Any], default: Any) -> dict[str, Any]:
    """The settings that are not as they come."""

    def same(name: str, value: Any) -> bool:
        usual = getattr(default, name, None)
        return bool(value == (list(usual) if isinstance(usual, tuple) and isinstance(value, list) else usual))

    return {name: value for name, value in values.items() if not same(name, value)}


def _overview(run: Run) -> str:
    rows = []
    for one in run.sets:
        first = one.variants[0]
        latency = first.metrics["latency_ms"]
        rows.append(
            [
                f'<a href="#{anchor(one)}">{escape(one.name)}</a>',
                escape(one.kind),
                f"{one.documents:,}",
                f"{one.questions:,}",
                escape(first.name),
                f"{escape(one.main)} <b>{first.metrics[one.main]:.4f}</b>",
                f"{latency['p50']:.1f} / {latency['p95']:.1f} ms",
            ]
        )
    head = ("set", "kind", "documents", "questions", "asked", "main measure", "p50 / p95")
    return table(head, rows)


def _comparison(run: Run) -> str:
    rows = [
        [escape(f"{one.set}, {one.variant}"), *_change_cells(one.differences[one.main], values=True)]
        for one in run.comparison
    ]
    head = ("set, mode", "measure", "before", "now", "change", "95 % interval", "p", "better / worse / same")
    return f"<h2>Compared with {escape(run.compared_with)}</h2>{table(head, rows)}"


def _change_cells(change: Difference, *, values: bool) -> list[str]:
    style = ("up" if change.change > 0 else "down") if change.significant and change.change else ""
    return [
        *([escape(change.metric), f"{change.before:.4f}", f"{change.after:.4f}"] if values else []),
        f'<td class="{style}">{change.change:+.4f}</td>',
        f"{change.low:+.4f} to {change.high:+.4f}",
        f"{change.p:.4f}",
        f"{change.wins} / {change.losses} / {change.ties}",
    ]


def _earlier(one: SetRun, before: Run | None) -> Variant | None:
    """The same set and way of asking in the run before."""
    for other in before.sets if before else ():
        if (other.name, other.kind) == (one.name, one.kind):
            return next((v for v in other.variants if v.name == one.variants[0].name), None)
    return None
