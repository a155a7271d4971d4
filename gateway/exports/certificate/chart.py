"""Readings over time, with limits, what lay outside them, and moments of tampering."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas

from contracts.records.clock import moment
from gateway.exports.certificate import text
from gateway.exports.certificate.outline import Box, lozenge
from gateway.exports.certificate.sheet import ACCENT, BAD, INK, LINE, PAPER, SOFT
from gateway.exports.certificate.text import BOLD, REGULAR

_OUTSIDE, _BAND = HexColor(0xFBE4E1), HexColor(0xA9CBEB)
_AXIS: Final = 40.0
"""Room for the values left of the chart, points."""
_STEPS_S: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600)
_DAY_S: Final = 86_400
_TICKS: Final = 7

Scale = Callable[[float], float]
"""From a time or a value to a place on the page."""
Value = tuple[float, float, float]
"""Lowest, mean and highest."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What is drawn of one quantity.

    Attributes:
        title: Its name and unit.
        times_ms: When each value was measured.
        values: None where nothing was: the line ends there.
        low: The least that is allowed; None: no such limit.
        high: The most that is allowed.
        breaches_ms: From and until, of each breach of these limits.
    """

    title: str
    times_ms: Sequence[int]
    values: Sequence[Value | None]
    low: float | None
    high: float | None
    breaches_ms: Sequence[tuple[int, int]]

    @property
    def span(self) -> tuple[float, float] | None:
        """Return the lowest and the highest value; None: nothing was measured."""
        known = [each for each in self.values if each is not None]
        if not known:
            return None
        return min(each[0] for each in known), max(each[2] for each in known)


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """The times that all curves of a trip share.

    Attributes:
        from_ms: The first.
        until_ms: The last, later than the first.
        tampers_ms: Moments of tampering.
    """

    from_ms: int
    until_ms: int
    tampers_ms: Sequence[int]


def draw_chart(canvas: Canvas, box: Box, curve: Curve, axis: TimeAxis, *, last: bool) -> None:
    """Draw a curve that has values; the last one of several has the times below it."""
    plot = Box(box.x + _AXIS, box.y, box.width - _AXIS, box.height - 14)
    least, most = _range(curve)

    def across(utc_ms: float) -> float:
        part = (utc_ms - axis.from_ms) / (axis.until_ms - axis.from_ms)
        return plot.x + plot.width * max(0.0, min(1.0, part))

    def up(value: float) -> float:
        return plot.y + plot.height * max(0.0, min(1.0, (value - least) / (most - least)))

    canvas.setFont(BOLD, 8)
    canvas.setFillColor(INK)
    canvas.drawString(box.x, box.y + box.height - 9, curve.title)
    _outside(canvas, plot, up, curve)
    canvas.setFont(REGULAR, 6.5)
    for value in _ticks(least, most, 6):
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.3)
        canvas.line(plot.x, up(value), plot.x + plot.width, up(value))
        canvas.setFillColor(SOFT)
        canvas.drawRightString(plot.x - 4, up(value) - 2.2, f"{value:g}")
    for utc_ms, label in _times(axis):
        canvas.setStrokeColor(LINE)
        canvas.line(across(utc_ms), plot.y, across(utc_ms), plot.y + plot.height)
        if last:
            canvas.setFillColor(SOFT)
            half = text.width(label, 6.5) / 2
            right = plot.x + plot.width - half
            canvas.drawCentredString(min(across(utc_ms), right), plot.y - 9, label)
    _limits(canvas, plot, up, curve)
    for points in _runs(curve):
        _run(
            canvas, [(across(at), up(low), up(mean), up(high)) for at, (low, mean, high) in points]
        )
    _marks(canvas, plot, across, curve.breaches_ms, axis.tampers_ms)
    canvas.setStrokeColor(SOFT)
    canvas.setLineWidth(0.5)
    canvas.rect(plot.x, plot.y, plot.width, plot.height)


def _outside(canvas: Canvas, plot: Box, up: Scale, curve: Curve) -> None:
    """Shade what is not allowed."""
    canvas.setFillColor(_OUTSIDE)
    for limit, edge in ((curve.high, plot.y + plot.height), (curve.low, plot.y)):
        if limit is not None:
            y = up(limit)
            canvas.rect(plot.x, min(y, edge), plot.width, abs(edge - y), stroke=0, fill=1)


def _limits(canvas: Canvas, plot: Box, up: Scale, curve: Curve) -> None:
    canvas.setStrokeColor(BAD)
    canvas.setLineWidth(0.7)
    canvas.setDash(4, 2)
    for limit in (curve.high, curve.low):
        if limit is not None:
            canvas.line(plot.x, up(limit), plot.x + plot.width, up(limit))
    canvas.setDash()


def _run(canvas: Canvas, points: Sequence[tuple[float, float, float, float]]) -> None:
    """Draw values that follow one another: a band from lowest to highest, and the mean."""
    if len(points) == 1:
        ((x, _, mean, _),) = points
        canvas.setFillColor(ACCENT)
        canvas.circle(x, mean, 1.3, stroke=0, fill=1)
        return
    band, line = canvas.beginPath(), canvas.beginPath()
    band.moveTo(points[0][0], points[0][3])
    line.moveTo(points[0][0], points[0][2])
    for x, _, mean, top in points[1:]:
        band.lineTo(x, top)
        line.lineTo(x, mean)
    for x, bottom, _, _ in reversed(points):
        band.lineTo(x, bottom)
    band.close()
    canvas.setFillColor(_BAND)
    canvas.drawPath(band, stroke=0, fill=1)
    canvas.setStrokeColor(ACCENT)
    canvas.setLineWidth(0.9)
    canvas.setLineJoin(1)
    canvas.drawPath(line, stroke=1, fill=0)


def _marks(
    canvas: Canvas,
    plot: Box,
    across: Scale,
    breaches_ms: Sequence[tuple[int, int]],
    tampers_ms: Sequence[int],
) -> None:
    canvas.setFillColor(BAD)
    for from_ms, until_ms in breaches_ms:
        x = across(from_ms)
        canvas.rect(x, plot.y, max(across(until_ms) - x, 1.2), 3, stroke=0, fill=1)
    canvas.setStrokeColor(PAPER)
    canvas.setLineWidth(0.5)
    for at_ms in tampers_ms:
        lozenge(canvas, across(at_ms), plot.y + plot.height - 4, 3.6)


def _runs(curve: Curve) -> Iterator[list[tuple[int, Value]]]:
    run: list[tuple[int, Value]] = []
    for at, value in zip(curve.times_ms, curve.values, strict=True):
        if value is not None:
            run.append((at, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _range(curve: Curve) -> tuple[float, float]:
    span = curve.span or (0.0, 0.0)
    known = [*span, *(each for each in (curve.low, curve.high) if each is not None)]
    room = max((max(known) - min(known)) * 0.12, 0.5)
    return min(known) - room, max(known) + room


def _ticks(low: float, high: float, count: int) -> Iterator[float]:
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    value = math.ceil(low / step) * step
    while value <= high:
        yield round(value, 6)
        value += step


def _times(axis: TimeAxis) -> Iterator[tuple[int, str]]:
    """Yield round times with what is written below them, UTC."""
    span_s = (axis.until_ms - axis.from_ms) / 1000
    step = next((each for each in _STEPS_S if span_s / each <= _TICKS), 0)
    step = step or math.ceil(span_s / _TICKS / _DAY_S) * _DAY_S
    at = math.ceil(axis.from_ms / 1000 / step) * step
    while at * 1000 <= axis.until_ms:
        shown = moment(at * 1000)
        form = "%H:%M:%S" if step < 60 else "%d %b" if step >= _DAY_S else "%H:%M"  # noqa: PLR2004 - a minute
        yield at * 1000, shown.strftime(form)
        at += step
