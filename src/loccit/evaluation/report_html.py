"""The report of a run: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from loccit.config import IndexSettings, SearchSettings
from loccit.config.settings import MODES
from loccit.errors import UsageError
from loccit.evaluation import plots
from loccit.evaluation.metrics import shown_metrics
from loccit.evaluation.runs import Answered, Run, SetRun, Variant
from loccit.evaluation.significance import Difference

_WORST = 10
# Distinguishable for people with colour blindness: blue, orange, green, purple.
MODE_STYLES = dict(zip(MODES, ("mode-a", "mode-b", "mode-c", "mode-d"), strict=True))
STYLE = """
:root { color-scheme: light dark;
  --paper: #fdfdfc; --card: #ffffff; --ink: #1d232b; --soft: #5c6672; --rule: #e1e4e8; --grid: #e8ebee;
  --a: #0a6ab0; --b: #d98200; --c: #0b8f68; --d: #b25c94; --gain: #0a6ab0; --loss: #cc5a14; --unsure: #b8c0c9; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171b; --card: #1b1f25; --ink: #e6e9ed; --soft: #98a2ae; --rule: #30363e; --grid: #2a3038;
  --a: #58a9e8; --b: #f0ac45; --c: #3fc59a; --d: #dc93c0; --gain: #58a9e8; --loss: #f08a4b; --unsure: #59626d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 .2rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 2rem 0 .3rem; }
p { margin: .3rem 0 .8rem; max-width: 44rem; }
.soft, figcaption, .note { color: var(--soft); font-size: .9rem; }
figure { margin: .5rem 0 1rem; padding: 1rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; }
figure svg { display: block; width: 100%; height: auto; }
.pair { display: grid; grid-template-columns: minmax(0, 22rem) minmax(0, 1fr); gap: 1.5rem; align-items: center; }
@media (max-width: 44rem) { .pair { grid-template-columns: 1fr; } }
.scroll { overflow-x: auto; margin-bottom: 1.2rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: right; padding: .35rem .7rem; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; font-size: .82rem; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.best { font-weight: 700; }
td.up { color: var(--gain); font-weight: 600; } td.down { color: var(--loss); font-weight: 600; }
ul.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: 0 0 .5rem; padding: 0;
  font-size: .9rem; color: var(--soft); }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em; }
ol.worst { padding-left: 1.3rem; } ol.worst > li { margin-bottom: 1.1rem; }
ol.worst .q { font-weight: 600; } ol.worst dl { margin: .2rem 0 0; font-size: .88rem; display: grid;
  grid-template-columns: 4.5rem minmax(0, 1fr); gap: .1rem .6rem; }
ol.worst dt { color: var(--soft); } ol.worst dd { margin: 0; overflow-wrap: anywhere; }
a { color: var(--a); }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
svg text { fill: var(--ink); font-size: 12px; font-family: inherit; }
svg .axis { fill: var(--soft); font-size: 11px; } svg .value { fill: var(--soft); font-size: 11px; }
svg .figures { font-variant-numeric: tabular-nums; white-space: pre; }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
svg .grid { stroke: var(--grid); } svg .zero { stroke: var(--soft); }
svg .whisker { stroke: var(--ink); stroke-width: 1.5; }
svg .diagonal { stroke: var(--soft); stroke-dasharray: 4 4; } svg .off { stroke: var(--a); opacity: .45; }
svg .dot { fill: var(--a); fill-opacity: .75; stroke: var(--card); }
svg .bar:hover, svg .dot:hover { opacity: .7; }
svg .curve { fill: none; stroke-width: 2; }
.mode-a { fill: var(--a); } .mode-b { fill: var(--b); }
.mode-c { fill: var(--c); } .mode-d { fill: var(--d); }
.key.mode-a { background: var(--a); } .key.mode-b { background: var(--b); }
.key.mode-c { background: var(--c); } .key.mode-d { background: var(--d); }
svg .curve.mode-a { stroke: var(--a); } svg .curve.mode-b { stroke: var(--b); }
svg .curve.mode-c { stroke: var(--c); } svg .curve.mode-d { stroke: var(--d); }
.gain { fill: var(--gain); } .loss { fill: var(--loss); } .unsure { fill: var(--unsure); }
@media print { body { background: #fff; } figure { break-inside: avoid; } }
"""


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
    body += [_render_set(one, _earlier(one, before), run.compared_with) for one in run.sets]
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
        f'<h1>How good are the answers?</h1><p class="soft">Loccit {escape(run.version)} · {escape(run.model)} · '
        f"{escape(run.created.replace('T', ' ').replace('+00:00', ' UTC'))} · "
        f"{'settings: ' + words if words else 'default settings'}</p>"
    )


def _changed(values: dict[str, Any], default: Any) -> dict[str, Any]:
    """The settings that differ from the defaults."""

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
                f'<a href="#{_anchor(one)}">{escape(one.name)}</a>',
                escape(one.kind),
                f"{one.documents:,}",
                f"{one.questions:,}",
                escape(first.name),
                f"{escape(one.main)} <b>{first.metrics[one.main]:.4f}</b>",
                f"{latency['p50']:.1f} / {latency['p95']:.1f} ms",
            ]
        )
    head = ("set", "kind", "documents", "questions", "asked", "main measure", "p50 / p95")
    return _table(head, rows)


def _comparison(run: Run) -> str:
    rows = [
        [escape(f"{one.set}, {one.variant}"), *_change_cells(one.differences[one.main])]
        for one in run.comparison
    ]
    head = ("set, mode", "measure", "before", "now", "change", "95 % interval", "p", "better / worse / same")
    return f"<h2>Compared with {escape(run.compared_with)}</h2>{_table(head, rows)}"


def _change_cells(change: Difference) -> list[str]:
    style = ("up" if change.change > 0 else "down") if change.significant and change.change else ""
    return [
        escape(change.metric),
        f"{change.before:.4f}",
        f"{change.after:.4f}",
        f'<td class="{style}">{change.change:+.4f}</td>',
        f"{change.low:+.4f} to {change.high:+.4f}",
        f"{change.p:.4f}",
        f"{change.wins} / {change.losses} / {change.ties}",
    ]


def _earlier(one: SetRun, before: Run | None) -> Variant | None:
    """The same set and variant in the earlier run."""
    for other in before.sets if before else ():
        if (other.name, other.kind) == (one.name, one.kind):
            return next((v for v in other.variants if v.name == one.variants[0].name), None)
    return None


def _render_set(one: SetRun, earlier: Variant | None, compared_with: str) -> str:
    """Return the part about a set; ``earlier`` is the same variant in the run compared with."""
    modes = one.plain
    parts = [
        f'<h2 id="{_anchor(one)}">{escape(one.name)}</h2>',
        f'<p class="soft">{escape(one.kind)}: {one.documents:,} documents in {one.chunks:,} chunks, '
        f"{one.questions:,} questions{_left_out(one)}</p>",
        _measures(modes),
        _kinds(one, modes),
        _modes(one, modes),
        _ablation(one),
        _latency(modes),
        _gains(one, earlier, compared_with),
        _confidence(one.variants[0]),
        _worst(one),
    ]
    return "".join(parts)


def _left_out(one: SetRun) -> str:
    parts = []
    if one.without_answer:
        parts.append(f"{one.without_answer:,} without an answer left out")
    if one.failed:
        parts.append(f"{len(one.failed):,} documents could not be read")
    return "".join(f"; {part}" for part in parts)


def _measures(variants: Sequence[Variant]) -> str:
    names = [name for name in variants[0].metrics if name != "latency_ms"]
    best = {name: max(variant.metrics[name] for variant in variants) for name in names}
    rows = []
    for variant in variants:
        cells = [
            f'<td class="best">{variant.metrics[name]:.4f}</td>'
            if variant.metrics[name] == best[name] and len(variants) > 1
            else f"{variant.metrics[name]:.4f}"
            for name in names
        ]
        rows.append([escape(variant.name), *cells])
    return _table(("", *names), rows)


def _kinds(one: SetRun, variants: Sequence[Variant]) -> str:
    """The main metric for each kind of question, if a set has several."""
    rows = [
        [
            f"{escape(group)} ({figures['questions']:,})",
            *(f"{variant.groups[group][one.main]:.4f}" for variant in variants),
        ]
        for group, figures in variants[0].groups.items()
    ]
    head = (f"{one.main} by kind of question", *(variant.name for variant in variants))
    return _table(head, rows) if rows else ""


def _modes(one: SetRun, variants: Sequence[Variant]) -> str:
    metrics = shown_metrics(one.kind)
    series = [
        plots.Series(variant.name, _style(variant), [variant.metrics[name] for name in metrics])
        for variant in variants
    ]
    return _figure("Quality by mode", _legend(variants) + plots.bars(metrics, series), "")


def _ablation(one: SetRun) -> str:
    """Stages and modes separately: a single mode often loses so much that stages would be invisible beside it."""
    modes = {variant.name for variant in one.plain}
    parts = []
    for title, rows in (
        ("What each stage contributes", [row for row in one.differences.items() if row[0] not in modes]),
        ("Each mode alone", [row for row in one.differences.items() if row[0] in modes]),
    ):
        moved = [(name, change) for name, change in rows if change.moved]
        still = ", ".join(name for name, change in rows if not change.moved)
        note = f'<p class="note">No question changes: {escape(still)}.</p>' if still else ""
        if rows:
            caption = (
                f"Change of {one.main} against {one.variants[0].name}. Lines are 95 % intervals; grey bars could be "
                "chance (p ≥ .05)."
            )
            parts.append(_figure(title, (plots.differences(moved) if moved else "") + note, caption))
    return "".join(parts)


def _latency(variants: Sequence[Variant]) -> str:
    series = [
        plots.Series(variant.name, _style(variant), [query.milliseconds for query in variant.queries])
        for variant in variants
    ]
    return _figure(
        "Time to answer",
        _legend(variants) + plots.latencies(series),
        "Share of the questions that were answered within a time, one question after the other.",
    )


def _gains(one: SetRun, earlier: Variant | None, compared_with: str) -> str:
    now = one.variants[0]
    if earlier is not None:
        other, name = earlier, f"{earlier.name} in {compared_with}"
    else:
        alone = [variant for variant in one.plain[1:] if variant.mode]
        if not alone:
            return ""
        other = max(alone, key=lambda variant: float(variant.metrics[one.main]))
        name = f"{other.name}, the best single mode"
    before, texts = other.values(one.main), {query.id: query.text for query in now.queries}
    values = [
        (value - before[key], f"{texts[key]}\n{one.main} {before[key]:.3f} → {value:.3f}")
        for key, value in now.values(one.main).items()
        if key in before
    ]
    up, down = sum(change > 1e-9 for change, _ in values), sum(change < -1e-9 for change, _ in values)
    return _figure(
        f"{now.name} against {name}",
        plots.gains(values),
        f"{up:,} questions are better, {down:,} worse, {len(values) - up - down:,} the same (not drawn). "
        "Point at a bar to see its question.",
    )


def _confidence(variant: Variant) -> str:
    if variant.calibration is None:
        return ""
    rows = [
        [f"{b.low:.1f} to {b.high:.1f}", f"{b.count:,}", f"{b.confidence:.3f}", f"{b.right:.3f}"]
        for b in variant.calibration.bins
    ]
    figures = _table(("confidence", "answers", "mean", "right"), rows)
    drawn = plots.reliability(variant.calibration.bins)
    return _figure(
        "Does confidence mean what it says?",
        f'<div class="pair"><div>{drawn}</div><div>{figures}</div></div>',
        f"How often the first result is right, by the confidence of the answer. On average they are "
        f"{variant.calibration.error:.3f} apart (expected calibration error).{_strays(variant)}",
    )


def _strays(variant: Variant) -> str:
    stray = variant.offtopic
    if stray is None:
        return ""
    apart = (
        f"; {stray.told_apart:.0%} of the right answers rank above them"
        if stray.told_apart is not None
        else ""
    )
    return (
        f" {stray.questions:,} questions that nothing answers have a confidence of {stray.confidence:.2f} on average, "
        f"{stray.above_half:.0%} of them above 0.5{apart}."
    )


def _worst(one: SetRun) -> str:
    def order(query: Answered) -> tuple[float, float]:
        return query.values[one.main], -(query.confidence or 0.0)

    worst = [query for query in sorted(one.variants[0].queries, key=order) if query.values[one.main] < 1][
        :_WORST
    ]
    if not worst:
        return ""
    items = "".join(
        f'<li><span class="q">{escape(query.text)}</span> <span class="soft">{one.main} {query.values[one.main]:.3f}'
        f"{_sure(query)}</span><dl>{_listed('wanted', query.wanted)}{_listed('found', query.found)}</dl></li>"
        for query in worst
    )
    return (
        '<h3>Answered worst</h3><p class="note">The lowest values first, and among equals those that the search was '
        f'most sure of.</p><ol class="worst">{items}</ol>'
    )


def _sure(query: Answered) -> str:
    return f", confidence {query.confidence:.2f}" if query.confidence is not None else ""


def _listed(name: str, texts: Sequence[str]) -> str:
    return "".join(
        f"<dt>{name if not number else ''}</dt><dd>{escape(text)}</dd>"
        for number, text in enumerate(texts or ["nothing"])
    )


def _style(variant: Variant) -> str:
    return MODE_STYLES.get(variant.mode, "mode-a")


def _legend(variants: Sequence[Variant]) -> str:
    return plots.legend((variant.name, _style(variant)) for variant in variants)


def _anchor(one: SetRun) -> str:
    """Return the anchor of a set on the page."""
    return escape("set-" + "".join(c if c.isalnum() else "-" for c in one.name), quote=True)


def _figure(title: str, drawn: str, caption: str) -> str:
    """Return a picture with its heading and caption."""
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<h3>{escape(title)}</h3><figure>{drawn}{words}</figure>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are HTML, and may bring their own ``td``."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
