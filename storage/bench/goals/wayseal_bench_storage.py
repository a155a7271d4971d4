"""`make bench-storage`: what storage does beside the limits of its machine, in the same run.

Prints one JSON object as its last line and writes it to build/bench/storage.json. Result and page
of the run are in build/bench/runs. Its files on disk are removed at its end, or, after a kill,
when it is started again.
"""

import argparse
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from contracts.runtime.files import make_directory
from storage.bench.commands.measuring import Finished
from storage.bench.disk import COLD, require_room
from storage.bench.goals.goals import STORAGE_GOALS, written
from storage.bench.goals.goalsrun import GoalsRun, add_sizes, carry_out_command, ended
from storage.bench.goals.storage import blobs, upload, volume
from storage.bench.goals.storage.curve import BlobCurve, chart, curve_of, table_of
from storage.bench.goals.storage.pairs import summary
from storage.bench.goals.storage.sizes import QUICK, SMALLEST, WHOLE, StorageSizes
from storage.bench.run import savedrun
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Step, StepGroup

NAME: Final = "bench-storage"
PARTS: Final = ("upload", "memory", "volume", "cassandra", "curve")
_GUESSED_MIB_PER_S: Final = 50
"""Of each part, everything included, for the time left."""
_CURVE_CHOICES: Final = 30
Figures = dict[str, Any]
Opened = Callable[[], AbstractContextManager[Sequence[Step]]]


class StorageGoals:
    """The parts of one run, and the figures of each.

    Args:
        parts: Some of PARTS.
        sizes: How much is measured.

    Attributes:
        run: Carries it out.
    """

    def __init__(self, parts: Sequence[str], sizes: StorageSizes) -> None:
        self.run = GoalsRun(NAME, STORAGE_GOALS, sizes)
        self._parts = parts
        self._sizes = sizes
        self._blobs: blobs.CassandraBlobsBench | None = None

    def prepare(self, setup: Setup, stack: ExitStack) -> dict[str, Prepared]:
        """Check the room and return the plan.

        Raises:
            RejectedError: The disk has too little room.
        """
        work, sizes = setup.volumes[0].work / "storage", self._sizes
        require_room(setup.volumes[0].directory, sizes.room)
        groups = [each for part in self._parts for each in self._groups(part, work, stack)]
        return self.run.prepared(groups)

    def _groups(self, part: str, work: Path, stack: ExitStack) -> Iterator[StepGroup]:
        sizes = self._sizes
        match part:
            case "upload":
                opened = partial(upload.upload_steps, work, sizes)
                yield _group(part, work, opened, sizes.payload_mib, sizes.uploads)
            case "memory":
                opened = partial(upload.memory_steps, work, sizes)
                yield _group(part, work, opened, sizes.memory_mib, 1)
            case "volume":
                opened = partial(volume.volume_steps, work, sizes)
                yield _group(part, work, opened, sizes.payload_mib, sizes.reads)
            case "cassandra":
                self._blobs = blobs.CassandraBlobsBench(work, sizes, stack)
                mib, runs = 4 * sizes.blobs_mib, sizes.blob_runs
                yield _group("Cassandra, writing", None, self._blobs.writing, mib, runs)
                yield _group("Cassandra, reading", work, self._blobs.reading, mib, runs)
            case _:
                curve = BlobCurve(work, sizes.curve_mib)
                mib, rounds = _CURVE_CHOICES * sizes.curve_mib, sizes.curve_rounds
                yield _group("curve", work, curve.on_one_server, mib, rounds)
                yield _group("curve of servers", work, curve.on_servers, mib, rounds)

    def figures(self, run: savedrun.SavedRun) -> Figures:
        """Return the figures of everything that a run measured."""
        sizes, measured = self._sizes, {each["workload"] for each in run.result["executions"]}
        figures: Figures = {}
        for workload, mib in {
            upload.UPLOAD: sizes.payload_mib,
            volume.VOLUME_READ: sizes.payload_mib,
            blobs.WRITE: sizes.blobs_mib,
            blobs.READ: sizes.blobs_mib,
            blobs.WRITE_HASHING: sizes.blobs_mib,
            blobs.READ_HASHING: sizes.blobs_mib,
        }.items():
            if workload in measured:
                name = workload.replace("-", "_")
                figures |= _named(name, summary(run.result, workload, mib))
        if upload.UPLOAD in measured:
            figures |= upload.cpu_summary(run)
        if upload.MEMORY in measured:
            found = upload.memory_summary(run, sizes.memory_mib)
            figures |= {
                "rss_mb": found["peak_mb"],
                "rss_first_quarter_mb": found["first_quarter_mb"],
                "rss_last_quarter_mb": found["last_quarter_mb"],
                "memory": found,
            }
        if self._blobs is not None:
            figures["bare_loop"] = self._blobs.bare_loop
        if curve := curve_of(run.result):
            figures["curve"] = curve
        return figures


def main() -> None:
    """Measure, and say what was measured."""
    options = _parse()
    # An upload without a volume is worth a warning to an operator; here it is what is measured.
    logging.disable(logging.WARNING)

    def measure(directory: Path) -> str:
        goals = StorageGoals(options.parts, options.sizes)
        finished = goals.run.carried_out(goals.prepare, quick=options.sizes is not WHOLE)
        figures = _shown(goals, finished, directory)
        ended(finished)
        name = f"storage-{options.only}.json" if options.only else "storage.json"
        sizes = {"cold": COLD, "sizes": asdict(options.sizes)}
        return written(figures | sizes, directory / name)

    carry_out_command(NAME, measure)


def _shown(goals: StorageGoals, finished: Finished, directory: Path) -> Figures:
    """Print the figures of a run, of one that ended early too; return them."""
    figures = goals.figures(savedrun.opened(finished.folder))
    if "curve" in figures:
        (directory / "storage-curve.svg").write_text(chart(figures["curve"]), "utf-8")
        print(table_of(figures["curve"]))
    goals.run.show(figures)
    return figures


def _group(name: str, work: Path | None, inner: Opened, mib: int, repetitions: int) -> StepGroup:
    """Return a group that works in a directory, which is made before and removed after it.

    Args:
        name: In words.
        work: The directory; None leaves it to the next group.
        inner: Yields the steps.
        mib: Moved by each repetition.
        repetitions: Of each step.
    """

    @contextmanager
    def outer() -> Iterator[Sequence[Step]]:
        try:
            if work is not None:
                make_directory(work)
            with inner() as steps:
                yield steps
        finally:
            if work is not None:
                shutil.rmtree(work, ignore_errors=True)

    return StepGroup(Part.IO, name, mib * repetitions / _GUESSED_MIB_PER_S, outer, repetitions)


def _named(name: str, found: Figures) -> Figures:
    """Return ratio, rates and CPU under names of their own, and the whole summary below `name`."""
    rates = {
        f"{name}_{key.removeprefix('ours_')}": value
        for key, value in found.items()
        if key == "ratio" or key.endswith(("_mib_per_s", "_s_per_gib"))
    }
    return rates | {name: found}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"make {NAME}", description=__doc__)
    quick, smallest = (QUICK, "a look of two or three minutes"), (SMALLEST, "a test that it works")
    add_sizes(parser, WHOLE, {"quick": quick, "smallest": smallest})
    parser.add_argument("--curve", action="store_true", help="the curve too, half an hour more")
    parser.add_argument(
        "--only", choices=PARTS, help="one part alone, into build/bench/storage-PART.json"
    )
    options = parser.parse_args()
    chosen = PARTS if options.curve else PARTS[:-1]
    options.parts = [options.only] if options.only else list(chosen)
    return options


if __name__ == "__main__":
    main()
