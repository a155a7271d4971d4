"""The route of a trip on the outlines that the pages' map has, drawn into a box.

The cells are those of web/cells.mjs: coordinates in thousandths of a degree, each point of a line
as the difference from the one before. What is drawn is what web/src/trip/map.ts draws.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas

from gateway.exports.certificate import text
from gateway.exports.certificate.sheet import ACCENT, BAD, INK, LINE, PAPER, SOFT
from gateway.exports.certificate.text import BOLD, REGULAR

CREDIT: Final = (
    "For orientation only. Outlines: Natural Earth, with de facto borders. Places: GeoNames, CC BY "
    "4.0."
)
_CELLS: Final = Path(__file__).parents[2] / "web" / "map"
_CELL: Final = 10
_SCALE: Final = 1000
_CELLS_MAX: Final = 120
"""More than a map from Helsinki to Lisbon needs. What a wider one lacks lies at its edges."""
_LABELS_MAX: Final = 22
_LEAST_SPAN: Final = 0.02
"""Degrees: a truck that stood still gets a map of two kilometres."""
_LATITUDE_MAX: Final = 85.0
_WATER, _LAND, _BORDER = HexColor(0xE3EDF4), HexColor(0xF8F5EE), HexColor(0x8B949E)
_STEP: Final = 0.4
"""Points of a line that are nearer than this to the one before are left out."""

Point = tuple[float, float]
"""Longitude and latitude, degrees."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where something is drawn: lower left corner and size, points."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Mark:
    """Where something happened: a breach, or signs of tampering."""

    place: Point
    is_tamper: bool


class Projection:
    """Mercator, so that a track fits into a box with a margin.

    Args:
        track: At least one point.
        box: Where it is drawn.
    """

    def __init__(self, track: Sequence[Point], box: Box) -> None:
        first = track[0][0]
        xs = [_near(longitude, first) for longitude, _ in track]
        ys = [latitude for _, latitude in track]
        self._box = box
        self._centre = (min(xs) + max(xs)) / 2
        wide = max(max(xs) - min(xs), _LEAST_SPAN)
        middle = (min(ys) + max(ys)) / 2
        half = max(max(ys) - min(ys), _LEAST_SPAN) / 2
        low, high = _mercator(middle - half), _mercator(middle + half)
        margin = 0.12 * min(box.width, box.height)
        self._scale = min(
            (box.width - 2 * margin) / math.radians(wide), (box.height - 2 * margin) / (high - low)
        )
        self._middle = (low + high) / 2

    def place(self, point: Point) -> Point:
        """Return where a point is drawn."""
        across = math.radians(_near(point[0], self._centre) - self._centre)
        box = self._box
        return (
            box.x + box.width / 2 + across * self._scale,
            box.y + box.height / 2 + (_mercator(point[1]) - self._middle) * self._scale,
        )

    def cells(self) -> list[tuple[int, int]]:
        """Return the lower left corners of the cells in view, degrees, from the middle outwards."""
        across = math.degrees(self._box.width / 2 / self._scale)
        up = self._box.height / 2 / self._scale
        west, east = self._centre - across, self._centre + across
        south, north = _latitude(self._middle - up), _latitude(self._middle + up)
        found = [
            ((x + 540) % 360 - 180, y)
            for x in range(_floor(west), math.floor(east) + 1, _CELL)
            for y in range(_floor(south), math.floor(north) + 1, _CELL)
        ]
        return sorted(dict.fromkeys(found), key=self._off_centre)[:_CELLS_MAX]

    def _off_centre(self, cell: tuple[int, int]) -> float:
        """Return how far from the map's middle the middle of a cell is drawn."""
        box = self._box
        middle = self.place((cell[0] + _CELL / 2, cell[1] + _CELL / 2))
        return math.dist(middle, (box.x + box.width / 2, box.y + box.height / 2))


def draw_map(
    canvas: Canvas, box: Box, track: Sequence[Point | None], marks: Sequence[Mark]
) -> list[str]:
    """Draw a route; return the names of the places on the map, the largest first.

    Args:
        canvas: Where to draw.
        box: The map's place.
        track: At least one point; None where the position is unknown: the line ends there.
        marks: What happened where.
    """
    projection = Projection([each for each in track if each is not None], box)
    cells = [each for name in projection.cells() if (each := _cell(*name)) is not None]
    canvas.saveState()
    frame = canvas.beginPath()
    frame.rect(box.x, box.y, box.width, box.height)
    canvas.setFillColor(_WATER)
    canvas.drawPath(frame, stroke=0, fill=1)
    canvas.clipPath(frame, stroke=0, fill=0)
    for each in cells:
        _lines(canvas, projection, each["land"], closed=True)
    for each in cells:
        _lines(canvas, projection, each["borders"], closed=False)
    _route(canvas, projection, track)
    names = _places(canvas, box, projection, cells)
    _ends(canvas, projection, [each for each in track if each is not None])
    for mark in marks:
        _mark(canvas, projection.place(mark.place), is_tamper=mark.is_tamper)
    canvas.restoreState()
    canvas.setStrokeColor(LINE)
    canvas.rect(box.x, box.y, box.width, box.height)
    return names


def _lines(
    canvas: Canvas, projection: Projection, coded: Sequence[Sequence[int]], *, closed: bool
) -> None:
    path = canvas.beginPath()
    for line in coded:
        last = None
        for point in _decoded(line):
            x, y = projection.place(point)
            if last is None:
                path.moveTo(x, y)
            elif abs(x - last[0]) + abs(y - last[1]) < _STEP:
                continue
            else:
                path.lineTo(x, y)
            last = (x, y)
        if closed and last is not None:
            path.close()
    if closed:
        canvas.setFillColor(_LAND)
        canvas.setStrokeColor(_BORDER)
        canvas.setLineWidth(0.3)
        canvas.drawPath(path, stroke=1, fill=1, fillMode=0)
    else:
        canvas.setStrokeColor(_BORDER)
        canvas.setLineWidth(0.6)
        canvas.setDash(3, 2)
        canvas.drawPath(path, stroke=1, fill=0)
        canvas.setDash()


def _decoded(line: Sequence[int]) -> Iterator[Point]:
    x = y = 0
    for at in range(0, len(line), 2):
        x, y = x + line[at], y + line[at + 1]
        yield x / _SCALE, y / _SCALE


def _route(canvas: Canvas, projection: Projection, track: Sequence[Point | None]) -> None:
    path, drawing = canvas.beginPath(), False
    for each in track:
        if each is not None:
            (path.lineTo if drawing else path.moveTo)(*projection.place(each))
        drawing = each is not None
    canvas.setLineJoin(1)
    for colour, wide in ((PAPER, 4.0), (ACCENT, 1.8)):
        canvas.setStrokeColor(colour)
        canvas.setLineWidth(wide)
        canvas.drawPath(path, stroke=1, fill=0)


def _ends(canvas: Canvas, projection: Projection, track: Sequence[Point]) -> None:
    for place, fill in ((track[-1], ACCENT), (track[0], PAPER)):
        canvas.setFillColor(fill)
        canvas.setStrokeColor(ACCENT)
        canvas.setLineWidth(1.5)
        canvas.circle(*projection.place(place), 3.2, stroke=1, fill=1)


def _mark(canvas: Canvas, at: Point, *, is_tamper: bool) -> None:
    x, y = at
    canvas.setFillColor(BAD)
    canvas.setStrokeColor(PAPER)
    canvas.setLineWidth(0.8)
    if is_tamper:
        lozenge(canvas, x, y, 4.5)
    else:
        canvas.rect(x - 3.2, y - 3.2, 6.4, 6.4, stroke=1, fill=1)


def lozenge(canvas: Canvas, x: float, y: float, size: float) -> None:
    """Draw the sign of a tamper event around a point."""
    path = canvas.beginPath()
    path.moveTo(x, y + size)
    for corner in ((x + size, y), (x, y - size), (x - size, y)):
        path.lineTo(*corner)
    path.close()
    canvas.drawPath(path, stroke=1, fill=1)


def _places(
    canvas: Canvas, box: Box, projection: Projection, cells: Sequence[dict[str, Any]]
) -> list[str]:
    """Write the names that fit without one over another, the largest first."""
    taken: list[tuple[float, float, float, float]] = []
    names: list[str] = []
    for longitude, latitude, rank, name in sorted(
        (place for each in cells for place in each["places"]), key=lambda place: place[2]
    ):
        font, shown = (BOLD if rank < 2 else REGULAR), text.readable(name)  # noqa: PLR2004 - the largest two
        x, y = projection.place((longitude / _SCALE, latitude / _SCALE))
        long = text.width(shown, 6.5, font)
        area = (x - 3, y - 4, x + long + 7, y + 10)
        inside = area[0] > box.x and area[1] > box.y and area[2] < box.x + box.width
        if not inside or area[3] > box.y + box.height or any(_overlap(area, t) for t in taken):
            continue
        taken.append(area)
        names.append(shown)
        canvas.setFillColor(SOFT)
        canvas.circle(x, y, 1.3, stroke=0, fill=1)
        canvas.setFillColor(INK if font == BOLD else SOFT)
        canvas.setFont(font, 6.5)
        canvas.drawString(x + 3.5, y + 2, shown)
        if len(names) >= _LABELS_MAX:
            break
    return names


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and one[2] > other[0] and one[1] < other[3] and one[3] > other[1]


def _cell(west: int, south: int) -> dict[str, Any] | None:
    """Return a part of the map; None where there is only water."""
    try:
        data = (_CELLS / f"{west}_{south}.json").read_bytes()
    except FileNotFoundError:
        return None
    found: dict[str, Any] = json.loads(data)
    return found


def _near(longitude: float, to: float) -> float:
    """Return a longitude as it is named within 180 degrees of another."""
    return longitude + 360 * round((to - longitude) / 360)


def _mercator(latitude: float) -> float:
    held = max(-_LATITUDE_MAX, min(_LATITUDE_MAX, latitude))
    return math.log(math.tan(math.pi / 4 + math.radians(held) / 2))


def _latitude(mercator: float) -> float:
    return math.degrees(2 * math.atan(math.exp(mercator)) - math.pi / 2)


def _floor(degrees: float) -> int:
    return math.floor(degrees / _CELL) * _CELL
