"""Adapter: a GPX track, stretched over a trip or aligned with it by time.

Stretched, a fraction of the trip's time is the same fraction of the track's time. Positions
between two points are interpolated in whole 10^-7 degrees, so every machine finds the same ones.
The only module that imports gpxpy.
"""

import bisect
import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from contracts.errors import RejectedError
from contracts.records.clock import rfc3339, utc_ms_of
from contracts.records.reading import Position

if TYPE_CHECKING:
    from gpxpy.gpx import GPXTrack, GPXTrackPoint

TRACK_BYTES_MAX: Final = 16 * 1024 * 1024
_NAMESPACES_MAX: Final = 64
"""gpxpy searches for namespaces with a regex that takes quadratic time on a hostile file."""
_ENDS_EARLY: Final = ("no element found", "Document is empty", "Premature end of data")
"""What Python's parser says of a file without its end, and what lxml says: gpxpy takes lxml where
it is installed."""
_NAMES_SHOWN: Final = 10
_SCALE: Final = 10**7
_TURN_E7: Final = 360 * _SCALE
NO_FIX: Final = Position(0, 0)
"""What receivers without a fix write; in earnest it is in the Gulf of Guinea."""


@dataclass(frozen=True, slots=True)
class Track:
    """Track points in order of time.

    Attributes:
        sha256: SHA-256 of the file, 32 bytes.
        times_ms: When each point was passed, milliseconds since the Unix epoch.
        positions: Where each point is; accuracy unknown.
    """

    sha256: bytes
    times_ms: tuple[int, ...]
    positions: tuple[Position, ...]

    @classmethod
    def load(cls, path: Path, name: str | None = None) -> Self:
        """Read the GPX file at `path`.

        Args:
            path: The file.
            name: Of the tracks to read, or `track N`, which counts them from 1. None reads all.

        Raises:
            RejectedError: Unreadable, too large, not GPX, with a document type (entities), without
                points, without a track of that name, with a point that has no time or an invalid
                position, or with two tracks at the same time.
        """
        raw = _read(path)
        points = sorted(_points(path, _text(path, raw), name), key=lambda point: point[0])
        if not points:
            raise RejectedError(
                f"track {path}: expected at least one track point, got none (waypoints and routes "
                f"are not read)"
            )
        times, positions = zip(*points, strict=True)
        return cls(hashlib.sha256(raw).digest(), times, positions)

    def unplaced(self) -> int:
        """Return how many points are at latitude 0, longitude 0, as without a fix."""
        return self.positions.count(NO_FIX)

    def at(self, offset_ms: int, duration_ms: int) -> Position:
        """Return where the truck was `offset_ms` into a trip of `duration_ms`."""
        first, last = self.times_ms[0], self.times_ms[-1]
        # In units of 1 / duration_ms, so that no fraction is rounded.
        wanted = first * duration_ms + (last - first) * min(offset_ms, duration_ms)
        if not duration_ms or wanted <= first * duration_ms:
            return self.positions[0]
        after = bisect.bisect_left(self.times_ms, wanted, key=lambda time: time * duration_ms)
        start, end = self.times_ms[after - 1], self.times_ms[after]
        return _between(
            self.positions[after - 1],
            self.positions[after],
            wanted - start * duration_ms,
            (end - start) * duration_ms,
        )

    def at_time(self, utc_ms: int) -> Position | None:
        """Return where the truck was at `utc_ms`; None outside the track's time."""
        if not self.times_ms[0] <= utc_ms <= self.times_ms[-1]:
            return None
        after = bisect.bisect_left(self.times_ms, utc_ms)
        if self.times_ms[after] == utc_ms:
            return self.positions[after]
        start, end = self.times_ms[after - 1], self.times_ms[after]
        return _between(
            self.positions[after - 1], self.positions[after], utc_ms - start, end - start
        )


def _between(start: Position, end: Position, part: int, whole: int) -> Position:
    north = end.latitude_e7 - start.latitude_e7
    east = end.longitude_e7 - start.longitude_e7
    if abs(east) > _TURN_E7 // 2:  # the short way, across the antimeridian
        east -= _TURN_E7 if east > 0 else -_TURN_E7
    longitude = start.longitude_e7 + east * part // whole
    if abs(longitude) > _TURN_E7 // 2:
        longitude -= _TURN_E7 if longitude > 0 else -_TURN_E7
    return Position(start.latitude_e7 + north * part // whole, longitude)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(TRACK_BYTES_MAX + 1)
    except OSError as error:
        raise RejectedError(f"track {path}: {error}") from error
    if len(raw) > TRACK_BYTES_MAX:
        raise RejectedError(
            f"track {path}: expected at most {TRACK_BYTES_MAX} bytes, the file is larger"
        )
    return raw


def _text(path: Path, raw: bytes) -> str:
    """Return the text of the file, unless parsing it could exhaust time or memory."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RejectedError(
            f"track {path}: expected UTF-8, got byte {raw[error.start]:#04x} at {error.start}"
        ) from error
    # Entities (the billion laughs attack) can only be declared in a document type.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise RejectedError(f"track {path}: expected GPX, got XML with a document type")
    if text.count("xmlns") > _NAMESPACES_MAX:
        raise RejectedError(f"track {path}: expected at most {_NAMESPACES_MAX} namespaces")
    return text


def _points(path: Path, text: str, wanted: str | None) -> list[tuple[int, Position]]:
    # Not at the top: it takes an eighth of the start of each command, which rarely has a track.
    import gpxpy.gpx  # noqa: PLC0415

    try:
        gpx = gpxpy.parse(text)
    except (gpxpy.gpx.GPXException, ValueError, RecursionError) as error:
        if any(words in str(error) for words in _ENDS_EARLY):
            raise RejectedError(
                f"track {path}: expected GPX up to its end, </gpx>; the file "
                + ("ends before: it was cut" if text.strip() else "is empty")
            ) from error
        raise RejectedError(f"track {path}: expected GPX: {error}") from error
    points: list[tuple[int, Position]] = []
    spans: list[tuple[int, int, str]] = []
    for name, track in _tracks(path, gpx.tracks, wanted):
        found = [point for segment in track.segments for point in segment.points]
        own = [
            _point(f"track {path}: point {place}", point)
            for place, point in enumerate(found, len(points) + 1)
        ]
        if own:
            times = [utc_ms for utc_ms, _ in own]
            spans.append((min(times), max(times), repr(name)))
        points += own
    _check_apart(path, sorted(spans))
    return points


def _tracks(
    path: Path, found: Sequence["GPXTrack"], wanted: str | None
) -> list[tuple[str, "GPXTrack"]]:
    """Return the tracks to read, each with its name."""
    numbered = [(f"track {number}", track) for number, track in enumerate(found, 1)]
    chosen = [
        (track.name or number, track)
        for number, track in numbered
        if wanted in (None, track.name, number)
    ]
    if found and not chosen:
        names = ", ".join(repr(track.name or number) for number, track in numbered[:_NAMES_SHOWN])
        more = f" and {len(found) - _NAMES_SHOWN} more" if len(found) > _NAMES_SHOWN else ""
        raise RejectedError(f"track {path}: expected a track {wanted!r}, got {names}{more}")
    return chosen


def _check_apart(path: Path, spans: Sequence[tuple[int, int, str]]) -> None:
    """Refuse tracks that put the truck at two places at the same time."""
    for (_, end, name), (start, _, other) in itertools.pairwise(spans):
        if start < end:
            raise RejectedError(
                f"track {path}: expected tracks one after the other, got {name} until "
                f"{rfc3339(end)} and {other} from {rfc3339(start)}: choose one with --track-name, "
                f"by its name or as 'track 2'"
            )


def _point(place: str, point: "GPXTrackPoint") -> tuple[int, Position]:
    if point.time is None:
        raise RejectedError(
            f"{place}: expected a time, got none: no reading can be placed on a track without times"
        )
    if not math.isfinite(point.latitude) or not math.isfinite(point.longitude):
        raise RejectedError(
            f"{place}: expected degrees, got {point.latitude} and {point.longitude}"
        )
    moment = point.time if point.time.tzinfo else point.time.replace(tzinfo=UTC)
    try:
        position = Position(round(point.latitude * _SCALE), round(point.longitude * _SCALE))
    except RejectedError as error:
        raise RejectedError(f"{place}: {error}") from error
    return utc_ms_of(moment), position
