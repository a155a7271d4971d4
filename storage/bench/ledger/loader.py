"""The loader: a separate process that submits signed batches and learns when each is decided.

Usage: python -m storage.bench.ledger.loader reads its plan, a JSON object, from stdin, because a
ledger's URL may hold a key; it answers with another one on stdout.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import uvloop

from contracts.errors import RejectedError, WaysealError
from contracts.ledger.place import TLS_VARIABLES
from contracts.runtime.files import write_all
from storage.bench.ledger.evm.driver import EvmDriver
from storage.bench.ledger.port import Driver
from storage.bench.ledger.sawtoothrest import SawtoothRest
from storage.bench.servers.processes import ask
from storage.bench.trucks.signed import read_signed

START_S: Final = 0.2
"""The schedule begins so many seconds after all connections are open."""
STALLED_S: Final = 60.0
"""If the ledger decides nothing for so long, all undecided batches count as lost."""
ASKED_MAX: Final = 1_000
"""Batches asked for in one question."""
PAUSE_S: Final = 0.005
"""After a question without a decision."""
LOST: Final = f"not decided in {STALLED_S:.0f} s"

Open = Callable[[str], Awaitable[Driver]]
"""Connects to the ledger at a URL."""


def _fabric() -> Open:
    from storage.bench.ledger.fabric.driver import FabricDriver  # noqa: PLC0415  # needs an extra

    return FabricDriver.opener()


ENGINES: Final[Mapping[str, Callable[[], Open]]] = {
    "sawtooth": lambda: SawtoothRest.open,
    "evm": EvmDriver.opener,
    "fabric": _fabric,
}
"""Makes, for one load, what connects to a ledger of that engine."""


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """The plan of a load.

    Attributes:
        url: The ledger.
        files: One file of signed batches for each lane. A lane submits in order, one at a time.
        first: Which batch of each file to begin with.
        count: How many batches of each file.
        per_list: Batches of one lane in one submission.
        window: A lane has at most so many batches undecided; 0 means any number.
        rate_per_s: Open loop: batches a second, of all lanes in turn, whether or not earlier ones
            are decided; 0 means as fast as the ledger takes them.
        engine: Name of the driver.
    """

    url: str
    files: Sequence[str]
    first: int
    count: int
    per_list: int = 1
    window: int = 0
    rate_per_s: float = 0.0
    engine: str = "sawtooth"


@dataclass(slots=True)
class Fate:
    """The fate of one batch. Times are seconds of this machine's monotonic clock.

    Attributes:
        batch_id: Its header signature.
        lane: Of its file.
        intended_s: Time at which it was due; without a schedule, the time of its submission.
        sent_s: Begin of its submission.
        accepted_s: Time at which the ledger held it.
        decided_s: Time at which it was known as committed, or as refused.
        error: Reason why it is not committed; empty if it is.
    """

    batch_id: str
    lane: int
    intended_s: float
    sent_s: float = 0.0
    accepted_s: float = 0.0
    decided_s: float = 0.0
    error: str = LOST


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """The outcome of a load.

    Attributes:
        fates: One for each batch, in the order in which they were due.
        busy: Number of answers that the ledger was too busy.
        cpu_s: CPU seconds of the loader.
    """

    fates: Sequence[Fate]
    busy: int
    cpu_s: float

    @property
    def elapsed_s(self) -> float:
        """Return the seconds from the first submission until all was decided."""
        return max(fate.decided_s for fate in self.fates) - min(fate.sent_s for fate in self.fates)

    @property
    def cpu_share(self) -> float:
        """Return the share of one core that the loader used; it has no more than one."""
        return self.cpu_s / (self.elapsed_s + START_S)


def main() -> None:
    """Carry out the plan and print the outcome."""
    plan = LoadPlan(**json.loads(sys.stdin.read()))
    try:
        outcome = uvloop.run(load(plan, ENGINES[plan.engine]()))
    except WaysealError as error:
        sys.exit(str(error))
    # With PYTHONUNBUFFERED `print` loses the bytes that a full pipe does not take at once.
    write_all(sys.stdout.fileno(), [json.dumps(asdict(outcome)).encode()])


def carried_out(plan: LoadPlan) -> LoadOutcome:
    """Let a loader carry out a plan, as its own process.

    Raises:
        UnavailableError: It failed.
    """
    command = ["python", "-m", "storage.bench.ledger.loader"]
    said = json.loads(ask(command, json.dumps(asdict(plan)), kept=TLS_VARIABLES))
    return LoadOutcome([Fate(**fate) for fate in said["fates"]], said["busy"], said["cpu_s"])


async def load(plan: LoadPlan, connect: Open) -> LoadOutcome:
    """Submit all batches and follow each to its decision.

    Raises:
        RejectedError: A file is cut short or has too few batches.
        UnavailableError: The ledger does not answer.
    """
    batches = [_planned(plan, Path(path)) for path in plan.files]
    drivers = [await connect(plan.url) for _ in plan.files]
    follower = await connect(plan.url)
    try:
        start_s, start_cpu_s = time.monotonic() + START_S, time.process_time()
        lanes = [
            _Lane(plan, number, driver, _schedule(plan, number, start_s))
            for number, driver in enumerate(drivers)
        ]
        following = _Following(follower)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(following.run())
            async with asyncio.TaskGroup() as senders:
                for lane, own in zip(lanes, batches, strict=True):
                    senders.create_task(lane.run(own, following))
            following.end()
        fates = sorted((fate for lane in lanes for fate in lane.fates), key=_due)
        busy = sum(lane.busy for lane in lanes)
        return LoadOutcome(fates, busy, time.process_time() - start_cpu_s)
    except ExceptionGroup as errors:
        raise _first(errors) from errors  # it ended the other tasks
    finally:
        for driver in (*drivers, follower):
            driver.close()


def _first(error: Exception) -> Exception:
    """Return the first error of groups in groups."""
    return _first(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


def _planned(plan: LoadPlan, path: Path) -> list[tuple[str, bytes]]:
    """Return ids and bytes of the planned batches; read before the clock runs."""
    found = list(islice(read_signed(path, plan.first), plan.count))
    if len(found) < plan.count:
        raise RejectedError(f"{path}: expected {plan.first + plan.count} batches, got fewer")
    return found


def _schedule(plan: LoadPlan, lane: int, start_s: float) -> Iterator[float]:
    """Yield the due times of a lane's batches: the lanes take turns."""
    number = lane
    while True:
        yield start_s + (number / plan.rate_per_s if plan.rate_per_s else 0.0)
        number += len(plan.files)


def _due(fate: Fate) -> tuple[float, float, int]:
    return fate.intended_s, fate.sent_s, fate.lane


@dataclass(slots=True)
class _Following:
    """Batches that the ledger holds and has not decided, the oldest first."""

    driver: Driver
    waiting: dict[str, tuple[Fate, "_Lane"]] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False

    def add(self, fate: Fate, lane: "_Lane") -> None:
        self.waiting[fate.batch_id] = fate, lane
        self.changed.set()

    def end(self) -> None:
        """No more batches come."""
        self.ended = True
        self.changed.set()

    async def run(self) -> None:
        """Follow until every batch is decided, or the ledger stalls."""
        moved_s = time.monotonic()
        while True:
            if not self.waiting:
                if self.ended:
                    return
                self.changed.clear()
                await self.changed.wait()
                moved_s = time.monotonic()
                continue
            found = await self.driver.decided(list(islice(self.waiting, ASKED_MAX)))
            now_s = time.monotonic()
            for batch_id, error in found.items():
                self._decide(batch_id, error, now_s)
            if found:
                moved_s = now_s
            elif now_s - moved_s > STALLED_S:
                for batch_id in list(self.waiting):
                    self._decide(batch_id, LOST, now_s)
            else:
                await asyncio.sleep(PAUSE_S)

    def _decide(self, batch_id: str, error: str, now_s: float) -> None:
        fate, lane = self.waiting.pop(batch_id)
        fate.decided_s, fate.error = now_s, error
        lane.room.release()


class _Lane:
    """Submits the batches of one file in their order."""

    def __init__(self, plan: LoadPlan, number: int, driver: Driver, due: Iterator[float]) -> None:
        self._plan = plan
        self._number = number
        self._driver = driver
        self._due = due
        window = max(plan.window, plan.per_list) if plan.window else plan.count
        self.room = asyncio.Semaphore(window)
        self.fates: list[Fate] = []
        self.busy = 0

    async def run(self, batches: Sequence[tuple[str, bytes]], following: _Following) -> None:
        own = iter(batches)
        while some := list(islice(own, self._plan.per_list)):
            for _ in some:
                await self.room.acquire()
            due_s = [next(self._due) for _ in some]
            await asyncio.sleep(max(0.0, due_s[-1] - time.monotonic()))
            await self._submit(some, due_s, following)

    async def _submit(
        self, some: Sequence[tuple[str, bytes]], due_s: Sequence[float], following: _Following
    ) -> None:
        sent_s = time.monotonic()
        intended_s = due_s if self._plan.rate_per_s else [sent_s] * len(some)
        fates = [
            Fate(batch_id, self._number, when_s, sent_s)
            for (batch_id, _), when_s in zip(some, intended_s, strict=True)
        ]
        self.fates += fates
        try:
            self.busy += await self._driver.submit([wire for _, wire in some])
        except RejectedError as error:
            for fate in fates:
                fate.decided_s, fate.error = time.monotonic(), str(error)
                self.room.release()
            return
        accepted_s = time.monotonic()
        for fate in fates:
            fate.accepted_s = accepted_s
            following.add(fate, self)


if __name__ == "__main__":
    main()
