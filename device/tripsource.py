"""The source of a trip: files or the simulator, checked as a whole before signing begins.

A trip's start names every file that it was made from, with its SHA-256. If the user chose how to
read the files, role `options` has the choices: the columns, the quantities that the log lacks, the
track. A video that is cut has a second entry of role `cut`. A file that is not a video is left out,
and its entry has role `left-out`.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from contracts.actions.form import RECORDINGS_MAX, SOURCES_MAX
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Source
from contracts.records.clock import check_utc_ms, now_ms, rfc3339
from contracts.records.recording import RecordingDigest
from device.camera.port import Camera, UndecodableError
from device.camera.replay import ReplayCamera
from device.camera.simulated import SimulatedCamera
from device.live.source import LiveSource
from device.sensors.mapping import PLAIN, LogOptions
from device.sensors.port import Sample, SensorSource
from device.sensors.replay_csv import CsvReplay
from device.sensors.simulated import SimulatedTrip
from device.sensors.track import Track
from device.sensors.written import STARTED_AT_MS, csv_lines

ROLES: Final = ("readings", "track", "video", "cut", "left-out", "simulator", "options")
STRETCHED_ALL_THE_SAME: Final = (
    "its times match the log's, and it is stretched over the trip all the same: --align time gives "
    "each reading the position of its own time"
)
_MATCHES_FROM: Final = 0.5
"""Times match if the track covers that share of the log's."""


@dataclass(frozen=True, slots=True)
class TripSource:
    """Everything that one trip is recorded from.

    Attributes:
        sensors: Samples, from the trip's start; or sensors that measure here and now.
        cameras: Each makes one recording, from the trip's start.
        started_at_ms: UTC of the start, milliseconds since the Unix epoch. A live source takes
            the machine's clock instead.
        derived_from: The files or the simulator behind it; empty if everything is measured.
        live: Each sample gets the machine's time at that moment.
        log: The log behind it; None for the simulator, which gives every quantity.
        notes: What the user should know about track and videos, a line each.

    Raises:
        RejectedError: The ledger's rules would refuse such a trip.
    """

    sensors: SensorSource | LiveSource
    cameras: Sequence[Camera]
    started_at_ms: int
    derived_from: Sequence[Source]
    live: bool = False
    log: CsvReplay | None = None
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check what the rules would refuse, so that every trip that starts can also end."""
        if len(self.derived_from) > SOURCES_MAX or len(self.cameras) > RECORDINGS_MAX:
            raise RejectedError(
                f"a trip is made from up to {SOURCES_MAX} files with up to {RECORDINGS_MAX} "
                f"recordings, got {len(self.derived_from)} with {len(self.cameras)}"
            )
        check_utc_ms("start", self.started_at_ms)

    @property
    def is_measured(self) -> bool:
        """Whether it is measured here and now: no two trips from it are the same."""
        return isinstance(self.sensors, LiveSource)

    @property
    def interval_ms(self) -> int:
        """Time from one sample to the next that is measured, milliseconds; 0 for files."""
        return round(self.sensors.interval_s * 1000) if isinstance(self.sensors, LiveSource) else 0

    @property
    def input_id(self) -> bytes:
        """Identify the input, 32 bytes: an interrupted trip continues with the same input only."""
        names = [[source.role, source.name, source.sha256.hex()] for source in self.derived_from]
        start = None if self.live else self.started_at_ms
        return hashlib.sha256(json.dumps([names, start]).encode()).digest()

    def lines(self) -> list[str]:
        """Return for people what the files give, a line each."""
        if self.log is None:
            return [*self.notes]
        name = self.log.path.name
        return [*(f"{name}: {line}" for line in self.log.contents.lines()), *self.notes]

    def document(self) -> dict[str, object]:
        """Return for programs what the files give; empty for the simulator."""
        if self.log is None:
            return {}
        left_out = [source.name for source in self.derived_from if source.role == "left-out"]
        return {
            "columns": self.log.contents.document(),
            "notes": list(self.notes),
            "left_out": left_out,
        }

    def check_gives(self, limited: Sequence[str]) -> None:
        """Check, before departure, that the source gives what deliveries of the trip limit.

        Raises:
            RejectedError: It does not, and the user did not say so.
        """
        if self.log is not None:
            check_gives(self.log, limited)


@dataclass(frozen=True, slots=True)
class TrackedReplay:
    """SensorSource: a log whose positions come from a track, stretched or by time."""

    log: CsvReplay
    track: Track

    def samples(self) -> Iterator[Sample]:
        """See `SensorSource.samples`; the log's own positions are ignored."""
        log, track = self.log, self.track
        for sample in log.samples():
            if log.options.aligned:
                position = track.at_time(log.first_ms + sample.offset_ms)
            else:
                position = track.at(sample.offset_ms, log.duration_ms)
            yield replace(sample, position=position)


def replayed_trip(
    readings: Path,
    track: Path | None,
    videos: Sequence[Path],
    started_at_ms: int | None,
    options: LogOptions = PLAIN,
) -> TripSource:
    """Check every file from end to end and return the source they make.

    Args:
        readings: CSV log.
        track: GPX track, stretched over the trip or by time; None keeps the log's own positions.
        videos: Video files, one recording each.
        started_at_ms: UTC of the start, milliseconds; None takes the log's first time.
        options: How to read log and track. The trip's start names those that were given.

    Raises:
        RejectedError: Log or track is broken, a video cannot be read, or is given twice. A video
            of which no frame decodes is left out.
        UnavailableError: There are videos and OpenCV is not installed.
    """
    log = CsvReplay.check(readings, replace(options, tracked=track is not None))
    sources = [source_of("readings", readings, log.sha256)]
    notes: list[str] = []
    said = options.text()
    if started_at_ms not in (None, log.first_ms):
        said = f"{said} --start {rfc3339(started_at_ms)}".lstrip()
        notes.append(
            f"{readings.name}: its times are moved: the trip starts at {rfc3339(started_at_ms)}, "
            f"the log at {rfc3339(log.first_ms)}"
        )
    if said:
        sources.append(Source(role="options", name=said, sha256=log.sha256))
    route = Track.load(track, options.track_name) if track else None
    if options.aligned or options.track_name is not None:
        check_track(log, route, options)
    if track and route:
        sources.append(source_of("track", track, route.sha256))
        notes += [f"{track.name}: {note}" for note in track_notes(log, route)]
    cameras, left_out = _cameras(videos, notes)
    for camera in cameras:
        roles = ("video", "cut") if camera.cut else ("video",)
        sources += [source_of(role, camera.path, camera.digest.sha256) for role in roles]
        notes += [f"{camera.path.name}: {note}" for note in camera.notes()]
    sources += left_out
    return TripSource(
        TrackedReplay(log, route) if route else log,
        cameras,
        log.first_ms if started_at_ms is None else started_at_ms,
        sources,
        log=log,
        notes=notes,
    )


def simulated_trip(
    minutes: int, seed: int, started_at_ms: int | None = None, *, live: bool = False
) -> TripSource:
    """Return a simulated trip; its source is the log that `wayseal-device simulate` would write.

    Raises:
        RejectedError: Too short or too long.
    """
    return simulated_source(
        SimulatedTrip(minutes, seed),
        [SimulatedCamera(seed)],
        f"wayseal simulator minutes={minutes} seed={seed}",
        started_at_ms=STARTED_AT_MS if started_at_ms is None else started_at_ms,
        live=live,
    )


def simulated_source(
    sensors: SensorSource,
    cameras: Sequence[Camera],
    name: str,
    *,
    started_at_ms: int = STARTED_AT_MS,
    live: bool = False,
) -> TripSource:
    """Return the source of simulated `sensors`, which the trip's start names `name`."""
    digest = hashlib.sha256()
    for line in csv_lines(sensors):
        digest.update(line.encode())
    simulator = Source(role="simulator", name=name, sha256=digest.digest())
    return TripSource(sensors, cameras, started_at_ms, [simulator], live)


def measured_trip(sensors: LiveSource) -> TripSource:
    """Return a trip of what sensors measure here and now."""
    return TripSource(sensors, [], now_ms(), [], live=True)


def _cameras(
    videos: Sequence[Path], notes: list[str]
) -> tuple[Sequence[ReplayCamera], Sequence[Source]]:
    """Return the videos to record and what the ledger keeps of the others; note the latter."""
    cameras: list[ReplayCamera] = []
    left_out: list[Source] = []
    for video in videos:
        try:
            cameras.append(ReplayCamera.check(video))
        except UndecodableError as error:
            left_out.append(source_of("left-out", video, RecordingDigest.of_file(video).sha256))
            notes.append(f"{video.name}: left out of the trip: {error}")
    check_distinct(cameras)
    return cameras, left_out


def check_track(log: CsvReplay, track: Track | None, options: LogOptions) -> None:
    """Check that there is a track if options need one, and that it fits the log's time.

    Raises:
        RejectedError: The track is missing, or has no time in common with the log.
    """
    if track is None:
        option = "--align time" if options.aligned else "--track-name"
        raise RejectedError(f"{option}: expected a track, got none")
    if options.aligned and not have_common_times(log, track):
        first, last = log.first_ms, log.first_ms + log.duration_ms
        raise RejectedError(
            f"--align time: expected a track at the log's time, {rfc3339(first)} to "
            f"{rfc3339(last)}, got one from {rfc3339(track.times_ms[0])} to "
            f"{rfc3339(track.times_ms[-1])}: without --align it is stretched over the trip"
        )


def track_notes(log: CsvReplay, track: Track) -> list[str]:
    """Return what a track gives to the readings of a log, a line each."""
    span = f"{rfc3339(track.times_ms[0])} to {rfc3339(track.times_ms[-1])}"
    points = f"{len(track.times_ms)} points, {span}"
    unplaced, doubts = track.unplaced(), []
    if unplaced:
        doubts.append(
            f"latitude 0, longitude 0 in {unplaced} of {len(track.times_ms)} points of the track, "
            "as receivers without a fix write it: readings get positions on the way there; remove "
            "those points"
        )
    if log.options.aligned:
        placed = sum(sample.position is not None for sample in TrackedReplay(log, track).samples())
        return [f"{points}: {placed} of {log.rows} readings get a position", *doubts]
    stretched = f"{points}, stretched over the trip: each reading gets a position"
    first, last = log.first_ms, log.first_ms + log.duration_ms
    common_ms = min(last, track.times_ms[-1]) - max(first, track.times_ms[0])
    matches = common_ms >= 0 and common_ms >= _MATCHES_FROM * log.duration_ms
    return [stretched, *([STRETCHED_ALL_THE_SAME] if matches else []), *doubts]


def have_common_times(log: CsvReplay, track: Track) -> bool:
    """Say whether log and track have some time in common."""
    first, last = log.first_ms, log.first_ms + log.duration_ms
    return track.times_ms[0] <= last and first <= track.times_ms[-1]


def check_gives(log: CsvReplay, limited: Sequence[str]) -> None:
    """Check that `log` gives the quantities that deliveries limit.

    Raises:
        RejectedError: It does not, and the user did not say so.
    """
    for quantity in limited:
        if not log.contents.values[quantity] and quantity not in log.options.without:
            raise RejectedError(
                f"{log.path}: gives no {quantity}, which the trip's deliveries limit "
                f"(trip.limited), so nobody could say that the limit was kept; write "
                f"--map {quantity}=COLUMN, or --without {quantity} to depart all the same, "
                f"which the ledger then says; " + "; ".join(log.contents.lines())
            )


def source_of(role: str, path: Path, sha256: bytes) -> Source:
    """Return what the ledger keeps of a source file: its role, bare name and SHA-256."""
    if role not in ROLES:
        raise RejectedError(f"role must be one of {', '.join(ROLES)}: {role!r}")
    return Source(role=role, name=path.name, sha256=sha256)


def check_distinct(cameras: Sequence[ReplayCamera]) -> None:
    """Check that no two videos have the same bytes.

    Raises:
        RejectedError: Two have.
    """
    seen: dict[bytes, Path] = {}
    for camera in cameras:
        sha256 = camera.digest.sha256
        if sha256 in seen:
            raise RejectedError(f"video {camera.path}: the same bytes as {seen[sha256]}")
        seen[sha256] = camera.path
