"""Uploads to a real gateway over loopback: how fast, and how much memory they take."""

import shutil
import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from contracts.files import make_directory
from contracts.records.recording import RecordingDigest
from storage.bench.checkpoint import GatewayFiles, node
from storage.bench.disk import cool
from storage.bench.filmed import DEVICE, filmed_trip
from storage.bench.ours.storage.media import MIB, dd_twice, run, sparse_file, timed
from storage.bench.ours.storage.pairs import Pair, interleaved
from storage.bench.procfs import peak_mb, resident_mb
from storage.bench.sender import announce, send

SAMPLE_S: Final = 0.5
SAMPLES_SHOWN: Final = 120


def uploads(directory: Path, payload: Path, repetitions: int) -> list[Pair]:
    """Upload a file, each time to a new gateway, beside dd of twice as much and sha256sum.

    Args:
        directory: For gateways and dd; what is made there is removed.
        payload: Random bytes, synced.
        repetitions: How often.
    """
    digest = RecordingDigest.of_file(payload)

    def ours(_: int) -> float:
        return upload_once(directory / "checkpoint", payload, digest)[0]

    def limit(_: int) -> dict[str, float]:
        cool(payload)
        dd_s = timed(lambda: dd_twice(payload, directory / "dd"))
        cool(payload)
        return {"dd_twice": dd_s, "sha256sum": timed(lambda: run("sha256sum", str(payload)))}

    return interleaved(repetitions, ours, limit)


def memory(directory: Path, size: int) -> dict[str, Any]:
    """Return what a gateway has resident while it takes a recording of zeros, in MB."""
    source = sparse_file(directory / "sparse", size)
    try:
        digest = RecordingDigest.of_file(source)
        took_s, peak, samples = upload_once(directory / "checkpoint", source, digest)
    finally:
        source.unlink()
    quarter = max(1, len(samples) // 4)
    step = max(1, len(samples) // SAMPLES_SHOWN)
    return {
        "mib": size // MIB,
        "peak_mb": peak,
        "first_quarter_mb": statistics.median(samples[:quarter]),
        "last_quarter_mb": statistics.median(samples[-quarter:]),
        "mib_per_s": round(size / MIB / took_s, 1),
        "samples_mb": samples[::step],
    }


def upload_once(
    directory: Path, path: Path, digest: RecordingDigest
) -> tuple[float, int, list[int]]:
    """Let a new gateway take one recording; remove it and all that it stored.

    Returns:
        Seconds until all was durable, the most memory it had, and what it had meanwhile, in MB.
    """
    make_directory(directory)
    try:
        with node(directory / "node") as ledger:
            files = GatewayFiles.made(directory / "gateway", ledger.addresses["rest"])
            token = files.token(DEVICE, "device")
            with files.serving() as gateway:
                announce(gateway.addresses["mqtt"], token, digest, filmed_trip(digest))
                cool(path)
                with _sampling(gateway.pid) as samples:
                    took_s = send(gateway.addresses["rest"], token, path, digest)
                return took_s, peak_mb(gateway.pid), samples
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _sampling(pid: int) -> Iterator[list[int]]:
    """Collect what a process has resident, in MB; at least once."""
    samples = [resident_mb(pid)]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLE_S):
            samples.append(resident_mb(pid))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()
