"""The part of the report about one set: its tables, its plots, and the questions that were answered worst."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pinakes.evaluation import plots
from pinakes.evaluation.columns import shown_metrics
from pinakes.evaluation.report_parts import anchor, figure, table
from pinakes.evaluation.report_style import MODE_STYLES
from pinakes.evaluation.runs import Answered, SetRun, Variant

_WORST = 10


def render_set(one: SetRun, earlier: Variant | None, compared_with: str) -> str:
    """Return the part of a set; ``earlier`` is the same way of asking in the run that was compared with."""
    modes = one.plain
    parts = [
        f'<h2 id="{anchor(one)}">{escape(one.name)}</h2>',
        f'<p class="soft">{escape(one.kind)}: {one.documents:,} documents in {one.chunks:,} chunks, '
        f"{one.questions:,} questions{_left_out(one)}</p>",
        _measures(modes),
        _kinds(one, modes),
        _modes(one, modes),
    ]
    parts += [
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
    return table(("", *names), rows)


def _kinds(one: SetRun, variants: Sequence[Variant]) -> str:
    """The main measure for each kind of question, where a set tells several apart."""
    rows = [
        [
            f"{escape(group)} ({figures['questions']:,})",
            *(f"{variant.groups[group][one.main]:.4f}" for variant in variants),
        ]
        for group, figures in variants[0].groups.items()
    ]
    head = (f"{one.main} by kind of question", *(variant.name for variant in variants))
    return table(head, rows) if rows else ""


def _modes(one: SetRun, variants: Sequence[Variant]) -> str:
    metrics = shown_metrics(one.kind)
    series = [
        plots.Series(variant.name, _style(variant), [variant.metrics[name] for name in metrics])
        for variant in variants
    ]
    return figure("Quality by mode", _legend(variants) + plots.bars(metrics, series), "")


def _ablation(one: SetRun) -> str:
    """Stages and modes apart, because a mode alone often loses so much that stages would not be seen beside it."""
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
            parts.append(figure(title, (plots.differences(moved) if moved else "") + note, caption))
    return "".join(parts)


def _latency(variants: Sequence[Variant]) -> str:
    series = [
        plots.Series(variant.name, _style(variant), [query.milliseconds for query in variant.queries])
        for variant in variants
    ]
    return figure(
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
    return figure(
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
    figures = table(("confidence", "answers", "mean", "right"), rows)
    drawn = plots.reliability(variant.calibration.bins)
    return figure(
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
