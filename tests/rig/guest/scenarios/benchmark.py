"""Runs the benchmark once, over volumes of every interface."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rig.comparison import require_compared, require_one_page
from rig.guest.commands import run
from rig.guest.drives import drive, format_drive, unmount
from rig.guest.fabric import FABRIC_SERIAL
from rig.guest.product import RESULTS
from rig.guest.scenario import Scenario
from rig.guest.scenarios.fabric import connected

LIMIT_S: Final = 600
REPORT_LIMIT_S: Final = 300
HOME: Final = Path("/mnt")
FOLDER: Final = "compared"
OPTIONS: Final = (
    *("--quick", "--repetitions", 1, "--direct-gb", 0.0168, "--working-set-gb", 0.0168),
    *("--sweep-blocks", "4k", "--sweep-depths", 8, "--sweep-reads", 70, "--ingest-mb-s", 4),
    *("--video-gb", 0, "--gateway-video-gb", 0),  # Java and a gateway, emulated, take minutes
)


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume to compare.

    Attributes:
        serial: Of its drive.
        filesystem: Made on it.
        interface: What the benchmark must call it.
    """

    serial: str
    filesystem: str
    interface: str


VOLUMES: Final = {
    "nvmeof": Volume(FABRIC_SERIAL, "xfs", "nvme-tcp"),
    "nvme": Volume("RIGNVME0", "ext4", "nvme-pcie"),
    "ssd": Volume("RIGSSD0", "xfs", "sata-ssd"),
    "hdd": Volume("RIGHDD0", "ext4", "sata-hdd"),
}


def _compared() -> str:
    with connected() as fabric_drive, _mounted():
        targets = (("--target", f"{name}={HOME / name}") for name in VOLUMES)
        said = run(
            *("wayseal-bench", "io", "--no-report", "--out", RESULTS / FOLDER),
            *(word for target in targets for word in target),
            *OPTIONS,
            limit_s=LIMIT_S,
        )
        head = (Path("/sys/block") / fabric_drive.name / "stat").read_text().split()
    result = Path(json.loads(said.splitlines()[-1])["result"])
    seen = require_compared(result, {name: each.interface for name, each in VOLUMES.items()})
    return f"{seen}; NVMe-oF's multipath head itself counted {int(head[6]) >> 11} MiB written"


def _reported(results: Path) -> str:
    """Write the page here: emulated, drawing its charts would take minutes."""
    (run_folder,) = (results / FOLDER).iterdir()
    report = (sys.executable, "-m", "storage.bench.wayseal_bench", "report", run_folder)
    said = run(*report, limit_s=REPORT_LIMIT_S)
    return require_one_page(Path(json.loads(said.splitlines()[-1])["report"]), VOLUMES)


@contextmanager
def _mounted() -> Iterator[None]:
    """Make a file system on each volume and mount it below `HOME` by the target's name."""
    made: list[Path] = []
    try:
        for name, volume in VOLUMES.items():
            device = drive(volume.serial)
            format_drive(device, volume.filesystem)
            (HOME / name).mkdir(exist_ok=True)
            run("mount", device, HOME / name)
            made.append(HOME / name)
        yield
    finally:
        for directory in made:
            unmount(directory)


COMPARED: Final = Scenario("compared", _compared, limit_s=LIMIT_S + 60, after=_reported)
