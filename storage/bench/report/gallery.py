"""The charts of a run, as files in its folder."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.runtime.files import disk_errors
from storage.bench.report.charts.style import Chart
from storage.bench.run.folder import Folder

CHARTS: Final = "charts"
_NAME_CHARS_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class Placed:
    """A chart in the folder of its run.

    Attributes:
        svg: Path in that folder.
        png: Path in that folder.
    """

    chart: Chart
    svg: str
    png: str


class Gallery:
    """Keeps charts in their own folder; removes those of an earlier report.

    Args:
        run: The run's folder.

    Raises:
        UnavailableError: The medium failed.
    """

    def __init__(self, run: Path) -> None:
        with disk_errors("empty", run / CHARTS):
            if (run / CHARTS).exists():
                shutil.rmtree(run / CHARTS)
        self._folder = Folder(run)
        self._kept = 0

    def keep(self, chart: Chart) -> Placed:
        """Write a chart as SVG and as PNG.

        Raises:
            UnavailableError: The medium failed or is full.
        """
        words = re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")[:_NAME_CHARS_MAX]
        name = f"{CHARTS}/{self._kept:03}-{words}"
        placed = Placed(chart, f"{name}.svg", f"{name}.png")
        self._folder.write(placed.svg, chart.svg.encode())
        self._folder.write(placed.png, chart.png)
        self._kept += 1
        return placed
