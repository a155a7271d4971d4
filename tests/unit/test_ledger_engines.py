"""What REST and the component port rely on holds for every engine: `Submitter`, `BlockReader`."""

import asyncio
import queue
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.engine import CometBft, Program
from contracts.ledger.cometbft.home import HOME, Pace
from contracts.ledger.cometbft.network import prepare
from contracts.ledger.cometbft.process import find_program
from contracts.ledger.engine.ports import BlockReader, QueueFullError, Submitter
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import QUEUED_BYTES_MAX, Submissions
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.solo.publisher import Publisher, found
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status, build_batch
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from contracts.sawtooth.settings import propose
from support.ledgers.cometbft import lay_out, need_cometbft
from support.ledgers.founding import untimed_genesis
from support.ledgers.intkey_node import FAMILIES, NAMESPACE, address_of
from support.ledgers.memory_engine import MemoryEngine
from support.ledgers.nodes import WAIT_S, intkey, intkey_batch, naive_root

SIGNER = Signer.from_hex("11" * 32)
NOTHING = "0" * 128
Steps = Callable[[BlockReader, Submitter], Awaitable[None]]
Run = Callable[[Steps], None]
Engine = Callable[[Path], AbstractContextManager[tuple[BlockReader, Submitter]]]


@contextmanager
def solo(directory: Path) -> Iterator[tuple[BlockReader, Submitter]]:
    """Run the embedded engine, wired as in `contracts.ledger.server`."""
    loop = asyncio.get_running_loop()
    chain = Chain.open(directory)
    found(chain, SIGNER, FAMILIES, [untimed_genesis(SIGNER, [SIGNER.public_key])])

    def report(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(submissions.apply, outcome)

    publisher = Publisher(chain, SIGNER, FAMILIES, report, lambda _: None)
    submissions = Submissions(
        publisher.submit, lambda: publisher.trouble, lambda name: chain.find_batch(name) is not None
    )
    publisher.start()
    try:
        yield chain, submissions
    finally:
        publisher.stop()
        chain.close()


@contextmanager
def cometbft(directory: Path) -> Iterator[tuple[BlockReader, Submitter]]:
    """Run one validator, wired as in `contracts.ledger.server`."""
    need_cometbft()
    loop = asyncio.get_running_loop()
    first = [untimed_genesis(SIGNER, [SIGNER.public_key])]
    (place,) = lay_out(directory, 1, first, SIGNER)
    prepare(place, Pace())
    chain = Chain.open(place)

    def report(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(submissions.apply, outcome)

    program = Program(find_program(None), place / HOME)
    engine = CometBft(chain, SIGNER, FAMILIES, program, report, lambda _: None)
    submissions = Submissions(
        engine.submit, lambda: engine.trouble, lambda name: chain.find_batch(name) is not None
    )
    try:
        engine.start()
        yield chain, submissions
    finally:
        engine.stop()
        chain.close()


@contextmanager
def memory(_: Path) -> Iterator[tuple[BlockReader, Submitter]]:
    engine = MemoryEngine(SIGNER, FAMILIES)
    yield engine, engine


@pytest.fixture(params=[solo, memory, pytest.param(cometbft, marks=pytest.mark.integration)])
def on_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    def run(steps: Steps) -> None:
        async def walk() -> None:
            with request.param(tmp_path) as (blocks, submitter):
                await steps(blocks, submitter)

        asyncio.run(walk())

    return run


async def decide(submitter: Submitter, *batches: Batch) -> list[Status]:
    """Submit batches together; return their statuses once they are decided."""
    names = [batch.header_signature for batch in batches]
    size = sum(batch.ByteSize() for batch in batches)
    submitter.check(size)
    submitter.hold(batches=len(batches), size=size)
    submitter.submit([verify_batch(batch) for batch in batches], size)
    await submitter.wait(names, WAIT_S)
    return [submitter.status(name) for name in names]


def test_batches_are_decided_and_refusals_kept(on_engine: Run) -> None:
    good, bad = intkey_batch(SIGNER, 1), build_batch(SIGNER, [intkey(SIGNER, "inc", "x", 1)])
    names = [good.header_signature, bad.header_signature]

    async def steps(_: BlockReader, submitter: Submitter) -> None:
        assert [submitter.status(name) for name in names] == [Status.UNKNOWN] * 2
        assert await decide(submitter, good, bad) == [Status.COMMITTED, Status.INVALID]
        refusal = submitter.refusal(names[1])
        assert refusal is not None
        assert refusal.transaction_id == bad.transactions[0].header_signature
        assert refusal.message == 'Verb is "inc" but name "x" not in state'
        assert submitter.refusal(names[0]) is None

    on_engine(steps)


def test_a_batch_is_committed_once(on_engine: Run) -> None:
    async def steps(blocks: BlockReader, submitter: Submitter) -> None:
        batch = intkey_batch(SIGNER, 1)
        assert await decide(submitter, batch) == [Status.COMMITTED]
        head = blocks.head
        assert await decide(submitter, batch) == [Status.COMMITTED]
        assert blocks.head == head

    on_engine(steps)


def test_a_batch_waits_for_its_dependencies(on_engine: Run) -> None:
    async def steps(blocks: BlockReader, submitter: Submitter) -> None:
        first = intkey(SIGNER, "set", "a", 1)
        needs = [first.header_signature]
        after = build_batch(SIGNER, [intkey(SIGNER, "set", "b", 1, dependencies=needs)])
        head = blocks.head
        assert await decide(submitter, after) == [Status.UNKNOWN]
        assert blocks.head == head
        assert await decide(submitter, build_batch(SIGNER, [first])) == [Status.COMMITTED]
        assert await decide(submitter, after) == [Status.COMMITTED]

    on_engine(steps)


def test_a_batch_that_depends_on_its_own_transaction_is_never_decided(on_engine: Run) -> None:
    async def steps(blocks: BlockReader, submitter: Submitter) -> None:
        first = intkey(SIGNER, "set", "a", 1)
        needs = [first.header_signature]
        second = intkey(SIGNER, "set", "b", 1, dependencies=needs)
        head = blocks.head
        for order in ([first, second], [second, first]):
            batch = build_batch(SIGNER, order)
            assert await decide(submitter, batch) == [Status.UNKNOWN]
            why = submitter.refusal(batch.header_signature)
            assert why is not None
            assert why.transaction_id == second.header_signature
            assert f"{needs[0][:16]}… of its own batch" in why.message
        assert blocks.head == head
        apart = [build_batch(SIGNER, [each]) for each in (first, second)]
        assert await decide(submitter, *apart) == [Status.COMMITTED] * 2

    on_engine(steps)


def test_a_full_queue_takes_nothing(on_engine: Run) -> None:
    async def steps(_: BlockReader, submitter: Submitter) -> None:
        submitter.hold(batches=1, size=QUEUED_BYTES_MAX)
        for ask in (submitter.check, lambda size: submitter.hold(size=size)):
            with pytest.raises(QueueFullError):
                ask(1)
        submitter.release(batches=1, size=QUEUED_BYTES_MAX)
        assert await decide(submitter, intkey_batch(SIGNER, 1)) == [Status.COMMITTED]

    on_engine(steps)


@pytest.mark.parametrize("engine", [solo, memory])
def test_batches_of_one_call_share_a_block(engine: Engine, tmp_path: Path) -> None:
    """CometBFT may begin a height between two of them."""

    async def walk() -> None:
        with engine(tmp_path) as (blocks, submitter):
            one, two = (intkey_batch(SIGNER, first, 2) for first in (10, 20))
            await decide(submitter, one, two)
            places = [blocks.find_batch(each.header_signature) for each in (one, two)]
            assert [each and (each.block_num, each.batch) for each in places] == [(1, 0), (1, 1)]

    asyncio.run(walk())


def test_blocks_are_found_by_number_id_and_content(on_engine: Run) -> None:
    async def steps(blocks: BlockReader, submitter: Submitter) -> None:
        seen: queue.SimpleQueue[int] = queue.SimpleQueue()

        def notice() -> None:
            assert blocks.head is not None
            seen.put(blocks.head.num)

        blocks.follow(notice)
        one, two = (intkey_batch(SIGNER, first, 2) for first in (10, 20))
        for batch in (one, two):
            await decide(submitter, batch)
        chain = [stored for number in range(4) if (stored := blocks.by_num(number)) is not None]
        # A block is visible shortly before its followers hear of it.
        heard = [seen.get(timeout=WAIT_S), seen.get(timeout=WAIT_S)]
        assert heard == [stored.num for stored in chain[1:]] == [1, 2]
        assert blocks.head == chain[-1]
        before = [NULL_BLOCK_ID, *(stored.id for stored in chain[:-1])]
        assert [stored.header.previous_block_id for stored in chain] == before
        assert [blocks.by_id(stored.id) for stored in chain] == chain
        for number in (-1, 3, 1 << 64):
            assert blocks.by_num(number) is None
        assert blocks.by_id(NOTHING) is None
        assert blocks.find_batch(NOTHING) is None
        assert blocks.find_transaction(NOTHING) is None
        place = blocks.find_batch(two.header_signature)
        assert place is not None
        assert (place.block_num, place.batch) == (2, 0)
        last = two.transactions[1].header_signature
        position = blocks.find_transaction(last)
        assert position is not None
        assert (position.block_num, position.batch, position.transaction) == (2, 0, 1)
        receipt = chain[2].receipt_of(position)
        assert receipt.transaction_id == last
        assert [change.address for change in receipt.state_changes] == [address_of("k21")]

    on_engine(steps)


def test_every_block_has_its_state(on_engine: Run) -> None:
    async def steps(blocks: BlockReader, submitter: Submitter) -> None:
        for number in range(1, 4):
            await decide(submitter, intkey_batch(SIGNER, number))
        states = [dict(blocks.state_after(number).leaves()) for number in range(4)]
        for older, newer in pairwise(states):
            assert set(newer) - set(older) <= {address_of(f"k{number}") for number in range(1, 4)}
        for number, state in enumerate(states):
            stored, reader = blocks.by_num(number), blocks.state_after(number)
            assert stored is not None
            assert stored.header.state_root_hash == naive_root(state)
            assert list(state) == sorted(state)
            assert dict(reader.leaves(reverse=True)) == state
            assert list(dict(reader.leaves(reverse=True))) == sorted(state, reverse=True)
            assert (reader.get(address_of("k3")) is None) == (number < 3)
        newest, ours = blocks.state_after(3), sorted(address_of(f"k{n}") for n in range(1, 4))
        assert [address for address, _ in newest.leaves(NAMESPACE)] == ours
        assert [address for address, _ in newest.leaves(NAMESPACE, ours[1])] == ours[1:]
        back = [address for address, _ in newest.leaves(NAMESPACE, ours[1], reverse=True)]
        assert back == ours[1::-1]

    on_engine(steps)


def test_a_block_that_may_change_what_later_ones_obey_is_told(on_engine: Run) -> None:
    async def steps(blocks: BlockReader, submitter: Submitter) -> None:
        since = blocks.governed_since
        await decide(submitter, intkey_batch(SIGNER, 1))
        assert blocks.governed_since == since
        changing = build_batch(SIGNER, [propose(SIGNER, "a.setting", "x")])
        assert await decide(submitter, changing) == [Status.COMMITTED]
        position = blocks.find_batch(changing.header_signature)
        assert position is not None
        assert blocks.governed_since == position.block_num > since
        await decide(submitter, intkey_batch(SIGNER, 2))
        assert blocks.governed_since == position.block_num

    on_engine(steps)
