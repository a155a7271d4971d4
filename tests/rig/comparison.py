"""Checks by result and page that a run of `wayseal-bench io` compared volumes."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from storage.bench.io.content import BLOCK_BYTES
from storage.bench.io.measured import COUNTED_LEAST
from storage.bench.machine.watch import DRIVE_WRITTEN
from storage.bench.run.savedrun import SavedRun, Table, opened, these

MOVING: Final = "direct"
"""The workload with a known number of bytes: it writes a file, then reads it."""
COUNTED: Final = {"write": "written_bytes_per_s", "read": "read_bytes_per_s"}
"""Its tables, and the column of each that must hold the file's bytes."""
UNTRUE: Final = ("CACHED", "INVALID")
"""Flags that no figure of a real drive may have."""
TOLD_BY_SOME: Final = {DRIVE_WRITTEN.name}
"""Figures that not every drive reports."""
_PICTURE: Final = re.compile(r"<figure>.*?</figure>", re.DOTALL)


def require_compared(result: Path, interfaces: Mapping[str, str]) -> str:
    """Check that a run compared these volumes with each other; return what was seen.

    Args:
        result: Where the run says that its result is.
        interfaces: What each target must have been found to be, by its name.

    Raises:
        AssertionError: It did not.
        RejectedError: Its result is not of its schema.
    """
    run = opened(result)
    assert run.result["complete"], run.result["ended"]
    assert not run.result["failures"], run.result["failures"]
    found = {each["name"]: each["interface"] for each in run.result["targets"]}
    assert found == interfaces, f"expected {interfaces}, got {found}"
    _require_counted(run, interfaces)
    workloads = _require_own_figures(run, interfaces)
    return (
        f"{', '.join(interfaces.values())} in one run: {len(run.result['figures'])} figures of "
        f"{workloads} workloads"
    )


def require_one_page(page: Path, names: Collection[str]) -> str:
    """Check that charts of a page show all targets side by side; return what was seen.

    Raises:
        AssertionError: None does.
    """
    shown = page.read_text("utf-8")
    together = [
        picture
        for picture in _PICTURE.findall(shown)
        if all(f">{name}<" in picture for name in names)
    ]
    assert together, f"no chart of {page} has all of {', '.join(names)}"
    return f"{len(together)} charts of its page show all {len(names)}"


def counted_bytes(run: SavedRun, target: str, way: str) -> list[float]:
    """Return what a target's device counted in each execution that moved the file.

    Args:
        run: With the workload `MOVING`.
        target: Its name.
        way: `write` or `read`.
    """
    return [
        _sum(run.table(done, way), COUNTED[way])
        for done in run.result["executions"]
        if (done["workload"], done["target"]) == (MOVING, target)
    ]


def _sum(table: Table, column: str) -> float:
    """Return the sum of rates over time, each until the end of its sample."""
    ends = [0.0, *table.column("s")]
    lengths = [end - begin for begin, end in pairwise(ends)]
    return sum(rate * length for rate, length in zip(table.column(column), lengths, strict=True))


def _require_counted(run: SavedRun, names: Iterable[str]) -> None:
    """Check that each device, or its paths together, counted the whole file written and read."""
    size = run.result["settings"]["io"]["volumes"]["direct_blocks"] * BLOCK_BYTES
    for name in names:
        for way in COUNTED:
            counted = counted_bytes(run, name, way)
            short = [round(each) for each in counted if each < COUNTED_LEAST * size]
            assert counted, f"{name}: no {way} of the file was sampled"
            assert not short, f"{name}: expected {size} bytes in {way}, its device counted {short}"


def _require_own_figures(run: SavedRun, names: Mapping[str, str]) -> int:
    """Check that each workload has the same figures of every target; return how many there are."""
    untrue = [
        f"{each['workload']} {each['metric']} on {each['target']}: {flag}"
        for each in run.result["figures"]
        for flag in each["flags"]
        if flag["flag"] in UNTRUE
    ]
    assert not untrue, untrue
    by_workload = these(run.result["figures"], "workload")
    for (workload,), figures in by_workload.items():
        measured = {
            target: {each["metric"] for each in own if each["median"] > 0} - TOLD_BY_SOME
            for (target,), own in these(figures, "target").items()
        }
        assert measured.keys() == names.keys(), f"{workload} is of {sorted(measured)} alone"
        for target, metrics in measured.items():
            for other, others in measured.items():
                missing = sorted(others - metrics)
                assert not missing, f"{workload}: {target} has no {missing}, {other} has"
    return len(by_workload)
