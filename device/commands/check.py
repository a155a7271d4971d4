"""`wayseal-device check`: says what files would give a trip, before anything is signed."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from contracts.errors import RejectedError
from contracts.records.clock import rfc3339
from contracts.runtime.commands import FAILED, WORKED, complain
from device.camera.port import UndecodableError
from device.camera.replay import ReplayCamera
from device.commands.output import say
from device.sensors.lines import UTF_16_MARKS, check_no_archive
from device.sensors.mapping import LogOptions
from device.sensors.replay_csv import CsvReplay
from device.sensors.track import Track
from device.tripsource import (
    check_distinct,
    check_gives,
    check_track,
    track_notes,
)

_VIDEO_SUFFIXES: Final = frozenset(
    (".avi", ".m4v", ".mjpeg", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts", ".ts", ".webm")
)
_LOOK_BYTES: Final = 4096


@dataclass(slots=True)
class _Looked:
    """What a file gives: its kind, a line for people, and more of both."""

    path: Path
    kind: Literal["csv", "gpx", "video"]
    text: str = ""
    lines: Sequence[str] = ()
    document: dict[str, object] = field(default_factory=dict)
    log: CsvReplay | None = None
    track: Track | None = None
    camera: ReplayCamera | None = None


def run(arguments: Namespace) -> int:
    """Look at every file; print what it gives. 0 if a trip could be recorded from each of them."""
    kinds: list[tuple[Path, Literal["csv", "gpx", "video"]]] = []
    looked, refused = [], []
    for path in arguments.files:
        try:
            kinds.append((path, _kind(path)))
        except RejectedError as error:
            refused.append(str(error))
    tracked = any(kind == "gpx" for _, kind in kinds)
    options = LogOptions.parse(
        tuple(arguments.map),
        tuple(arguments.without),
        arguments.delimiter,
        arguments.timezone,
        tracked=tracked,
        aligned=arguments.align == "time",
        track_name=arguments.track_name,
    )
    for path, kind in kinds:
        try:
            found = _Looked(path, kind)
            _look(found, options, arguments.limited)
            looked.append(found)
        except RejectedError as error:
            refused.append(str(error))
    refused += _apart(looked, options)
    _say_several(looked)
    try:
        check_distinct([each.camera for each in looked if each.camera])
    except RejectedError as error:
        refused.append(str(error))
    document = {
        "files": [{"file": str(each.path), "kind": each.kind} | each.document for each in looked],
        "refused": refused,
    }
    text = "\n".join(f"{each.path}: {line}" for each in looked for line in (each.text, *each.lines))
    if text or arguments.json:
        say(arguments, document, text)
    sys.stdout.flush()
    for problem in refused:
        complain("wayseal-device", problem)
    return FAILED if refused else WORKED


def _apart(looked: Sequence[_Looked], options: LogOptions) -> list[str]:
    """Return why logs and tracks do not fit each other; say else what the tracks give."""
    tracks = [each for each in looked if each.track]
    problems = []
    for log in [each.log for each in looked if each.log]:
        if not options.tracked and (options.aligned or options.track_name is not None):
            problems += _problem(log, None, options)
        for each in tracks:
            found = _problem(log, each.track, options)
            problems += found
            if each.track and not found:
                each.lines = track_notes(log, each.track)
    return problems


def _say_several(looked: Sequence[_Looked]) -> None:
    for kind, name in (("csv", "log"), ("gpx", "track file")):
        several = [each for each in looked if each.kind == kind]
        if len(several) > 1:
            note = f"a trip takes one {name}: these {len(several)} are looked at each for itself"
            for each in several:
                each.lines = [*each.lines, note]
                each.document["note"] = note


def _problem(log: CsvReplay, track: Track | None, options: LogOptions) -> list[str]:
    try:
        check_track(log, track, options)
    except RejectedError as error:
        return [f"{log.path}: {error}"]
    return []


def _look(found: _Looked, options: LogOptions, limited: Sequence[str]) -> None:
    if found.kind == "csv":
        log = found.log = CsvReplay.check(found.path, options)
        check_gives(log, limited)
        first, last = rfc3339(log.first_ms), rfc3339(log.first_ms + log.duration_ms)
        found.text = f"CSV, {log.rows} rows from {first} to {last}"
        found.lines = log.contents.lines()
        found.document = {
            "rows": log.rows,
            "from": first,
            "to": last,
            "columns": log.contents.document(),
        }
    elif found.kind == "gpx":
        track = found.track = Track.load(found.path, options.track_name)
        points = len(track.times_ms)
        first, last = rfc3339(track.times_ms[0]), rfc3339(track.times_ms[-1])
        found.text = f"GPX, {points} points from {first} to {last}"
        found.document = {"points": points, "from": first, "to": last}
    else:
        _look_at_video(found)


def _look_at_video(found: _Looked) -> None:
    try:
        camera = ReplayCamera.check(found.path)
    except UndecodableError as error:
        found.text = f"a trip would be recorded without it: {error}"
        found.document = {"left_out": str(error)}
        return
    found.camera = camera
    seconds = camera.footage.duration_ms / 1000
    length = f"{seconds:g} s" if seconds else "of unknown length"
    codec = f" {camera.codec}" if camera.codec else ""
    found.text = f"video {camera.footage.media_type}{codec}, {length}, {camera.digest.size} bytes"
    found.lines = camera.notes()
    found.document = {
        "media_type": camera.footage.media_type,
        "codec": camera.codec or None,
        "plays_in_browsers": camera.plays,
        "cut": camera.cut,
        "duration_s": seconds or None,
        "bytes": camera.digest.size,
        "sha256": camera.digest.sha256.hex(),
    }


def _kind(path: Path) -> Literal["csv", "gpx", "video"]:
    """Return what a file is, by its name or else by how it begins."""
    try:
        with path.open("rb") as file:
            head = file.read(_LOOK_BYTES)
            check_no_archive(path, head)
    except OSError as error:
        raise RejectedError(f"{path}: {error}") from error
    suffix = path.suffix.lower()
    if suffix == ".gpx" or (suffix != ".csv" and head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"<"):
        return "gpx"
    if suffix in _VIDEO_SUFFIXES or (
        suffix != ".csv" and b"\0" in head and not head.startswith(UTF_16_MARKS)
    ):
        return "video"
    return "csv"
