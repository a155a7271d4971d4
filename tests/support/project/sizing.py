"""The table of docs/sizing.md, from its own assumptions and the figures of docs/performance.md.

Run as `python -m support.project.sizing` to print it.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from typing import Final

from support.project.pages import ROOT, rows

PAGE: Final = ROOT / "docs" / "sizing.md"
_PERFORMANCE: Final = ROOT / "docs" / "performance.md"
_COST: Final = ROOT / "storage" / "bench" / "cost" / "default.toml"
_GROWN: Final = re.compile(
    r"^\| (?:in )?(runs|alone) \| [\d,]+ \| [\d.]+ \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|",
    re.MULTILINE,
)
"""A row of what `make bench-index` measured: its kind, CPU, and pages read."""
NETWORKS: Final = ((1, 1), (10, 1), (30, 3), (100, 3), (1000, 10))
"""Trucks and sites."""
INDEXED: Final = (100_000_000, 1_000_000_000)
"""Readings of an index."""
HOURS_A_YEAR: Final = 8760
DAYS_A_YEAR: Final = 365


def assumed() -> dict[str, float]:
    """Return the assumptions of the page by the name in their first column."""
    listed = rows(PAGE, "## What is assumed")
    return {row[0].strip("` |"): float(row[1].replace(" ", "")) for row in listed}


def measured_bytes() -> tuple[float, float]:
    """Return the measured bytes of ledger for a reading, in runs and alone."""
    text = _PERFORMANCE.read_text("utf-8")
    in_runs = re.findall(r"\| disk per reading in runs \| (\d+) bytes", text)
    alone = re.findall(r"\| disk per reading, 1,000,000 on the chain \| (\d+) bytes", text)
    return float(in_runs[0]), float(alone[0])


def measured_index() -> dict[str, float]:
    """Return the measured bytes and microseconds of CPU of an index, by the assumptions' names."""
    listed = rows(_PERFORMANCE, "### The index of a gateway")
    return {row[0].strip("`"): float(row[2]) for row in listed}


def measured_growth() -> dict[str, float]:
    """Return how much more CPU a reading takes in the largest index, and the pages it reads there.

    By the names of the assumptions: microseconds more than in the first index, and pages.
    """
    taken: dict[str, list[tuple[float, float]]] = {}
    for kind, us, pages in _GROWN.findall(_PERFORMANCE.read_text("utf-8")):
        taken.setdefault(kind, []).append((float(us), float(pages)))
    grown = {f"growth_{kind}_us": round(at[-1][0] - at[0][0], 1) for kind, at in taken.items()}
    return grown | {f"pages_{kind}": at[-1][1] for kind, at in taken.items()}


def index_table() -> Iterator[str]:
    """Yield the rows of the table of large indexes."""
    given = assumed()
    for readings in INDEXED:
        cells = [f"{readings / 1e6:,.0f} million"]
        cells += [f"{readings * given[f'index_{each}'] / 1e9:,.1f}" for each in ("runs", "alone")]
        cells += [
            f"{readings * (given[f'index_{each}_us'] + given[f'growth_{each}_us']) / 3.6e9:,.1f}"
            for each in ("runs", "alone")
        ]
        yield f"| {' | '.join(cells)} |"


def pages_table() -> Iterator[str]:
    """Yield the rows of the table of pages read from a disk, for want of a page cache."""
    given = assumed()
    for readings in INDEXED:
        cells = [f"{readings / 1e6:,.0f} million"]
        for each in ("runs", "alone"):
            pages = readings * given[f"pages_{each}"]
            cells += [f"{pages / 1e6:,.1f}", f"{pages * given['page_us'] / 3.6e9:,.1f}"]
        yield f"| {' | '.join(cells)} |"


def cold_table() -> Iterator[str]:
    """Yield the rows of the table of indexes whose old readings are in cold files."""
    given = assumed()
    for readings in INDEXED:
        old = max(0, readings - INDEXED[0])
        cells = [f"{readings / 1e6:,.0f} million"]
        for each in ("runs", "alone"):
            index = readings * given[f"index_{each}"] - old * given[f"freed_{each}"]
            cells += [f"{index / 1e9:,.1f}", f"{old * given[f'cold_{each}'] / 1e9:,.1f}"]
        yield f"| {' | '.join(cells)} |"


def host_a_year() -> float:
    """Return what a year of a site's host costs, in the model of `wayseal-bench cost`."""
    model = tomllib.loads(_COST.read_text("utf-8"))
    host = next(each for each in model["owned"] if each["name"] == "Xeon edge")
    electricity = host["power_w"] / 1000 * model["electricity_per_kwh"]
    an_hour = host["acquisition"] / model["lifetime_h"] + electricity
    return float((an_hour + model["manpower_per_h"] / model["nodes"]) * HOURS_A_YEAR)


def table() -> Iterator[str]:
    """Yield the rows of the table."""
    given = assumed()
    days = given["driving_days"]
    a_truck = days * given["driving_hours"] * 3600 / given["reading_every_s"]
    for trucks, sites in NETWORKS:
        readings = trucks * a_truck
        video_tb = trucks / sites * days * given["video_gb"] / 1000
        kept_tb = 2 * video_tb * given["kept_days"] / DAYS_A_YEAR
        ledger_tb = [readings * size / 1e12 for size in (given["runs"], given["alone"])]
        drives = [(kept_tb + tb) * sites * given["tb_price"] for tb in ledger_tb]
        cells = [
            f"{trucks:,}",
            f"{sites}",
            f"{readings / 1e6:,.1f} million",
            *(f"{tb:.4f}" if tb < 0.01 else f"{tb:.3f}" for tb in ledger_tb),
            f"{video_tb:,.1f}",
            f"{kept_tb:,.1f}",
            *(f"{each:,.0f}" for each in drives),
            f"{host_a_year() * sites:,.0f}",
        ]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join([*table(), *index_table(), *pages_table(), *cold_table()]) + "\n")
