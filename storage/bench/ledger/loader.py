"""The loader: a process of its own that posts signed batches and waits until they are committed.

Usage: python -m storage.bench.ours.ledger.loader PLAN, a JSON object; answers with one on stdout.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Final

import uvloop

from storage.bench.ours.ledger.signed import read_signed
from storage.bench.ours.ledger.wire import Connection

POOL: Final = 64
"""Connections of a paced run, which may all wait at once."""
START_S: Final = 0.5
"""A paced run begins so many seconds after its connections are there."""

Signed = tuple[str, bytes]
"""A batch's id and bytes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to post.

    Attributes:
        url: The node.
        files: One file of signed batches for each device.
        first: Which batch of each file to begin with.
        count: How many batches of each file.
        per_list: Batches of one device in one POST.
        group: A device goes on before its last so many batches are committed, no further.
        interval_s: Pace: seconds between two batches; 0 means as fast as the node takes them.
    """

    url: str
    files: Sequence[str]
    first: int
    count: int
    per_list: int = 1
    group: int = 1
    interval_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        elapsed_s: From the first POST until all was known to be committed.
        cpu_s: Of this process meanwhile.
        latencies_s: Of a paced run: from each batch's intended time to its COMMITTED, in order.
    """

    elapsed_s: float
    cpu_s: float
    latencies_s: Sequence[float] = ()


def main() -> None:
    """Do what the plan says and print the outcome."""
    plan = Plan(**json.loads(sys.argv[1]))
    work = _paced(plan) if plan.interval_s else _flat_out(plan)
    print(json.dumps(asdict(uvloop.run(work))))  # noqa: T201 - its one answer


async def _flat_out(plan: Plan) -> Outcome:
    """Post as fast as the node takes them, each device on its own connection, in its order."""
    connections = [await Connection.open(plan.url) for _ in plan.files]
    start_s, start_cpu_s = time.monotonic(), time.process_time()
    async with asyncio.TaskGroup() as tasks:
        for connection, path in zip(connections, plan.files, strict=True):
            tasks.create_task(_device(plan, connection, path))
    return Outcome(time.monotonic() - start_s, time.process_time() - start_cpu_s)


async def _device(plan: Plan, connection: Connection, path: str) -> None:
    before: list[str] = []
    fresh: list[str] = []
    batches = _planned(plan, path)
    while some := list(islice(batches, plan.per_list)):
        await connection.post([wire for _, wire in some])
        fresh += [name for name, _ in some]
        if len(fresh) >= plan.group:
            await connection.settle(before)
            before, fresh = fresh, []
    await connection.settle(before + fresh)


async def _paced(plan: Plan) -> Outcome:
    """Post one batch at each tick, of one device after the other, whatever became of the last."""
    rounds = zip_longest(*(_planned(plan, path) for path in plan.files))
    batches = [batch for batch in chain.from_iterable(rounds) if batch is not None]
    # In turn: the node ends a connection that sends nothing for long.
    idle: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(POOL):
        idle.put_nowait(await Connection.open(plan.url))
    start_s, start_cpu_s = time.monotonic() + START_S, time.process_time()
    async with asyncio.TaskGroup() as tasks:
        timed = []
        for number, batch in enumerate(batches):
            due_s = start_s + number * plan.interval_s
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            timed.append(tasks.create_task(_one(idle, batch, due_s)))
    cpu_s = time.process_time() - start_cpu_s
    return Outcome(time.monotonic() - start_s, cpu_s, [task.result() for task in timed])


async def _one(idle: asyncio.Queue[Connection], batch: Signed, due_s: float) -> float:
    """Return seconds from `due_s`, when the batch should have been posted, to COMMITTED."""
    connection = await idle.get()
    try:
        await connection.post([batch[1]])
        await connection.settle([batch[0]])
        return time.monotonic() - due_s
    finally:
        idle.put_nowait(connection)


def _planned(plan: Plan, path: str) -> Iterator[Signed]:
    return islice(read_signed(Path(path)), plan.first, plan.first + plan.count)


if __name__ == "__main__":
    main()
