"""Uploads to a real gateway over loopback: how fast, and how much memory they take."""

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from contracts.records.recording import RecordingDigest
from contracts.runtime.files import make_directory
from storage.bench.commands.measuring import HERE
from storage.bench.disk import MIB, cool, dd_twice, random_file, run, sparse_file, timed
from storage.bench.goals.storage.pairs import Turns
from storage.bench.goals.storage.sizes import StorageSizes
from storage.bench.run.outcome import Better, Metric, Observation, Outcome, Series
from storage.bench.run.plan import Place, Step
from storage.bench.run.savedrun import SavedRun
from storage.bench.servers.checkpoint import GatewayFiles, node
from storage.bench.servers.usage import cpu_s, peak_bytes, resident_bytes
from storage.bench.trucks.filmed import DEVICE, filmed_trip
from storage.bench.trucks.sender import announce, send

UPLOAD: Final = "upload"
MEMORY: Final = "memory"
PEAK: Final = Metric("gateway-memory-peak", "B", Better.LOWER)
RATE: Final = Metric("upload-rate", "B/s")
CPU: Final = Metric("gateway-cpu-per-gb", "s", Better.LOWER)
"""User and system, all threads of the gateway's process, from the first request to the last."""
MB: Final = 1_000_000
GB: Final = 1_000_000_000
SAMPLE_S: Final = 0.5
SAMPLES_SHOWN: Final = 120


@contextmanager
def upload_steps(directory: Path, sizes: StorageSizes) -> Iterator[Sequence[Step]]:
    """Yield the upload of a file to a new gateway, beside dd of twice as much and sha256sum.

    What the gateways stored stays until the end: for minutes after thousands of files were deleted,
    ext4 looks at each of their inodes whenever it makes a file, and that would count as ours.
    """
    payload = random_file(directory / "payload", sizes.payload_mib * MIB)
    digest = RecordingDigest.of_file(payload)

    took: list[Uploaded] = []

    def ours() -> float:
        took.append(upload_once(directory / f"checkpoint-{len(took)}", payload, digest))
        return took[-1].elapsed_s

    def limit() -> dict[str, float]:
        cool(payload)
        dd_s = timed(lambda: dd_twice(payload, directory / "dd"))
        cool(payload)
        return {"dd_twice": dd_s, "sha256sum": timed(lambda: run("sha256sum", str(payload)))}

    turns = Turns(ours, limit)

    def execute(place: Place) -> Outcome:
        outcome = turns.execute(place)
        used = Observation(CPU, took[-1].cpu_s * GB / digest.size)
        return replace(outcome, observations=[*outcome.observations, used])

    yield [Step(UPLOAD, HERE, execute)]


def cpu_summary(run: SavedRun) -> dict[str, Any]:
    """Return the seconds of CPU that a gateway used for a GB: the median, and each run's."""
    (values,) = (
        each["values"]
        for each in run.result["figures"]
        if (each["workload"], each["metric"]) == (UPLOAD, CPU.name)
    )
    return {
        "upload_cpu_s_per_gb": round(statistics.median(values), 2),
        "upload_cpu_s_per_gb_runs": [round(each, 2) for each in values],
    }


@contextmanager
def memory_steps(directory: Path, sizes: StorageSizes) -> Iterator[Sequence[Step]]:
    """Yield the upload of zeros, during which the gateway's memory is watched."""
    source = sparse_file(directory / "sparse", sizes.memory_mib * MIB)
    digest = RecordingDigest.of_file(source)

    def execute(place: Place) -> Outcome:
        with place.counted():
            uploaded = upload_once(directory / "checkpoint", source, digest)
        figures = {PEAK: uploaded.peak_bytes, RATE: digest.size / uploaded.elapsed_s}
        return Outcome(
            [Observation(metric, value) for metric, value in figures.items()],
            [Series(MEMORY, ("s", "resident_bytes"), uploaded.samples)],
        )

    yield [Step(MEMORY, HERE, execute)]


def memory_summary(run: SavedRun, mib: int) -> dict[str, Any]:
    """Return what a gateway had resident while it took a recording of zeros, in MB."""
    (execution,) = (each for each in run.result["executions"] if each["workload"] == MEMORY)
    found = {
        each["metric"]: each["median"]
        for each in run.result["figures"]
        if each["workload"] == MEMORY
    }
    samples = [int(each) // MB for each in run.table(execution, MEMORY).column("resident_bytes")]
    quarter = max(1, len(samples) // 4)
    step = max(1, len(samples) // SAMPLES_SHOWN)
    return {
        "mib": mib,
        "peak_mb": int(found[PEAK.name]) // MB,
        "first_quarter_mb": statistics.median(samples[:quarter]),
        "last_quarter_mb": statistics.median(samples[-quarter:]),
        "mib_per_s": round(found[RATE.name] / MIB, 1),
        "samples_mb": samples[::step],
    }


@dataclass(frozen=True, slots=True)
class Uploaded:
    """One recording that a gateway took.

    Attributes:
        elapsed_s: From the first request until all copies were durable.
        cpu_s: Of the gateway in this time, user and system.
        peak_bytes: The most memory that the gateway ever had resident.
        samples: Seconds since the upload began, and bytes resident then; at least one.
    """

    elapsed_s: float
    cpu_s: float
    peak_bytes: int
    samples: Sequence[tuple[float, int]]


def upload_once(directory: Path, path: Path, digest: RecordingDigest) -> Uploaded:
    """Let a new gateway, with a new directory, take one recording; what it stored stays."""
    make_directory(directory)
    with node(directory / "node") as ledger:
        files = GatewayFiles.made(directory / "gateway", ledger.addresses["rest"])
        token = files.token(DEVICE, "device")
        with files.serving() as gateway:
            announce(gateway.addresses["mqtt"], token, digest, filmed_trip(digest))
            cool(path)
            before_s = cpu_s(gateway.pid)
            with _sampling(gateway.pid) as samples:
                took_s = send(gateway.addresses["rest"], token, path, digest)
            used_s = cpu_s(gateway.pid) - before_s
            return Uploaded(took_s, used_s, peak_bytes(gateway.pid), samples)


@contextmanager
def _sampling(pid: int) -> Iterator[list[tuple[float, int]]]:
    """Collect the resident memory of a process over time."""
    start_s = time.monotonic()
    samples = [(0.0, resident_bytes(pid))]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLE_S):
            samples.append((time.monotonic() - start_s, resident_bytes(pid)))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()
