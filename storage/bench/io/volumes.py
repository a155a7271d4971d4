"""Files on each volume through fio: options and plan."""

import argparse
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from contracts.errors import RejectedError
from storage.bench.arguments import quantity
from storage.bench.io import fio
from storage.bench.io.appends import APPEND_BYTES, Appends
from storage.bench.io.content import BLOCK_BYTES, Content, working_engine
from storage.bench.io.direct import DEPTH, Direct
from storage.bench.io.ground import Ground
from storage.bench.io.layout import write_whole
from storage.bench.io.measured import Method
from storage.bench.io.mixed import Mixed
from storage.bench.io.raw import add_raw_options, held, purge
from storage.bench.io.sweep import FILE, PATTERNS, WARM_UP_S, Grid, Pattern, Swept
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Step, StepGroup
from storage.bench.run.volumetarget import NO_DEVICE

T = TypeVar("T")

DIRECT_GB: Final = 26.98
"""Source: paper 002, Table II."""
QUICK_DIRECT_GB: Final = 0.5
WORKING_SET_GB: Final = 8.0
QUICK_WORKING_SET_GB: Final = 0.25
BLOCKS: Final = (4 << 10, 128 << 10, 1 << 20)
DEPTHS: Final = (1, 8, 32, 128)
READS: Final = (0, 70, 100)
QUICK_PATTERNS: Final[Sequence[Pattern]] = ("random",)
QUICK_BLOCKS: Final = (4 << 10, 1 << 20)
QUICK_DEPTHS: Final = (1, 32)
QUICK_READS: Final = (70,)
POINT_S: Final = 5
QUICK_POINT_S: Final = 1
APPENDS: Final = 20_000
APPENDS_S: Final = 60
QUICK_APPENDS_S: Final = 2
INGEST_MB_S: Final = 100.0
MIXED_S: Final = 20
QUICK_MIXED_S: Final = 2
DEPTH_MAX: Final = 1024
GB_MAX: Final = 100_000
POINT_S_MAX: Final = 3600
SPARE_BYTES: Final = 64 << 20
"""Left free on each volume for the file system."""
_GB: Final = 1e9
_GB_OF_FILES: Final = quantity(GB_MAX, "GB")
_MB: Final = 1e6
_ALL: Final = 100
_PASSES: Final = 2
"""Of preconditioning. Source: SNIA PTS 2.0.2, workload-independent preconditioning."""
_UNITS: Final = {"k": 1 << 10, "m": 1 << 20}
_SECTOR: Final = 4096
_CALL_S: Final = 0.5
_GUESSED_RATE: Final = 1e9
"""B/s, for the time left."""


@dataclass(frozen=True, slots=True)
class VolumeSizes:
    """The size of each workload.

    Attributes:
        direct_blocks: Of 1 MiB; 0 skips the workload.
        appends: Each waits for the medium.
        ingest: B/s of the writer during the audits.
    """

    direct_blocks: int
    grid: Grid
    appends: int
    appends_s: int
    ingest: int
    mixed_s: int

    @property
    def needed_bytes(self) -> int:
        """Return the most bytes on a volume at any time."""
        ingested, appended = self.ingest * self.mixed_s, self.appends * APPEND_BYTES
        return max(self.direct_blocks * BLOCK_BYTES, self.grid.working_bytes + ingested + appended)


def add_volume_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the volumes themselves."""
    add = parser.add_argument
    add(
        "--direct-gb",
        type=_GB_OF_FILES,
        metavar="GB",
        help=f"size of the large file; default {DIRECT_GB}; 0 skips it",
    )
    add(
        "--working-set-gb",
        type=_GB_OF_FILES,
        metavar="GB",
        help=f"size of the file for sweeps; default {WORKING_SET_GB:g}",
    )
    add(
        "--sweep-patterns",
        type=_patterns,
        metavar="P,…",
        help="default random,sequential",
    )
    add("--sweep-blocks", type=_blocks, metavar="SIZE,…", help="default 4k,128k,1m")
    add(
        "--sweep-depths", type=_depths, metavar="N,…", help="requests under way; default 1,8,32,128"
    )
    add(
        "--sweep-reads",
        type=_reads,
        metavar="PERCENT,…",
        help="share of reads among the requests; default 0,70,100",
    )
    add(
        "--sweep-seconds",
        type=_seconds,
        metavar="S",
        help=f"of each point; default {POINT_S}; 0 skips the sweeps",
    )
    add(
        "--ingest-mb-s",
        type=_rate,
        default=INGEST_MB_S,
        metavar="MB",
        help="rate of the writer during audits; default %(default)g",
    )
    add("--precondition", action="store_true", help="write the working set twice first")
    add("--buffered", action="store_true", help="through the page cache: figures are then flagged")
    add("--fio-engine", choices=fio.ENGINES, help="default: the first that works")
    add_raw_options(parser)


def prepare_volumes(options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
    """Check that the plan can be carried out, and return the groups.

    Raises:
        RejectedError: A disk is too full, or a raw device may not be written.
        UnavailableError: fio is missing or does not work here.
    """
    version = fio.version()
    sizes = _sizes(options, quick=setup.quick)
    raw = stack.enter_context(held(options))
    _check_room(setup, sizes)
    method = Method(working_engine(options.fio_engine, setup.work), options.precondition)
    grounds = [Ground.of(volume, buffered=options.buffered) for volume in setup.volumes]
    if raw is not None:
        _check_raw(raw, grounds, sizes)
        grounds.append(replace(raw, direct=not options.buffered))
    settings = {
        "fio": version,
        "engine": method.engine,
        "preconditioned": method.preconditioned,
        "purged": options.purge,
        "direct_io": {ground.name: ground.direct for ground in grounds},
        "repetitions": setup.repetitions,
        **asdict(sizes),
    }
    groups = _groups(grounds, method, sizes, setup, raw if options.purge else None)
    targets = [] if raw is None else [_described(raw)]
    return Prepared(tuple(groups), {"volumes": settings}, targets, tuple(_notes(grounds)))


def _sizes(options: argparse.Namespace, *, quick: bool) -> VolumeSizes:
    chosen = partial(_chosen, quick=quick)
    grid = Grid(
        chosen(options.sweep_patterns, PATTERNS, QUICK_PATTERNS),
        chosen(options.sweep_blocks, BLOCKS, QUICK_BLOCKS),
        chosen(options.sweep_depths, DEPTHS, QUICK_DEPTHS),
        chosen(options.sweep_reads, READS, QUICK_READS),
        chosen(options.sweep_seconds, POINT_S, QUICK_POINT_S),
        0 if quick else WARM_UP_S,
        _whole_blocks(chosen(options.working_set_gb, WORKING_SET_GB, QUICK_WORKING_SET_GB)),
    )
    if grid.working_bytes < max(grid.block_bytes):
        raise RejectedError(
            f"expected a working set of at least one block of {max(grid.block_bytes)} bytes, got "
            f"{grid.working_bytes}"
        )
    return VolumeSizes(
        _whole_blocks(chosen(options.direct_gb, DIRECT_GB, QUICK_DIRECT_GB)) // BLOCK_BYTES,
        grid,
        APPENDS,
        QUICK_APPENDS_S if quick else APPENDS_S,
        round(options.ingest_mb_s * _MB),
        QUICK_MIXED_S if quick else MIXED_S,
    )


def _chosen(value: T | None, full: T, small: T, *, quick: bool) -> T:
    if value is not None:
        return value
    return small if quick else full


def _whole_blocks(gb: float) -> int:
    return int(gb * _GB) // BLOCK_BYTES * BLOCK_BYTES


def _check_room(setup: Setup, sizes: VolumeSizes) -> None:
    """Check that each file system has room for all its targets at the same time."""
    sharing: dict[int, list[str]] = defaultdict(list)
    free: dict[int, int] = {}
    for volume in setup.volumes:
        number = os.stat(volume.work).st_dev  # noqa: PTH116 - beside shutil's
        sharing[number].append(volume.name)
        free[number] = shutil.disk_usage(volume.work).free
    for number, names in sharing.items():
        needed = len(names) * sizes.needed_bytes + SPARE_BYTES
        if free[number] < needed:
            raise RejectedError(
                f"target {', '.join(names)}: expected {needed / _GB:.2f} GB free, got "
                f"{free[number] / _GB:.2f}: choose --direct-gb and --working-set-gb"
            )


def _check_raw(raw: Ground, grounds: Iterable[Ground], sizes: VolumeSizes) -> None:
    own = raw.drives[0]
    needed = max(sizes.direct_blocks * BLOCK_BYTES, sizes.grid.working_bytes)
    if own.size_bytes < needed:
        raise RejectedError(
            f"expected {raw.place} to hold {needed / _GB:.2f} GB, got {own.size_bytes / _GB:.2f}"
        )
    if any(ground.name == raw.name for ground in grounds):
        raise RejectedError(f"expected targets with a name each, got {raw.name} twice")


def _groups(
    grounds: Sequence[Ground],
    method: Method,
    sizes: VolumeSizes,
    setup: Setup,
    purged: Ground | None,
) -> Iterator[StepGroup]:
    passes = _PASSES if method.preconditioned else 1
    if sizes.direct_blocks:
        directs = [Direct(ground, method, sizes.direct_blocks) for ground in grounds]
        once_s = 4 * sizes.direct_blocks * BLOCK_BYTES / _GUESSED_RATE + 3 * _CALL_S
        yield StepGroup(
            Part.IO,
            "one large file",
            once_s * len(grounds) * setup.repetitions,
            partial(_direct, directs, passes, setup.seed, purged),
            setup.repetitions,
        )
        purged = None  # once, before anything is written
    steps = [step for ground in grounds for step in _steps(ground, method, sizes)]
    if steps:
        grid, own = sizes.grid, len(grounds) * (sizes.appends_s / 2 + sizes.mixed_s)
        each_s = grid.seconds + grid.warm_up_s + _CALL_S
        laid_out = [(ground, sizes.grid.working_bytes) for ground in grounds]
        yield StepGroup(
            Part.IO,
            "blocks",
            (len(steps) * each_s + own) * setup.repetitions,
            partial(_blocks_opened, laid_out, method, passes, setup.seed, purged, steps),
            setup.repetitions,
        )


@contextmanager
def _direct(
    directs: Sequence[Direct], passes: int, seed: int, purged: Ground | None
) -> Iterator[Sequence[Step]]:
    if purged is not None:
        purge(purged.place)
    if passes > 1:
        for direct in directs:
            direct.lay_out(seed, passes)
    try:
        yield [direct.step for direct in directs]
    finally:
        for direct in directs:
            direct.remove()


@contextmanager
def _blocks_opened(
    laid_out: Sequence[tuple[Ground, int]],
    method: Method,
    passes: int,
    seed: int,
    purged: Ground | None,
    steps: Sequence[Step],
) -> Iterator[Sequence[Step]]:
    if purged is not None:
        purge(purged.place)
    for ground, size in laid_out:
        content = Content(size // BLOCK_BYTES, DEPTH, seed)
        write_whole(FILE, ground, method, content, passes)
    try:
        yield steps
    finally:
        for ground, _ in laid_out:
            ground.remove(FILE)


def _steps(ground: Ground, method: Method, sizes: VolumeSizes) -> Iterator[Step]:
    grid = sizes.grid
    if grid.seconds:
        yield from (Swept(ground, method, grid, point).step for point in grid.points())
    if not ground.raw:  # both need files that grow
        yield Appends(ground, method, sizes.appends, sizes.appends_s).step
        yield Mixed(ground, method, sizes.ingest, sizes.mixed_s, grid.working_bytes).step


def _described(raw: Ground) -> Mapping[str, Any]:
    own = raw.drives[0]
    return {
        "name": raw.name,
        "kind": "raw device",
        "interface": own.interface,
        "device": str(raw.place),
        "drives": [asdict(drive) for drive in raw.drives],
    }


def _notes(grounds: Iterable[Ground]) -> Iterator[str]:
    for ground in grounds:
        if not ground.drives:
            yield (
                f"{ground.name} is on no block device ({ground.filesystem}; interface "
                f"{NO_DEVICE}): no device counts its bytes, so it has no maximum and mean of "
                "seconds, and a cache cannot be detected."
            )
        elif ground.ceiling is None:
            yield (f"{ground.name}: the speed of its link is unknown, so no rate is checked by it.")


def _numbers(text: str, least: int, most: int, what: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isdecimal() and least <= int(word) <= most for word in words):
        raise argparse.ArgumentTypeError(
            f"expected {what} from {least} to {most} with commas between, got {text!r}"
        )
    return tuple(dict.fromkeys(int(word) for word in words))


def _depths(text: str) -> tuple[int, ...]:
    return _numbers(text, 1, DEPTH_MAX, "whole numbers")


def _reads(text: str) -> tuple[int, ...]:
    return _numbers(text, 0, _ALL, "per cents")


def _seconds(text: str) -> int:
    return _numbers(text, 0, POINT_S_MAX, "seconds")[0]


def _blocks(text: str) -> tuple[int, ...]:
    sizes = []
    for word in text.lower().split(","):
        number, unit = word[:-1], _UNITS.get(word[-1:], 0)
        size = int(number) * unit if number.isdecimal() else 0
        if not 0 < size <= _UNITS["m"] * 16 or size % _SECTOR:
            raise argparse.ArgumentTypeError(
                f"expected sizes as 4k,128k,1m, whole {_SECTOR} bytes to 16m, got {text!r}"
            )
        sizes.append(size)
    return tuple(dict.fromkeys(sizes))


def _patterns(text: str) -> tuple[Pattern, ...]:
    chosen = tuple(each for each in PATTERNS if each in text.split(","))
    if set(chosen) != set(text.split(",")):
        raise argparse.ArgumentTypeError(f"expected some of {','.join(PATTERNS)}, got {text!r}")
    return chosen


def _rate(text: str) -> float:
    found = quantity(GB_MAX, "MB/s")(text)
    if found * _MB < BLOCK_BYTES:
        raise argparse.ArgumentTypeError(f"expected at least one blob per second, got {text!r}")
    return found
