"""Runs a truck's agent on its own card for a while, and prints what it used, as JSON.

    unshare --mount python -m storage.bench.goals.device.watching FOLDER --warm-s 6 --for-s 60

The card is ext4 in a file: what its block device writes includes the file system's own journal.
Mounts are private, so they end with this process, however it ends.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.processes import tied
from storage.bench.disk import run
from storage.bench.goals.device.quota import quota
from storage.bench.goals.device.sizes import CARD_BYTES
from storage.bench.goals.device.truckfiles import TruckFiles
from storage.bench.servers.groups import joining
from storage.bench.servers.processes import SAID_CHARS_MAX, ask, environment, executable
from storage.bench.servers.usage import cpu_s, peak_bytes, resident_bytes

SAMPLE_S: Final = 0.5
SECTOR_BYTES: Final = 512
_WRITTEN: Final = 6
_FLUSHES: Final = 15
"""Fields of a block device's `stat`, counted from 0. Source: Documentation/block/stat.rst."""
_SYNCS: Final = ("fsync(", "fdatasync(", "sync_file_range(", "msync(", "syncfs(")
_CLASS: Final = "/sys/class"
BEGIN_S: Final = 120
"""With a small share of a core the agent takes long to start."""
_END_S: Final = 120


@dataclass(frozen=True, slots=True)
class Watched:
    """What an agent used.

    Attributes:
        wall_s: For how long it was watched.
        cpu_s: In this time, all threads, user and system.
        peak_bytes: The most that it ever had resident.
        first_bytes: Resident in the first quarter, median.
        last_bytes: Resident in the last quarter, median.
        card_bytes: Written to the card in this time, the file system's own included.
        flushes: Times in this time that the card's cache had to be flushed.
        fsyncs: Calls in this time that wait for the card; 0 if they were not counted.
        readings_per_s: Added to its journal in about this time.
    """

    wall_s: float
    cpu_s: float
    peak_bytes: int
    first_bytes: int
    last_bytes: int
    card_bytes: int
    flushes: int
    fsyncs: int
    readings_per_s: float


@contextmanager
def card(image: Path, folder: Path) -> Iterator[Path]:
    """Mount a new ext4 file system; yield the counters of its block device."""
    with image.open("wb") as file:
        file.truncate(CARD_BYTES)
    run("mkfs.ext4", "-q", str(image))
    folder.mkdir()
    run("mount", "-o", "loop,noatime", str(image), str(folder))
    found = subprocess.run(  # noqa: S603
        ["findmnt", "-no", "SOURCE", str(folder)],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    )
    yield Path("/sys/block") / Path(found.stdout.strip()).name / "stat"


def counted(stat: Path, folder: Path) -> tuple[int, int]:
    """Return bytes written and flushes of a block device, with all that waited to be written."""
    run("sync", "--file-system", str(folder))
    fields = stat.read_text().split()
    flushes = int(fields[_FLUSHES]) if len(fields) > _FLUSHES else 0
    return int(fields[_WRITTEN]) * SECTOR_BYTES, flushes


def syncs(trace: str, since_s: float, until_s: float) -> int:
    """Count the calls that wait for the card in the output of `strace -f -ttt`."""
    count = 0
    for line in trace.splitlines():
        _, at, call = [*line.split(maxsplit=2), "", "", ""][:3]
        if call.startswith(_SYNCS) and since_s <= float(at) <= until_s:
            count += 1
    return count


def watch(files: TruckFiles, stat: Path, options: argparse.Namespace) -> Watched:
    """Run the agent, warm up, and watch it for a while."""
    trace = files.directory / "trace"
    command = _command(files, options, trace)
    with (
        (files.directory / "agent.log").open("wb") as log,
        quota(options.share) if options.share else nullcontext() as group,
        subprocess.Popen(  # noqa: S603 - our own command
            tied(joining(group, command)), stderr=log, env=environment() | _VARIABLES
        ) as process,
    ):
        _await_readings(files)
        time.sleep(options.warm_s)
        pid = _child(process.pid) if options.traced else process.pid
        earlier, counted_s = _readings(files), time.monotonic()
        before, used_s = counted(stat, files.card), cpu_s(pid)
        began_s, at_s = time.monotonic(), time.time()
        samples = []
        while (left_s := began_s + options.for_s - time.monotonic()) > 0:
            time.sleep(min(SAMPLE_S, left_s))
            samples.append(resident_bytes(pid))
        wall_s, used_s = time.monotonic() - began_s, cpu_s(pid) - used_s
        until_s, after, peak = time.time(), counted(stat, files.card), peak_bytes(pid)
        readings_per_s = (_readings(files) - earlier) / (time.monotonic() - counted_s)
        os.kill(pid, signal.SIGTERM)
        if process.wait(_END_S):
            said = (files.directory / "agent.log").read_text("utf-8", "replace")
            raise UnavailableError(f"the agent failed: {said[-SAID_CHARS_MAX:]}")
    quarter = max(1, len(samples) // 4)
    return Watched(
        wall_s,
        used_s,
        peak,
        round(statistics.median(samples[:quarter])),
        round(statistics.median(samples[-quarter:])),
        after[0] - before[0],
        after[1] - before[1],
        syncs(trace.read_text(), at_s, until_s) if options.traced else 0,
        readings_per_s,
    )


_VARIABLES: Final = {"GPIOZERO_PIN_FACTORY": "mock"}


def _command(files: TruckFiles, options: argparse.Namespace, trace: Path) -> list[str | Path]:
    command: list[str | Path] = [executable("wayseal-device"), "--config", files.settings, "run"]
    if not options.traced:
        return command
    calls = ",".join(each.rstrip("(") for each in _SYNCS)
    return ["strace", "-f", "-ttt", "-o", trace, "-e", f"trace={calls}", *command]


def _child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _await_readings(files: TruckFiles) -> None:
    """Return once the agent has journalled something.

    Raises:
        UnavailableError: It does not in time.
    """
    until_s = time.monotonic() + BEGIN_S
    while not _readings(files):
        if time.monotonic() > until_s:
            raise UnavailableError(f"expected readings within {BEGIN_S} s, got none")
        time.sleep(SAMPLE_S)


def _readings(files: TruckFiles) -> int:
    said = json.loads(ask(["wayseal-device", "--config", files.settings, "status", "--json"]))
    return sum(int(trip["readings"]) for trip in said["trips"])


def main() -> int:
    """Run the agent of a truck whose settings are there, and print what it used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--warm-s", type=float, required=True)
    parser.add_argument("--for-s", type=float, required=True)
    parser.add_argument("--share", type=float, help="of one core")
    parser.add_argument("--traced", action="store_true", help="count calls of fsync and the like")
    options = parser.parse_args()
    directory = options.directory.absolute()
    files = TruckFiles(directory, directory / "card")
    if files.chips.exists():
        run("mount", "--bind", str(files.chips), _CLASS)
    with card(directory / "card.img", files.card) as stat:
        ask(["wayseal-device", "--config", files.settings, "init"])
        sys.stdout.write(json.dumps(asdict(watch(files, stat, options))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
