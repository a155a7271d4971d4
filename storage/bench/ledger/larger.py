"""State larger than memory: one filled state, with memory to spare and with little of it.

The node runs in its own control group. The page cache of the files that it reads counts
there, so a limit of the group takes it away. Both halves of an execution run the key-value load
on the same chain, one after the other, flat out and then in open loop.

Source: papers 003, sections 6.2 and 6.3, Figures 5(b) and 7.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import psutil

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from storage.bench.disk import cool_all, require_room
from storage.bench.ledger.committing import commit_flat_out
from storage.bench.ledger.family import VALUE_BYTES
from storage.bench.ledger.ledgers import NODE, NodeOnVolume
from storage.bench.ledger.memory import memory_group, oom_kills, why_unlimited
from storage.bench.ledger.modes import (
    PER_LIST,
    WINDOW,
    Choices,
    Measurement,
    Ready,
    behind,
    limited,
    percentiles,
)
from storage.bench.ledger.papers import PaperLoad
from storage.bench.ledger.timeline import Timeline, percentile
from storage.bench.ledger.watch import watching
from storage.bench.ledger.workloads import LedgerWorkload
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.latency import latencies
from storage.bench.run.outcome import Better, Metric, Observation, Outcome, Work
from storage.bench.run.plan import Place
from storage.bench.run.volumetarget import VolumeTarget
from storage.bench.servers.groups import joining
from storage.bench.trucks.signed import signed

LARGER: Final = LedgerWorkload("state-larger-than-memory", 10, 0, 2_000, records=250_000)
SHARE: Final = 0.1
"""Of the state's bytes: so much of its files fits into the page cache that the node is given."""
KERNEL_BYTES: Final = 16 << 20
"""For the kernel's own memory of the node: page tables, sockets and dirty pages."""
DATABASE_PER_RECORD: Final = 2_000
"""Bytes of LMDB's file for each record of the state, about; 1,850 were measured."""
FILES_PER_RECORD: Final = 3_300
"""The same of all files of the chain: the log has the records too."""
SPARE_BYTES: Final = 1 << 30
"""Memory that must be available besides the state's file."""
_EVERY_S: Final = 0.05
"""Between looks at the node's memory."""
_PERCENTS: Final = (50.0, 95.0)
_AT_ONCE: Final = 20
"""Batches of the filling that are under way."""
_PAGE_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class Half:
    """The load with one amount of memory.

    Attributes:
        flat: As fast as the ledger takes it.
        paced: In open loop.
        wrong: Flags of all figures.
        late: Further flags of the figures in open loop.
        read_bytes: Fetched from the disk by the node, flat out.
        own_bytes: The most memory that the node had besides pages of files.
    """

    flat: Timeline
    paced: Timeline
    wrong: Sequence[Raised]
    late: Sequence[Raised]
    read_bytes: int
    own_bytes: int

    @property
    def responses(self) -> Sequence[float]:
        """Return the response times in open loop, seconds."""
        return [fate.decided_s - fate.intended_s for fate in self.paced.committed]

    @property
    def read_per_transaction(self) -> float:
        """Return the bytes from the disk for each transaction, flat out."""
        return self.read_bytes / (len(self.flat.committed) * self.flat.per_batch)


@dataclass(frozen=True, slots=True)
class LargeState:
    """A chain with a large state on a volume, filled before its first use.

    Attributes:
        choices: Of the run; `scale` multiplies the records.
        workload: The load and the number of records.
        share: See `SHARE`.
    """

    volume: VolumeTarget
    choices: Choices
    workload: LedgerWorkload = LARGER
    share: float = SHARE

    @property
    def directory(self) -> Path:
        """Return the directory of the chain; it exists once the state is filled."""
        return self.volume.work / "large-state"

    @property
    def records(self) -> int:
        """Return the number of records."""
        return self.workload.records * self.choices.scale

    @property
    def state_bytes(self) -> int:
        """Return the size of all values; names, tree and unused pages are not counted."""
        return self.records * VALUE_BYTES

    @property
    def room_bytes(self) -> int:
        """Return how much disk the chain may take."""
        return self.records * FILES_PER_RECORD

    def remove(self) -> None:
        """Remove the chain."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def why_not(self) -> str:
        """Return why it can't be measured here, or "" if it can."""
        try:
            require_room(self.volume.work, self.room_bytes)
        except RejectedError as error:
            return str(error)
        return why_unlimited()

    def execute(self, place: Place) -> Outcome:
        """Run both halves; the limit of the second follows from the node's memory in the first.

        Raises:
            UnavailableError: This machine has too little memory for the first half, or the kernel
                ended the node in the second.
        """
        needed = self.records * DATABASE_PER_RECORD + SPARE_BYTES
        free = psutil.virtual_memory().available
        if free < needed:
            raise UnavailableError(
                f"expected {needed:,} bytes of memory for the half with memory to spare, "
                f"got {free:,}"
            )
        self._fill(place.says)
        size = sum(file.stat().st_size for file in self._databases())
        place.says(f"{self.workload.name}: with memory to spare")
        roomy = self.half(place, 0, None, nullcontext)
        limit = roomy.own_bytes + KERNEL_BYTES + round(self.share * self.state_bytes)
        place.says(f"{self.workload.name}: with {limit / 1e6:.0f} MB")
        return self.compared(roomy, self.half(place, 1, limit, place.counted), limit, size)

    def compared(self, roomy: Half, tight: Half, limit: int, files: int) -> Outcome:
        """Return the figures of two halves.

        Args:
            roomy: With memory to spare.
            tight: With little memory.
            limit: How much that was, bytes.
            files: Size of the state's files, bytes.
        """
        first = [*roomy.wrong, *_uncached(roomy)]
        second = [*tight.wrong, *self._cached(tight, limit)]
        figures = [
            *_rates("roomy", roomy, first),
            *_rates("limited", tight, second),
            *_ratios(roomy, tight, tuple(dict.fromkeys([*first, *second]))),
        ]
        sizes = {
            "state": self.state_bytes,
            "state-files": files,
            "memory-limit": limit,
            "node-memory": roomy.own_bytes,
        }
        figures += [
            Observation(Metric(name, "B", Better.NEITHER), size) for name, size in sizes.items()
        ]
        return Outcome(
            figures,
            latencies=[
                latencies("roomy-response", roomy.responses, intended=True),
                latencies("limited-response", tight.responses, intended=True),
            ],
            work=Work(transactions=len(tight.flat.committed) * tight.flat.per_batch),
        )

    def _fill(self, says: Callable[[str], None]) -> None:
        if self.directory.exists():
            return
        load = self._load(1, self.choices.seed)
        try:
            with (
                NodeOnVolume(self.volume).running(self.directory, load) as ledger,
                closing(LedgerClient(LedgerPlace.here(ledger.url))) as client,
            ):
                batches, done = load.filling_at_once(), 0
                while some := list(islice(batches, _AT_ONCE)):
                    commit_flat_out(client, some)
                    done += len(some)
                    says(f"{self.workload.name}: filling, {done} batches so far")
        except BaseException:
            self.remove()  # or half a state would be taken for a filled one
            raise

    def half(
        self,
        place: Place,
        number: int,
        limit: int | None,
        counted: Callable[[], AbstractContextManager[None]],
    ) -> Half:
        """Run the load once.

        Args:
            place: Of the execution.
            number: Of the half; each signs other transactions.
            limit: Memory for the node and its page cache, bytes; None for no limit.
            counted: See `Place.counted`.

        Raises:
            UnavailableError: The kernel ended the node for want of memory, or it failed otherwise.
        """
        rate_per_s = self.choices.rate_per_s
        flat = self.workload.batches(self.workload.flat_out * self.choices.scale)
        paced = self.workload.batches(rate_per_s * self.choices.open_s)
        load = self._load(flat + paced, 2 * place.seed + number)  # new to the chain each time
        files = signed(load, place.scratch, lambda _, __: None)
        target = NodeOnVolume(self.volume)
        bench = Measurement(self.workload, target, self.choices)
        cool_all(self.directory)
        with memory_group(limit) as group:
            self._warm(group, limit)
            try:
                with target.running(self.directory, load, group=group) as ledger:
                    return _measured(
                        Ready(bench, ledger, files, place), flat, paced, rate_per_s, counted
                    )
            except WaysealError as error:
                if oom_kills(group):
                    why = f"the kernel ended the node: it needs more memory than {limit:,} bytes"
                    raise UnavailableError(why) from error
                raise

    def _load(self, batches: int, seed: int) -> PaperLoad:
        load = self.workload.load("", batches, self.choices.writes, seed, self.choices.scale)
        if not isinstance(load, PaperLoad):
            raise TypeError(f"expected a load with a state, got {self.workload.name}")
        return load

    def _databases(self) -> Iterator[Path]:
        return self.directory.rglob("data.mdb")

    def _warm(self, group: Path, limit: int | None) -> None:
        """Read the state's files in the group: its page cache is then as full as it can be."""
        for file in self._databases():
            words = ["cat", str(file)] if limit is None else ["tail", "-c", str(limit), str(file)]
            subprocess.run(joining(group, words), stdout=subprocess.DEVNULL, check=True)  # noqa: S603

    def _cached(self, tight: Half, limit: int) -> Iterator[Raised]:
        """Yield the flag of a state that memory could hold after all."""
        if self.state_bytes <= limit:
            why = f"expected a state larger than {limit:,} bytes, got {self.state_bytes:,}"
            yield Raised(Flag.CACHED, why)
        elif not tight.read_bytes:
            yield Raised(Flag.CACHED, "expected the node to read from the disk, it read nothing")


def _measured(
    ready: Ready,
    flat: int,
    paced: int,
    rate_per_s: float,
    counted: Callable[[], AbstractContextManager[None]],
) -> Half:
    node = {NODE: ready.ledger.processes[NODE]}
    first = ready.ledger.reader.head()
    with counted(), watching(node, _EVERY_S) as watched:
        fast = ready.load(0, flat, per_list=PER_LIST, window=WINDOW)
    second = ready.ledger.reader.head()
    with watching(node, _EVERY_S) as later:
        slow = ready.load(flat, paced, rate_per_s=rate_per_s)
    wrong = [*ready.wrong(fast, first), *ready.wrong(slow, second)]
    own = max(watched.anonymous_peak(NODE), later.anonymous_peak(NODE))
    return Half(fast, slow, wrong, behind(slow, rate_per_s), watched.read(NODE), own)


def _rates(name: str, half: Half, wrong: Sequence[Raised]) -> Iterator[Observation]:
    flags = (*wrong, *limited(half.flat))
    yield Observation(Metric(f"{name}-committed-rate", "1/s"), half.flat.rate_per_s, None, flags)
    for each in percentiles(f"{name}-response", half.responses, _PERCENTS):
        yield Observation(each.metric, each.value, None, (*wrong, *half.late, *each.flags))
    read = Metric(f"{name}-read-per-transaction", "B", Better.LOWER)
    yield Observation(read, half.read_per_transaction, None, tuple(wrong))


def _ratios(roomy: Half, tight: Half, flags: tuple[Raised, ...]) -> Iterator[Observation]:
    """Yield the second half's figures, each over the first one's."""
    rate = tight.flat.rate_per_s / roomy.flat.rate_per_s
    yield Observation(Metric("committed-rate-ratio", "1"), rate, None, flags)
    late = tuple(dict.fromkeys([*flags, *roomy.late, *tight.late]))
    for each in _PERCENTS:
        ratio = percentile(tight.responses, each) / percentile(roomy.responses, each)
        metric = Metric(f"response-p{each:g}-ratio", "1", Better.LOWER)
        yield Observation(metric, ratio, None, late)


def _uncached(roomy: Half) -> Iterator[Raised]:
    """Yield the flag of a first half that memory did not hold."""
    if roomy.read_per_transaction >= _PAGE_BYTES:
        why = f"expected the state in memory, got {roomy.read_bytes:,} bytes read from the disk"
        yield Raised(Flag.INVALID, why)
