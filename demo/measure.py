"""`make measure`: the figures of docs/performance.md, each beside the limit it is held against.

Prints one JSON object as its last line and writes it to build/measure.json.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.files import locked, make_directory, write_file
from demo import pids
from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.ending import failing_in_one_line
from demo.measure_readings import measure_readings
from demo.truck import Truck, simulate
from storage.bench.procfs import peak_mb

DIRECTORY: Final = Path("build/measure")
RESULT: Final = Path("build/measure.json")
EVERYONE_READS: Final = 0o644
MIB: Final = 1 << 20
POLL_S: Final = 0.05


def main() -> None:
    """Measure readings, upload and memory."""
    directory = DIRECTORY.absolute()
    with failing_in_one_line("measure"):
        options = _parse()
        make_directory(directory.parent)
        lock = directory.with_name(f"{directory.name}.lock")
        with locked(lock, f"another measurement is at work in {directory}"):
            text = json.dumps(_measured(directory, options), indent=2) + "\n"
            temporary = RESULT.with_suffix(".json.new")
            write_file(RESULT, text.encode(), temporary=temporary, mode=EVERYONE_READS)
    print(json.dumps(json.loads(text)))


def _measured(directory: Path, options: argparse.Namespace) -> dict[str, Any]:
    appliance = Appliance(directory / "site-b")
    pids.stop(appliance.directory)  # what an earlier run left when it was killed
    shutil.rmtree(directory, ignore_errors=True)
    make_directory(directory)
    try:
        appliance.start()
        appliance.register_network()
        return {
            "readings": measure_readings(
                appliance,
                directory,
                options.readings,
                options.runs,
                per_transaction=options.per_transaction,
            ),
            "upload": _upload(appliance, directory, options.video_mib, options.runs),
        }
    finally:
        appliance.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _upload(appliance: Appliance, directory: Path, size_mib: int, runs: int) -> dict[str, Any]:
    """Measure a recording's way to two fsynced copies beside dd of both and sha256sum of one."""
    drive = directory / "short"
    simulate(drive, "--minutes", "20")
    rows = []
    for number in range(runs):
        video = directory / "long.avi"
        _pad(drive / "video.avi", video, size_mib * MIB)
        truck = Truck(directory / f"truck-v{number}", f"truck-v{number}")
        truck.join(appliance)
        files = ("--readings", str(drive / "readings.csv"), "--video", str(video))
        truck.ask("record", *files, "--speed", "max")
        dd_s = _timed(["dd", f"if={video}", f"of={video}.1", "bs=1M", "conv=fsync"])
        dd_s += _timed(["dd", f"if={video}", f"of={video}.2", "bs=1M", "conv=fsync"])
        sha_s = _timed(["sha256sum", str(video)])
        for copy in (video, Path(f"{video}.1"), Path(f"{video}.2")):
            copy.unlink()
        upload_s = _offload(truck, appliance)
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
        "gateway_peak_mb": peak_mb(appliance.gateway.pid) if appliance.gateway else None,
        "node_peak_mb": peak_mb(appliance.node.pid) if appliance.node else None,
    }


def _offload(truck: Truck, appliance: Appliance) -> float:
    """Return seconds from the first byte of video that arrived to the last."""
    operator = Auditor(appliance.rest, appliance.token(truck.device_id + "-op", "operator"))
    agent = truck.begin("offload")
    first = last = 0.0
    try:
        while agent.poll() is None:
            time.sleep(POLL_S)
            if not last:
                first, last = _progress(operator, truck.device_id, first)
    except BaseException:
        agent.kill()
        raise
    finally:
        said, _ = agent.communicate()
        operator.close()
    if agent.returncode:
        raise UnavailableError(f"wayseal-device offload failed: {said.strip()[-500:]}")
    return last - first


def _progress(operator: Auditor, device_id: str, first: float) -> tuple[float, float]:
    """Return when the upload began and when it was whole, zero while it is not."""
    now = time.monotonic()
    for offload in operator.ask("/v1/offloads"):
        if offload["device_id"] == device_id:
            for recording in offload["recordings"]:
                whole = recording["received"] == recording["size"]
                return first or now, now if whole else 0.0
    return first, 0.0


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


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make measure", description=__doc__)
    parser.add_argument("--readings", type=int, default=20_000)
    parser.add_argument("--video-mib", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--per-transaction", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
