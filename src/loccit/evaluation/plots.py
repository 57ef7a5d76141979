"""Plots as SVG, with the colours of the surrounding page (classes and variables of ``report_style``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

from loccit.evaluation.calibration import Bin
from loccit.evaluation.significance import Difference

_WIDTH = 880
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 26, 14, 34


class Series(NamedTuple):
    """A named series of values; ``style`` is the class that colours it."""

    name: str
    style: str
    values: Sequence[float]


def bars(labels: Sequence[str], series: Sequence[Series]) -> str:
    """Draw groups of bars between 0 and 1, one group per label."""
    height = 260
    plot = _Area(_WIDTH, height, 0.0, 1.0)
    parts = plot.grid([0, 0.25, 0.5, 0.75, 1], "{:.2f}")
    step = plot.width / max(1, len(labels))
    width = min(34.0, step * 0.8 / max(1, len(series)))
    for group, label in enumerate(labels):
        middle = _LEFT + step * (group + 0.5)
        parts.append(_text(middle, height - 12, label, "axis middle"))
        for number, one in enumerate(series):
            value = one.values[group]
            left = middle + (number - len(series) / 2) * width
            top = plot.y(value)
            tip = f"{one.name}: {label} {value:.4f}"
            parts.append(_rect(left + 1, top, width - 2, plot.y(0) - top, one.style, tip))
            if width > 20:
                parts.append(_text(left + width / 2, top - 4, f"{value:.2f}".lstrip("0"), "value middle"))
    return _svg(_WIDTH, height, parts, "Bars of quality by mode")


def differences(rows: Sequence[tuple[str, Difference]]) -> str:
    """Draw a bar for each difference with its 95 % interval, around a zero line."""
    row, names, figures = 24, 190, 160
    height = row * len(rows) + 44
    reach = max([0.01, *(max(abs(d.change), abs(d.low), abs(d.high)) for _, d in rows)]) * 1.05
    low = -reach if any(min(d.low, d.change) < 0 for _, d in rows) else -reach * 0.08
    high = reach if any(max(d.high, d.change) > 0 for _, d in rows) else reach * 0.08
    span = _WIDTH - names - figures

    def x(value: float) -> float:
        return names + (value - low) / (high - low) * span

    parts: list[str] = []
    for tick in _ticks(low, high, 5):
        parts.append(_line(x(tick), 8, x(tick), height - 30, "zero" if abs(tick) < 1e-12 else "grid"))
        parts.append(_text(x(tick), height - 14, f"{tick:+.3g}" if tick else "0", "axis middle"))
    for number, (name, change) in enumerate(rows):
        middle = 8 + row * (number + 0.5)
        style = ("gain" if change.change > 0 else "loss") if change.significant else "unsure"
        left, right = sorted((x(0), x(change.change)))
        tip = (
            f"{name}: {change.change:+.4f}, 95 % from {change.low:+.4f} to {change.high:+.4f}, p = {change.p:.4f}; "
            f"{change.wins} better, {change.losses} worse, {change.ties} the same"
        )
        parts.append(_text(names - 10, middle + 4, name, "label end"))
        parts.append(_rect(left, middle - 6, max(right - left, 0.5), 12, style, tip))
        if change.low != change.high:
            parts.append(_line(x(change.low), middle, x(change.high), middle, "whisker"))
        chance = f"p {change.p:.3f}" if change.p >= 0.001 else "p < .001"
        parts.append(
            _text(_WIDTH - figures + 12, middle + 4, f"{change.change:+.4f}   {chance}", "value figures")
        )
    return _svg(_WIDTH, height, parts, "Differences with intervals")


def latencies(series: Sequence[Series]) -> str:
    """Draw, for each mode, the share of questions answered within a time; logarithmic."""
    height = 250
    values = [max(0.01, value) for one in series for value in one.values]
    low, high = floor(log10(min(values)) * 2) / 2, ceil(log10(max(values)) * 2 + 0.01) / 2
    plot = _Area(_WIDTH, height, 0.0, 1.0)
    parts = plot.grid([0, 0.25, 0.5, 0.75, 1], "{:.0%}")

    def x(milliseconds: float) -> float:
        return _LEFT + (log10(max(0.01, milliseconds)) - low) / (high - low) * plot.width

    for tick in _log_ticks(low, high):
        parts.append(_line(x(tick), _TOP, x(tick), height - _BOTTOM, "grid"))
        parts.append(_text(x(tick), height - 14, f"{tick:g} ms", "axis middle"))
    for one in series:
        ordered = sorted(one.values)
        points = [(x(ordered[0]), plot.y(0))]
        for number, value in enumerate(ordered, 1):
            points += [(x(value), points[-1][1]), (x(value), plot.y(number / len(ordered)))]
        path = " ".join(f"{left:.1f},{top:.1f}" for left, top in points)
        median = ordered[len(ordered) // 2]
        tip = f"{one.name}: half of the questions within {median:.1f} ms"
        parts.append(
            f'<polyline class="curve {one.style}" points="{path}"><title>{escape(tip)}</title></polyline>'
        )
    return _svg(_WIDTH, height, parts, "Share of questions answered within a time")


def gains(values: Sequence[tuple[float, str]], most: int = 300) -> str:
    """Draw a bar for each question that changed, gains first; its tooltip names the question."""
    ordered = sorted((item for item in values if abs(item[0]) > 1e-9), key=lambda item: -item[0])
    ordered = ordered if len(ordered) <= 2 * most else [*ordered[:most], *ordered[-most:]]
    height = 240
    reach = max((abs(change) for change, _ in ordered), default=1.0)
    plot = _Area(_WIDTH, height, -reach, reach)
    parts = plot.grid([-reach, -reach / 2, 0, reach / 2, reach], "{:+.2f}")
    width = plot.width / max(40, len(ordered))
    for number, (change, tip) in enumerate(ordered):
        top = plot.y(max(change, 0))
        gap = 0.15 * width if width > 3 else 0.0
        parts.append(
            _rect(
                _LEFT + number * width,
                top,
                width - gap,
                abs(plot.y(change) - plot.y(0)),
                "gain" if change > 0 else "loss",
                tip,
            )
        )
    parts.append(_line(_LEFT, plot.y(0), _WIDTH - _RIGHT, plot.y(0), "zero"))
    return _svg(_WIDTH, height, parts, "Gains and losses by question")


def reliability(bins: Sequence[Bin]) -> str:
    """Draw how often answers of some confidence were right; on the diagonal, the confidence is accurate."""
    size = 320
    plot = _Area(size, size, 0.0, 1.0)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    parts = plot.grid(ticks, "{:.2f}")

    def x(value: float) -> float:
        return _LEFT + value * plot.width

    parts += [_text(x(tick), size - 16, f"{tick:.2f}", "axis middle") for tick in ticks]
    parts.append(_line(x(0), plot.y(0), x(1), plot.y(1), "diagonal"))
    total = sum(one.count for one in bins)
    for one in bins:
        tip = (
            f"{one.count} answers with a confidence of {one.low:.1f} to {one.high:.1f}, {one.confidence:.2f} on "
            f"average: {one.right:.0%} right"
        )
        radius = 3.5 + 12 * (one.count / total) ** 0.5
        parts.append(
            _line(x(one.confidence), plot.y(one.confidence), x(one.confidence), plot.y(one.right), "off")
        )
        parts.append(
            f'<circle class="dot" cx="{x(one.confidence):.1f}" cy="{plot.y(one.right):.1f}" r="{radius:.1f}">'
            f"<title>{escape(tip)}</title></circle>"
        )
    parts.append(_text(x(0.5), size - 2, "confidence", "axis middle"))
    parts.append(_text(x(0) + 6, _TOP + 8, "share right", "axis"))
    return _svg(size, size, parts, "Confidence against truth")


def legend(series: Iterable[tuple[str, str]]) -> str:
    """Name the colours."""
    items = "".join(f'<li><span class="key {style}"></span>{escape(name)}</li>' for name, style in series)
    return f'<ul class="legend">{items}</ul>'


class _Area:
    """The plotting area of a picture."""

    def __init__(self, width: float, height: float, low: float, high: float) -> None:
        self.width = width - _LEFT - _RIGHT
        self._bottom, self._height = height - _BOTTOM, height - _BOTTOM - _TOP
        self._low, self._high = low, high
        self._total = width

    def y(self, value: float) -> float:
        return self._bottom - (value - self._low) / (self._high - self._low) * self._height

    def grid(self, ticks: Iterable[float], form: str) -> list[str]:
        parts = []
        for tick in ticks:
            parts.append(_line(_LEFT, self.y(tick), self._total - _RIGHT, self.y(tick), "grid"))
            parts.append(_text(_LEFT - 6, self.y(tick) + 4, form.format(tick), "axis end"))
        return parts


def _ticks(low: float, high: float, count: int) -> list[float]:
    raw = (high - low) / count
    size = 10 ** floor(log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    return [number * step for number in range(ceil(low / step), floor(high / step) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    steps = [base * 10.0**power for power in range(floor(low), ceil(high) + 1) for base in (1, 2, 5)]
    return [tick for tick in steps if low - 1e-9 <= log10(tick) <= high + 1e-9]


def _svg(width: float, height: float, parts: Iterable[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _rect(left: float, top: float, width: float, height: float, style: str, tip: str) -> str:
    return (
        f'<rect class="bar {style}" x="{left:.1f}" y="{top:.1f}" width="{max(width, 0.5):.1f}" '
        f'height="{max(height, 0):.1f}"><title>{escape(tip)}</title></rect>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'
