"""A video into a gateway on a volume and out of it again, with CPU, memory and traffic."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.records.recording import RecordingDigest
from storage.bench.disk import cool_all
from storage.bench.io.auditors import Auditor, Audits, RangesRead, Video, gateway_errors
from storage.bench.io.figures import Cpu, DeviceTraffic, cpu, invalid
from storage.bench.io.ground import Ground
from storage.bench.io.sampler import sampling
from storage.bench.ledger.committing import commit
from storage.bench.run.latency import latencies
from storage.bench.run.outcome import Better, Latencies, Metric, Observation, Outcome, Work
from storage.bench.run.plan import Place
from storage.bench.servers.usage import forget_peak, peak_mb
from storage.bench.trucks.filmed import filmed_trip
from storage.bench.trucks.payload import Payload
from storage.bench.trucks.sender import announce, send

PEAK_MEMORY: Final = Metric("peak-memory", "B", Better.LOWER)
_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A gateway with its data on one volume, and its node.

    Attributes:
        data: Directory of all its data.
        pid: Of the gateway.
        token: Of the device that uploads.
    """

    ground: Ground
    data: Path
    pid: int
    rest: str
    mqtt: str
    token: str
    ledger: str
    auditors: Sequence[Auditor]

    def film(self, place: Place, pieces: int) -> tuple[Video, Path]:
        """Make a video, commit its trip, and offer it: everything before the upload of the bytes.

        Raises:
            RejectedError: The ledger or the gateway refuses it.
            UnavailableError: The ledger or the gateway does not answer.
        """
        payload = Payload(place.seed, pieces)
        path = payload.write_to(place.scratch / "video")
        video = Video(payload, RecordingDigest.of_file(path))
        trip = filmed_trip(video.digest)
        commit(self.ledger, trip.before)
        with gateway_errors():
            announce(self.mqtt, self.token, video.digest, trip)
        return video, path

    def take(self, video: Video, path: Path) -> float:
        """Upload a video's bytes; return seconds until both copies are durable.

        Raises:
            RejectedError: The gateway does not take it.
            UnavailableError: It does not answer.
        """
        with gateway_errors():
            return send(self.rest, self.token, path, video.digest)

    def cool(self) -> None:
        """Drop the gateway's data from the page cache."""
        cool_all(self.data)


def in_and_out(checkpoint: Checkpoint, pieces: int, place: Place) -> Outcome:
    """Upload a new video, drop it from the page cache, and read it back in ranges, in order.

    Raises:
        RejectedError: The gateway or the ledger refuses something.
        UnavailableError: One of them does not answer.
    """
    video, path = checkpoint.film(place, pieces)
    size, pid = video.payload.size, checkpoint.pid
    forget_peak(pid)
    with place.counted():
        before = Cpu.now(pid)
        with sampling(checkpoint.ground) as uploading:
            took_s = checkpoint.take(video, path)
        upload_cpu = cpu("upload", size, before, pid)
        watcher = checkpoint.auditors[0]
        watcher.wait_until_listed(video)
        checkpoint.cool()
        before = Cpu.now(pid)
        with sampling(checkpoint.ground) as streaming:
            seen = watcher.watch(video, video.ranges)
        stream_cpu = cpu("stream", size, before, pid)
    wrong, ground = invalid(seen.wrong), checkpoint.ground
    sink, source = DeviceTraffic(ground, uploading), DeviceTraffic(ground, streaming)
    flags = (*wrong, *source.cached(size))
    observations = [
        sink.rate("upload-rate", size / took_s, *wrong),
        *sink.seconds("write", *wrong),
        source.rate("stream-rate", seen.size / seen.elapsed_s, *flags),
        *source.seconds("read", *flags),
        *sink.amplification(size),
        *upload_cpu,
        *stream_cpu,
        Observation(PEAK_MEMORY, peak_mb(pid) * _MB),
    ]
    tables = [*uploading.series("uploading"), *streaming.series("streaming")]
    return Outcome(observations, tables, [_ranges(seen)], work=Work(size + seen.size))


def both_at_once(checkpoint: Checkpoint, audited: Video, pieces: int, place: Place) -> Outcome:
    """Upload a new video while auditors read an earlier one in random ranges.

    Raises:
        RejectedError: The gateway or the ledger refuses something.
        UnavailableError: One of them does not answer.
    """
    video, path = checkpoint.film(place, pieces)
    size, pid = video.payload.size, checkpoint.pid
    audits = Audits(checkpoint.auditors, audited, place.seed, checkpoint.cool)
    uploads_s: list[float] = []
    forget_peak(pid)
    with place.counted():
        before = Cpu.now(pid)
        with sampling(checkpoint.ground) as both:
            seen = audits.run(lambda: uploads_s.append(checkpoint.take(video, path)))
        used = cpu("mixed", size + seen.size, before, pid)
    moved = DeviceTraffic(checkpoint.ground, both)
    flags = (*invalid(seen.wrong), *moved.cached(seen.size))
    observations = [
        moved.rate("upload-rate", size / uploads_s[0]),
        moved.rate("audit-rate", seen.size / seen.elapsed_s, *flags),
        *moved.seconds("write"),
        *moved.seconds("read", *flags),
        *used,
        Observation(PEAK_MEMORY, peak_mb(pid) * _MB),
    ]
    work = Work(size + seen.size)
    return Outcome(observations, both.series("mixed"), [_ranges(seen)], work=work)


def _ranges(seen: RangesRead) -> Latencies:
    return latencies("range-response", seen.took_s, intended=False)
