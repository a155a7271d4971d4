"""`make bench-storage`: what storage does beside the limits of its machine, in the same run.

Prints one JSON object as its last line and writes it to build/bench/storage.json. What it needs
on disk meanwhile is removed at its end, or, should it be killed, when it is started again.
"""

import argparse
import logging
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from contracts.commands import FAILED, complain, write_for_any_terminal
from contracts.errors import WaysealError
from contracts.files import locked, make_directory
from storage.bench.disk import require_room
from storage.bench.interrupting import Interrupted, signals_interrupt
from storage.bench.leftovers import end_leftovers
from storage.bench.ours.storage.blobs import blob_figures
from storage.bench.ours.storage.chart import chart
from storage.bench.ours.storage.curve import COMMIT_LOG, QUESTIONS, Curve, table_of
from storage.bench.ours.storage.media import COLD, MIB, random_file
from storage.bench.ours.storage.pairs import summary
from storage.bench.ours.storage.sizes import QUICK, SMALLEST, WHOLE, Sizes
from storage.bench.ours.storage.targets import TARGETS
from storage.bench.ours.storage.upload import memory, uploads
from storage.bench.ours.storage.volume import volume_reads
from storage.bench.ours.targets import row, written

DIRECTORY: Final = Path("build/bench")
PARTS: Final = ("upload", "memory", "volume", "cassandra", "curve")
Figures = dict[str, Any]


def main() -> None:
    """Measure, and say what was measured."""
    write_for_any_terminal()
    options = _parse()
    # An upload without a volume is worth a warning to an operator; here it is what is measured.
    logging.disable(logging.WARNING)
    directory = DIRECTORY.absolute()
    try:
        make_directory(directory)
        lock = locked(directory / "lock", f"another benchmark is at work in {directory}")
        with signals_interrupt(), lock:
            figures = _measure(directory, options.sizes, options.parts)
            name = f"storage-{options.only}.json" if options.only else "storage.json"
            text = written(figures, directory / name)
    except (WaysealError, Interrupted) as error:
        complain("bench-storage", error)
        sys.exit(FAILED)
    print(text)


def _measure(directory: Path, sizes: Sizes, parts: list[str]) -> Figures:
    work = directory / "storage"
    end_leftovers(work)
    shutil.rmtree(work, ignore_errors=True)
    require_room(directory, sizes.room)
    figures: Figures = {}
    try:
        for part in parts:
            make_directory(work)
            found = _PARTS[part](work, sizes)
            _show(found, directory)  # what is known is said before the next part can fail
            figures |= found
            shutil.rmtree(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return figures | {"cold": COLD, "sizes": asdict(sizes)}


def _show(found: Figures, directory: Path) -> None:
    if "curve" in found:
        (directory / "storage-curve.svg").write_text(chart(found["curve"]), "utf-8")
        print(table_of(found["curve"]))
    for name, value in found.items():
        if isinstance(value, int | float):
            print(row(name, value, TARGETS), flush=True)


def _upload(work: Path, sizes: Sizes) -> Figures:
    _say(f"upload: {sizes.uploads} times {sizes.payload_mib} MiB")
    payload = random_file(work / "payload", sizes.payload_mib * MIB)
    found = summary(uploads(work, payload, sizes.uploads), sizes.payload_mib)
    return _named("upload", found)


def _memory(work: Path, sizes: Sizes) -> Figures:
    _say(f"memory: {sizes.memory_mib} MiB")
    found = memory(work, sizes.memory_mib * MIB)
    return {
        "rss_mb": found["peak_mb"],
        "rss_first_quarter_mb": found["first_quarter_mb"],
        "rss_last_quarter_mb": found["last_quarter_mb"],
        "memory": found,
    }


def _volume(work: Path, sizes: Sizes) -> Figures:
    _say(f"volume: {sizes.reads} times {sizes.payload_mib} MiB")
    payload = random_file(work / "payload", sizes.payload_mib * MIB)
    pairs = volume_reads(work / "store", payload, sizes.reads)
    return _named("volume_read", summary(pairs, sizes.payload_mib))


def _cassandra(work: Path, sizes: Sizes) -> Figures:
    found = blob_figures(work, sizes.blobs_mib, sizes.blob_runs, _say)
    return {
        **_named("cassandra_write", summary(found.writes, sizes.blobs_mib)),
        **_named("cassandra_read", summary(found.reads, sizes.blobs_mib)),
        **_named("cassandra_write_hashing", summary(found.hashing_writes, sizes.blobs_mib)),
        **_named("cassandra_read_hashing", summary(found.hashing_reads, sizes.blobs_mib)),
        "bare_loop": found.bare_loop,
    }


def _curve(work: Path, sizes: Sizes) -> Figures:
    curve = Curve(work, sizes.curve_mib, sizes.curve_rounds, _say)
    return {"curve": curve.ask([*QUESTIONS, COMMIT_LOG])}


_PARTS: Final[dict[str, Callable[[Path, Sizes], Figures]]] = {
    "upload": _upload,
    "memory": _memory,
    "volume": _volume,
    "cassandra": _cassandra,
    "curve": _curve,
}


def _named(name: str, found: Figures) -> Figures:
    """Return ratio and rates under names of their own, and the whole summary below `name`."""
    rates = {
        f"{name}_{key.removeprefix('ours_')}": value
        for key, value in found.items()
        if key == "ratio" or key.endswith("_mib_per_s")
    }
    return rates | {name: found}


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-storage", description=__doc__)
    how_much = parser.add_mutually_exclusive_group()
    for name, sizes, words in (
        ("--quick", QUICK, "a look of two or three minutes"),
        ("--smallest", SMALLEST, "whether it works at all"),
    ):
        how_much.add_argument(
            name, dest="sizes", action="store_const", const=sizes, default=WHOLE, help=words
        )
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
