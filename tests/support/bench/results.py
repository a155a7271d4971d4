"""Results made by the benchmark's own runner from random figures."""

import argparse
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hdrh.histogram import HdrHistogram

from contracts.errors import UnavailableError
from storage.bench.run.document import Heading
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.folder import Folder
from storage.bench.run.outcome import (
    Better,
    Ceiling,
    Latencies,
    Metric,
    Observation,
    Outcome,
    Series,
)
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Place, Step, StepGroup
from storage.bench.run.runner import Runner, now
from storage.bench.run.savedrun import SavedRun, opened

NVMEOF: Final = "nvmeof"
SATA: Final = "sata"
HEADING: Final = Heading(
    run="20260101T000000Z-all",
    version="0.1.0",
    command=["wayseal-bench", "all", "--target", "nvmeof=/mnt/a", "--target", "sata=/mnt/b"],
    seed=7,
    quick=False,
    started_at="2026-01-01T00:00:00Z",
    settings={"io": {"video_bytes": 5_390_000_000, "blob_bytes": 1_000_000}, "ledger": {"w": [1]}},
    machine={
        "cpu": {"model": "A CPU of 8 cores", "cores": 8},
        "kernel": "6.12.1",
        "memory_b": 1e10,
    },
    targets=[
        {
            "name": NVMEOF,
            "kind": "volume",
            "interface": "nvme-tcp",
            "directory": "/mnt/a",
            "filesystem": "xfs",
            "mount_options": ["rw", "noatime"],
            "drives": [
                {"name": "nvme1n1", "model": "Linux", "interface": "nvme-tcp", "link": "25 Gb/s"}
            ],
        },
        {
            "name": SATA,
            "kind": "volume",
            "interface": "sata-ssd",
            "directory": "/mnt/b",
            "filesystem": "xfs",
            "mount_options": ["rw"],
            "drives": [
                {
                    "name": "sda",
                    "model": "SSD 870",
                    "interface": "sata-ssd",
                    "link": "SATA 6.0 Gb/s",
                }
            ],
        },
        {"name": "machine", "kind": "machine", "interface": "none"},
    ],
    notes=["Every drive was used as it was found."],
)
SATA_CEILING: Final = Ceiling(600e6, "SATA 6.0 Gb/s, 8b/10b")


class Quiet:
    """Watch nothing."""

    def says(self, words: str) -> None:
        pass

    def stands_at(self, share: float) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Drive:
    """How fast a made-up target is: bytes, operations and transactions per second, and wait."""

    rate: float
    operations: float
    transactions: float
    wait_s: float
    ceiling: Ceiling | None = None


DRIVES: Final = {
    NVMEOF: Drive(2.1e9, 180e3, 640, 120e-6, Ceiling(3.1e9, "25 Gb/s Ethernet")),
    SATA: Drive(0.5e9, 60e3, 610, 310e-6, SATA_CEILING),
}


def made_run(
    directory: Path,
    *,
    heading: Heading = HEADING,
    repetitions: int = 6,
    faster: float = 1.0,
    parts: Sequence[Part] = tuple(Part),
    fails: bool = False,
) -> SavedRun:
    """Return a run of all parts on two targets, through the benchmark's own runner.

    Args:
        directory: Becomes the folder of the run.
        heading: Of the result.
        repetitions: Of each step.
        faster: What all rates are multiplied by.
        parts: Which are in it.
        fails: One step fails each time.
    """
    groups = [
        StepGroup(part, f"{part} made up", 1.0, _opened(part, faster, fails=fails), repetitions)
        for part in parts
    ]
    Runner(Folder(directory), replace(heading, started_at=now()), Quiet()).run(groups)
    return opened(directory)


class MadeUp:
    """A part of the command line that measures nothing real.

    Args:
        middle: What happens in the middle.
    """

    part = Part.OFFLOAD

    def __init__(self, middle: Callable[[], None] | None = None) -> None:
        self._middle = middle

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        pass

    def prepare(self, options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
        del options, stack
        opened_group = _opened(self.part, 1.0, fails=False)
        groups = [StepGroup(self.part, "made up", 1.0, opened_group, setup.repetitions)]
        if self._middle is not None:
            groups.append(StepGroup(self.part, "the middle", 1.0, _happening(self._middle)))
        return Prepared(groups, {"video_bytes": 1})


def ctrl_c() -> None:
    """Interrupt the run, as Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def breakdown() -> None:
    """Fail as a drive may."""
    raise UnavailableError("expected a drive that answers, got EIO")


def defect() -> None:
    """Raise an unexpected error."""
    raise KeyError("no such drive")


def _happening(
    middle: Callable[[], None],
) -> Callable[[], AbstractContextManager[Sequence[Step]]]:
    @contextmanager
    def opened_group() -> Iterator[Sequence[Step]]:
        middle()
        yield []

    return opened_group


def hdr(seconds: Sequence[float]) -> str:
    """Return a histogram in the form of a result."""
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for each in seconds:
        histogram.record_value(max(1, round(each * 1e6)))
    return str(histogram.encode().decode("ascii"))


def _opened(
    part: Part, faster: float, *, fails: bool
) -> Callable[[], AbstractContextManager[Sequence[Step]]]:
    @contextmanager
    def opened_group() -> Iterator[Sequence[Step]]:
        yield [
            *(
                Step(workload, name, _execute(made, drive, faster))
                for workload, made in _MADE[part].items()
                for name, drive in DRIVES.items()
            ),
            *([Step("broken", SATA, _fail)] if fails else []),
        ]

    return opened_group


def _fail(_: Place) -> Outcome:
    raise UnavailableError("expected a drive that answers, got EIO")


Made = Callable[[Drive, random.Random, float], Outcome]


def _execute(made: Made, drive: Drive, faster: float) -> Callable[[Place], Outcome]:
    return lambda place: made(drive, random.Random(place.seed), faster)


def _about(chance: random.Random, value: float) -> float:
    return value * chance.gauss(1, 0.03)


def _waits(chance: random.Random, wait_s: float, count: int) -> str:
    return hdr([wait_s * chance.lognormvariate(0, 0.6) for _ in range(count)])


def _video(drive: Drive, chance: random.Random, faster: float) -> Outcome:
    written, read = (_about(chance, drive.rate * faster * share) for share in (0.16, 0.29))
    return Outcome(
        [
            Observation(Metric("write-mean", "B/s"), written, drive.ceiling),
            Observation(Metric("write-max", "B/s"), written * 2.1, drive.ceiling),
            Observation(Metric("read-mean", "B/s"), read, drive.ceiling),
            Observation(Metric("read-max", "B/s"), read * 2.4, drive.ceiling),
            Observation(Metric("cpu-per-gb", "s/GB", Better.LOWER), _about(chance, 1.4)),
        ],
        _rates(chance, written, read, "writing", "reading"),
        [Latencies("write-response", _waits(chance, drive.wait_s * 40, 900), intended=True)],
    )


def _direct(drive: Drive, chance: random.Random, faster: float) -> Outcome:
    written, read = (_about(chance, drive.rate * faster * share) for share in (0.8, 0.95))
    over = (Raised(Flag.OVER_LINK_RATE, "expected at most 600 MB/s, got 1.05 GB/s"),)
    flags = over if drive.ceiling is SATA_CEILING else ()
    return Outcome(
        [
            Observation(Metric("write-mean", "B/s"), written, drive.ceiling),
            Observation(Metric("write-max", "B/s"), written * 2.1, drive.ceiling, flags),
            Observation(Metric("read-mean", "B/s"), read, drive.ceiling),
            Observation(Metric("read-max", "B/s"), read * 2.2, drive.ceiling, flags),
        ],
        _rates(chance, written, read, "write", "read"),
        [],
        {"fio.json": b"{}\n"},
    )


def _rates(chance: random.Random, written: float, read: float, *names: str) -> list[Series]:
    columns = ["s", "read_bytes_per_s", "written_bytes_per_s"]
    writing = [(second, 0.0, _about(chance, written)) for second in range(30)]
    reading = [(second, _about(chance, read), 0.0) for second in range(20)]
    return [Series(names[0], columns, writing), Series(names[1], columns, reading)]


def _fsync(drive: Drive, chance: random.Random, faster: float) -> Outcome:
    rate = _about(chance, 0.25 / drive.wait_s * faster)
    steady = Raised(Flag.NOT_STEADY, "expected a range of at most 20 % of the mean, got 31 %")
    return Outcome(
        [
            Observation(Metric("fsyncs", "1/s"), rate, None, (steady,)),
            Observation(Metric("fsync-p99", "s", Better.LOWER), drive.wait_s * 4),
        ],
        (),
        [Latencies("fsync", _waits(chance, drive.wait_s, 3000), intended=False)],
    )


def _point(block_bytes: int, depth: int) -> Made:
    def made(drive: Drive, chance: random.Random, faster: float) -> Outcome:
        share = 0.05 * depth**0.5 * block_bytes**0.1
        wait_s = drive.wait_s * depth**0.5 * block_bytes**0.2
        observations = []
        for way, part in (("read", 0.7), ("write", 0.3)):
            rate = _about(chance, drive.rate * faster * share * part)
            observations += [
                Observation(Metric(f"{way}-rate", "B/s"), rate),
                Observation(Metric(f"{way}-latency-p50", "s", Better.LOWER), wait_s),
                Observation(Metric(f"{way}-latency-p99", "s", Better.LOWER), wait_s * 3),
            ]
        return Outcome(observations)

    return made


def _readings(drive: Drive, chance: random.Random, faster: float) -> Outcome:
    rate = _about(chance, drive.transactions * faster)
    rates = [(second, _about(chance, rate), _about(chance, rate)) for second in range(40)]
    node = [(second, _about(chance, 0.4), _about(chance, 2e6)) for second in range(40)]
    return Outcome(
        [
            Observation(Metric("executed-rate", "1/s"), rate * 1.01),
            Observation(Metric("committed-rate", "1/s"), rate),
            Observation(Metric("committed-max", "1/s"), rate * 1.3),
            Observation(Metric("node-written-mean", "B/s", Better.NEITHER), _about(chance, 2e6)),
        ],
        [
            Series("transactions", ["seconds", "executed_per_s", "committed_per_s"], rates),
            Series("node-process", ["seconds", "cpu_cores", "written_bytes_per_s"], node),
        ],
        [Latencies("commit-response", _waits(chance, 0.4, 2000), intended=True)],
    )


def _bep23_load(drive: Drive, chance: random.Random, faster: float) -> Outcome:
    rate = _about(chance, drive.transactions * faster)
    return Outcome(
        [
            Observation(Metric("committed-rate", "1/s"), rate),
            Observation(Metric("finalise-p95", "s", Better.LOWER), _about(chance, 3.2)),
        ],
        attachments={"bep23.csv": _bep23(chance, rate)},
    )


def _bep23(chance: random.Random, rate: float) -> bytes:
    rows = ["txid,size,ts_send,ts_accept,ts_commit,ts_error,ts_intended,ts_exec"]
    for number in range(400):
        sent = 1e9 + number / rate * 10
        accepted = sent + chance.lognormvariate(-4, 0.7)
        commit = accepted + chance.lognormvariate(0.5, 0.4)
        rows.append(f"{number:0128x},765,{sent:.6f},{accepted:.6f},{commit:.6f},,{sent:.6f},")
    return "\n".join(rows).encode() + b"\n"


def _crypto(_: Drive, chance: random.Random, faster: float) -> Outcome:
    return Outcome(
        [
            Observation(Metric("sign", "1/s"), _about(chance, 21e3 * faster)),
            Observation(Metric("verify", "1/s"), _about(chance, 14e3 * faster)),
            Observation(Metric("digest", "B/s"), _about(chance, 1.8e9 * faster)),
        ]
    )


def _trucks(drive: Drive, chance: random.Random, faster: float) -> Outcome:
    return Outcome(
        [
            Observation(Metric("offload-p50", "s", Better.LOWER), _about(chance, 18 / faster)),
            Observation(Metric("readings", "1/s"), _about(chance, drive.transactions * faster)),
            Observation(Metric("video", "B/s"), _about(chance, 0.1 * drive.rate * faster)),
        ]
    )


_MADE: Final[dict[Part, dict[str, Made]]] = {
    Part.SYSTEM: {"secp256k1": _crypto},
    Part.IO: {
        "cassandra": _video,
        "direct": _direct,
        "fsync": _fsync,
        **{
            f"random-{name}-qd{depth}-read70": _point(size, depth)
            for name, size in (("4k", 1 << 12), ("1m", 1 << 20))
            for depth in (1, 32)
        },
    },
    Part.LEDGER: {"poet-readings": _readings, "bep-23-flat-out": _bep23_load},
    Part.OFFLOAD: {"trucks": _trucks},
}


def quick(heading: Heading = HEADING) -> Heading:
    """Return the heading of a quick run."""
    return replace(heading, quick=True)
