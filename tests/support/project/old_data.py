"""A data set of each kind, as this version writes it, for the tests of versions to come.

Run as `python -m support.project.old_data FILE.tar.xz`, once for each release; docs/upgrade.md says
when. The set has:

- `site-b/`: a node's ledger, a gateway's data with one trip that it has receipted, and keys.
- `truck/`: a journal with that trip, gone but for its receipt, and a second one, sealed and not
  offloaded.
- `trip.evidence`, `trust.json`, `verdict.json`: the first trip's evidence, and what was said of it.
- `told.json`: what the gateway told of the first trip.
- `bench/`: a result of wayseal-bench.
"""

import json
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from contracts.errors import RejectedError
from contracts.records.clock import parse_rfc3339
from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.processes import run
from demo.truck import Truck, simulate
from support.bench.results import made_run
from support.project.pages import ROOT

SETS: Final = sorted((ROOT / "tests" / "golden" / "releases").glob("*.tar.xz"))
KEPT_OUT: Final = {"reserve", "lock", "lock.mdb", "gateway.log", "node.log", "drive"}
"""Made again at each start; or not data."""
MINUTES: Final = 20


def lacking(old: Any, new: Any, at: str = "") -> list[str]:  # noqa: ANN401  # JSON
    """Return where `new` lacks something of `old`; versions may add fields, and take none away."""
    if isinstance(old, dict) and isinstance(new, dict):
        gone = [f"{at}.{name} is missing" for name in old.keys() - new.keys()]
        kept = old.keys() & new.keys()
        return gone + [each for name in kept for each in lacking(old[name], new[name], name)]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [each for pair in zip(old, new, strict=True) for each in lacking(*pair, at)]
    return [] if old == new or is_same_moment(old, new) else [f"{at} was {old}, is {new}"]


def is_same_moment(old: Any, new: Any) -> bool:  # noqa: ANN401  # JSON
    """Say whether both are the same time; it may be written with more digits."""
    try:
        return parse_rfc3339(old) == parse_rfc3339(new)
    except (RejectedError, TypeError, AttributeError):
        return False


def told(auditor: Auditor, trip_id: str) -> dict[str, Any]:
    """Return what a gateway tells of a trip and its delivery, to be compared between versions."""
    readings = list(auditor.pages(f"/v1/trips/{trip_id}/readings"))
    recordings = list(auditor.pages(f"/v1/trips/{trip_id}/recordings"))
    return {
        "trip": auditor.ask(f"/v1/trips/{trip_id}"),
        "readings": readings,
        "recordings": recordings,
        "delivery": auditor.ask("/v1/deliveries/delivery-1"),
    }


def make(folder: Path) -> None:
    """Drive two trips, offload the first one, and keep what all of that leaves on disks."""
    appliance = Appliance(folder / "site-b")
    appliance.start()
    try:
        appliance.register_network()
        truck = Truck(folder / "truck", "truck-7")
        truck.join(appliance)
        simulate(folder / "drive", "--minutes", str(MINUTES))
        first = _record(truck, folder / "drive", "--video", str(_small_video(folder / "drive")))
        truck.ask("offload", "--wait-s", "60")
        appliance.hand_over(first)
        with closing(Auditor(appliance.rest, appliance.token("auditor", "auditor"))) as auditor:
            auditor.export(first, folder / "trip.evidence")
            (folder / "told.json").write_text(json.dumps(told(auditor, first)), "utf-8")
        appliance.trust_file().rename(folder / "trust.json")
        _record(truck, folder / "drive", "--again")
    finally:
        appliance.stop()
    words = ["wayseal-verify", str(folder / "trip.evidence"), "--json"]
    said = run([*words, "--trust", str(folder / "trust.json")])
    (folder / "verdict.json").write_text(said.stdout, "utf-8")
    made_run(folder / "bench", repetitions=2)


def _small_video(drive: Path) -> Path:
    """Write a second of a grey picture: a simulated trip's own video has some megabytes."""
    path = drive / "small.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 48))
    for brightness in range(10):
        writer.write(np.full((48, 64, 3), 20 * brightness, np.uint8))
    writer.release()
    return path


def _record(truck: Truck, drive: Path, *more: str) -> str:
    files = ["--readings", str(drive / "readings.csv"), "--track", str(drive / "track.gpx")]
    return str(truck.ask("record", *files, *more, "--speed", "max")["trip"])


def pack(folder: Path, file: Path) -> None:
    """Write a data set as an archive in which nothing tells of the machine."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:xz", preset=9) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not KEPT_OUT & set(path.relative_to(folder).parts):
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                entry.size, entry.mode = path.stat().st_size, path.stat().st_mode & 0o777
                with path.open("rb") as content:
                    archive.addfile(entry, content)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        make(Path(made))
        pack(Path(made), Path(sys.argv[1]))
