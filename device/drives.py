"""Builds drives: from files, or from the simulator."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Source
from contracts.records.clock import ClockOrigin
from device.camera.replay import ReplayCamera
from device.camera.simulated import SimulatedCamera
from device.drive import Drive, source_of
from device.sensors.port import Sample
from device.sensors.replay_csv import CsvReplay
from device.sensors.simulated import SimulatedDrive
from device.simulate import STARTED_AT_MS, csv_lines
from device.track import Track


@dataclass(frozen=True, slots=True)
class TrackedReplay:
    """SensorSource: a log whose positions come from a track stretched over it."""

    log: CsvReplay
    track: Track

    def samples(self) -> Iterator[Sample]:
        """See `SensorSource.samples`; the log's own positions are ignored."""
        for sample in self.log.samples():
            yield replace(sample, position=self.track.at(sample.offset_ms, self.log.duration_ms))


def replayed_drive(
    readings: Path, track: Path | None, videos: Sequence[Path], started_at_ms: int | None
) -> Drive:
    """Check every file from end to end and return the drive they make.

    Args:
        readings: CSV log.
        track: GPX track, stretched over the drive; None keeps the log's own positions.
        videos: Video files, each one recording.
        started_at_ms: UTC of the start, milliseconds; None takes that of the log.

    Raises:
        RejectedError: A file is broken, or a video is given twice.
        UnavailableError: OpenCV is not installed and there are videos.
    """
    log = CsvReplay.check(readings)
    sources = [source_of("readings", readings, log.sha256)]
    route = Track.load(track) if track else None
    if track and route:
        sources.append(source_of("track", track, route.sha256))
    cameras = [ReplayCamera.check(video) for video in videos]
    sources += [source_of("video", camera.path, camera.digest.sha256) for camera in cameras]
    _check_distinct(cameras)
    return Drive(
        TrackedReplay(log, route) if route else log,
        cameras,
        log.first_ms if started_at_ms is None else started_at_ms,
        ClockOrigin.GNSS if route else ClockOrigin.NONE,
        sources,
    )


def simulated_drive(
    minutes: int, seed: int, started_at_ms: int | None = None, *, live: bool = False
) -> Drive:
    """Return a made-up drive; its source is the log that `wayseal-device simulate` would write.

    Raises:
        RejectedError: Too short or too long.
    """
    drive = SimulatedDrive(minutes, seed)
    digest = hashlib.sha256()
    for line in csv_lines(drive):
        digest.update(line.encode())
    name = f"wayseal simulator minutes={minutes} seed={seed}"
    return Drive(
        drive,
        [SimulatedCamera(seed)],
        STARTED_AT_MS if started_at_ms is None else started_at_ms,
        ClockOrigin.NONE,
        [Source(role="simulator", name=name, sha256=digest.digest())],
        live,
    )


def _check_distinct(cameras: Sequence[ReplayCamera]) -> None:
    seen: dict[bytes, Path] = {}
    for camera in cameras:
        sha256 = camera.digest.sha256
        if sha256 in seen:
            raise RejectedError(f"video {camera.path}: the same bytes as {seen[sha256]}")
        seen[sha256] = camera.path
