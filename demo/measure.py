"""`make measure`: the figures of docs/performance.md, each beside the limit it is held against.

Prints one JSON object as its last line and writes it to build/measure.json.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError, WaysealError
from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.processes import run
from demo.truck import Truck

DIRECTORY: Final = Path("build/measure")
RESULT: Final = Path("build/measure.json")
MIB: Final = 1 << 20
SECONDS_PER_READING: Final = 5
POLL_S: Final = 0.05


def main() -> None:
    """Measure readings, upload and memory."""
    options = _parse()
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir(parents=True)
    appliance = Appliance(DIRECTORY.resolve() / "site-b")
    try:
        appliance.start()
        appliance.register_network()
        result = {
            "readings": _readings(appliance, options.readings, options.runs),
            "upload": _upload(appliance, options.video_mib, options.runs),
        }
    except WaysealError as error:
        sys.exit(f"measure: failed {error}")
    finally:
        appliance.stop()
        shutil.rmtree(DIRECTORY, ignore_errors=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result))


def _readings(appliance: Appliance, count: int, runs: int) -> dict[str, Any]:
    """Measure readings committed per second, from the agent's start to its receipt."""
    drive = DIRECTORY / "drive"
    minutes = -(-count * SECONDS_PER_READING // 60)
    _simulate(drive, minutes)
    rates = []
    for number in range(runs):
        truck = Truck(DIRECTORY.resolve() / f"truck-r{number}", f"truck-r{number}")
        truck.join(appliance)
        trip = truck.ask("record", "--readings", str(drive / "readings.csv"), "--speed", "max")
        seconds, _ = _offload(truck)
        rates.append(trip["readings"] / seconds)
    return {
        "count": trip["readings"],
        "runs_per_s": [round(rate) for rate in rates],
        "median_per_s": round(statistics.median(rates)),
    }


def _upload(appliance: Appliance, size_mib: int, runs: int) -> dict[str, Any]:
    """Measure a recording's way to two fsynced copies beside dd of both and sha256sum of one."""
    drive = DIRECTORY / "short"
    _simulate(drive, 20)
    rows = []
    for number in range(runs):
        video = DIRECTORY.resolve() / "long.avi"
        _pad(drive / "video.avi", video, size_mib * MIB)
        truck = Truck(DIRECTORY.resolve() / f"truck-v{number}", f"truck-v{number}")
        truck.join(appliance)
        files = ("--readings", str(drive / "readings.csv"), "--video", str(video))
        truck.ask("record", *files, "--speed", "max")
        dd_s = _timed(["dd", f"if={video}", f"of={video}.1", "bs=1M", "conv=fsync"])
        dd_s += _timed(["dd", f"if={video}", f"of={video}.2", "bs=1M", "conv=fsync"])
        sha_s = _timed(["sha256sum", str(video)])
        for copy in (video, Path(f"{video}.1"), Path(f"{video}.2")):
            copy.unlink()
        _, upload_s = _offload(truck, appliance)
        rows.append((upload_s, dd_s, sha_s))
    upload_s, dd_s, sha_s = (statistics.median(column) for column in zip(*rows, strict=True))
    ratios = [max(dd, sha) / upload for upload, dd, sha in rows]
    return {
        "mib": size_mib,
        "upload_mib_per_s": round(size_mib / upload_s, 1),
        "dd_both_copies_mib_per_s": round(size_mib / dd_s, 1),
        "sha256sum_mib_per_s": round(size_mib / sha_s, 1),
        "ratio_runs": [round(ratio, 2) for ratio in ratios],
        "ratio": round(statistics.median(ratios), 2),
        "gateway_peak_mb": _peak_mb(appliance.gateway.pid) if appliance.gateway else None,
        "node_peak_mb": _peak_mb(appliance.node.pid) if appliance.node else None,
    }


def _offload(truck: Truck, appliance: Appliance | None = None) -> tuple[float, float]:
    """Return seconds of the whole offload, and from the first byte of video to the last."""
    operator = None
    if appliance is not None:
        operator = Auditor(appliance.rest, appliance.token(truck.device_id + "-op", "operator"))
    start = time.monotonic()
    agent = truck.begin("offload")
    first = last = 0.0
    while agent.poll() is None:
        time.sleep(POLL_S)
        if operator is not None and not last:
            first, last = _progress(operator, truck.device_id, first)
    seconds = time.monotonic() - start
    said = agent.stdout.read() if agent.stdout else ""
    if operator is not None:
        operator.close()
    if agent.returncode:
        raise UnavailableError(f"offload ended with {agent.returncode}: {said[-500:]}")
    return seconds, last - first


def _progress(operator: Auditor, device_id: str, first: float) -> tuple[float, float]:
    """Return when the upload began and when it was whole, zero while it is not."""
    now = time.monotonic()
    for offload in operator.ask("/v1/offloads"):
        if offload["device_id"] == device_id:
            for recording in offload["recordings"]:
                whole = recording["received"] == recording["size"]
                return first or now, now if whole else 0.0
    return first, 0.0


def _simulate(out: Path, minutes: int) -> None:
    done = run(["wayseal-device", "simulate", "--out", str(out), "--minutes", str(minutes)])
    if done.returncode:
        raise UnavailableError(f"simulate failed: {done.stderr}")


def _pad(source: Path, target: Path, size: int) -> None:
    """Copy a video and let random bytes follow until it is `size` bytes long."""
    shutil.copy(source, target)
    with target.open("ab") as file:
        while (left := size - file.tell()) > 0:
            file.write(os.urandom(min(left, 16 * MIB)))
        os.fsync(file.fileno())


def _timed(command: list[str]) -> float:
    start = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # fixed commands
    return time.monotonic() - start


def _peak_mb(pid: int) -> int:
    """Return the most memory that a process ever had resident, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 // 1_000_000
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make measure", description=__doc__)
    parser.add_argument("--readings", type=int, default=20_000)
    parser.add_argument("--video-mib", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
