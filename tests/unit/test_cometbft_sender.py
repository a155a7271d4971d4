"""What becomes of a batch that the mempool takes, refuses, or has no answer for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

import pytest

from contracts import address
from contracts.encoding import canonical
from contracts.errors import UnavailableError
from contracts.ledger.blocks.compression import MAGIC
from contracts.ledger.cometbft import admission, batches
from contracts.ledger.cometbft.batches import are_compressed
from contracts.ledger.cometbft.decisions import Code
from contracts.ledger.cometbft.rpc import Rpc
from contracts.ledger.cometbft.sender import Sender, _again
from contracts.ledger.engine import waiting as waiting_module
from contracts.ledger.engine.statuses import Outcome, Statuses
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.execution.families import BUILT_IN, Families
from contracts.ledger.execution.verify import verify_batch
from contracts.proto.abci_pb2 import RequestCheckTx
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status, build_batch
from contracts.sawtooth.settings import CARRIED, propose
from support.ledgers.heights import FOUNDER, POWERS, Heights, first_batches, heights, tx
from support.ledgers.intkey_node import FAMILIES, INTKEY
from support.ledgers.nodes import intkey, intkey_batch
from support.machine.waiting import wait_until


class Mempool(Rpc):
    """Asks the application, as the engine does; keeps what it lets in."""

    def __init__(self, ledger: Heights) -> None:
        self._ledger = ledger
        self.asked = 0
        self.taken: list[bytes] = []

    def offer(self, txs: Sequence[bytes]) -> list[str]:
        for each in txs:
            answer = self._ledger.application.check_tx(RequestCheckTx(tx=each))
            self.taken += [each] if not answer.code else []
        self.asked += len(txs)
        return ["" for _ in txs]


class Gossiped(Mempool):
    """Has each batch from another validator when it is offered for the first time."""

    def offer(self, txs: Sequence[bytes]) -> list[str]:
        first = not self.asked
        super().offer(txs)
        return ["tx already exists in cache" if first else "" for _ in txs]


class Silent(Mempool):
    """Asks about the batches of the first request, and does not answer for a while."""

    answers = False

    def offer(self, txs: Sequence[bytes]) -> list[str]:
        if not self.asked:
            super().offer(txs)
        if not self.answers:
            raise UnavailableError("CometBFT beside this node does not answer: timed out")
        return ["tx already exists in cache" for _ in txs]


class Refusing(Mempool):
    """Asks the application about nothing."""

    def offer(self, txs: Sequence[bytes]) -> list[str]:
        return ["Tx too large. Max size is 9, but got 10" for _ in txs]


class CatchingUp(Mempool):
    """Is getting blocks from other validators when it is asked for the first time."""

    def offer(self, txs: Sequence[bytes]) -> list[str]:
        if self.asked:
            return super().offer(txs)
        self.asked = len(txs)
        words = "Internal error: endpoint is closed while node is catching up"
        return [words for _ in txs]


M = TypeVar("M", bound=Mempool)


@dataclass
class Scene(Generic[M]):
    """A sender between a ledger and its mempool; `told` has what was reported so far."""

    ledger: Heights
    mempool: M
    told: Outcome = field(default_factory=Outcome)
    statuses: Statuses = field(default_factory=lambda: Statuses(lambda _: False))

    def __post_init__(self) -> None:
        self.sender = Sender(self.ledger.application, self.mempool, self._note)

    def submit(self, *mine: Batch) -> None:
        self.sender.submit(Submission([verify_batch(each) for each in mine], 10))

    def register(self) -> None:
        self.ledger.application._executing._own = FAMILIES  # noqa: SLF001 - as if one registered
        self.sender.registered(INTKEY)

    def _note(self, outcome: Outcome) -> None:
        self.told.decided += outcome.decided
        self.told.invalid |= outcome.invalid
        self.told.queued_batches += outcome.queued_batches
        self.statuses.apply(outcome)


@contextmanager
def sending(folder: Path, kind: type[M], families: Families = FAMILIES) -> Iterator[Scene[M]]:
    with heights(folder / "data", families) as ledger:
        ledger.begin(first_batches(), POWERS)
        scene = Scene(ledger, kind(ledger))
        scene.sender.start()
        try:
            yield scene
        finally:
            scene.sender.stop()


def test_a_batch_waits_while_the_engine_catches_up(tmp_path: Path) -> None:
    with sending(tmp_path, CatchingUp) as scene:
        scene.submit(intkey_batch(FOUNDER, 1))
        wait_until(lambda: bool(scene.mempool.taken) or bool(scene.told.invalid))
    assert scene.mempool.taken
    assert not scene.told.invalid


def test_what_the_mempool_has_and_did_not_take_is_not_waited_for(tmp_path: Path) -> None:
    """The application refused it while it came from another validator and from here."""
    with sending(tmp_path, Gossiped, BUILT_IN) as scene:
        scene.submit(intkey_batch(FOUNDER, 1))
        wait_until(lambda: scene.mempool.asked == 1)
        scene.register()
        wait_until(lambda: len(scene.mempool.taken) == 1)
    assert not scene.told.decided


def test_what_was_said_before_a_request_failed_counts(tmp_path: Path) -> None:
    """CometBFT, which had no time to hear it, has the batch still."""
    batch = intkey_batch(FOUNDER, 1)
    with sending(tmp_path, Silent, BUILT_IN) as scene:
        scene.submit(batch)
        wait_until(lambda: scene.mempool.asked == 1)
        scene.mempool.answers = True
        wait_until(lambda: scene.told.queued_batches == 1)
    parked = scene.sender._parked.release(INTKEY)  # noqa: SLF001 - no longer in use
    assert [each.id for each in parked] == [batch.header_signature]


def test_what_was_taken_and_committed_while_a_request_failed_holds_no_place(tmp_path: Path) -> None:
    batch = intkey_batch(FOUNDER, 1)
    with sending(tmp_path, Silent) as scene:
        scene.submit(batch)
        wait_until(lambda: len(scene.mempool.taken) == 1)
        scene.ledger.decide(scene.mempool.taken)
        scene.mempool.answers = True
        wait_until(lambda: scene.told.queued_batches == 1)
    assert scene.told.decided == [batch.header_signature]


def test_what_depends_on_one_without_room_waits_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "MEMPOOL_BATCHES", 1)
    first, second = (intkey_batch(FOUNDER, number) for number in (1, 2))
    named = [second.transactions[0].header_signature]
    third = build_batch(FOUNDER, [intkey(FOUNDER, "set", "k3", 3, dependencies=named)])
    with sending(tmp_path, Mempool) as scene:
        scene.submit(first, second, third)
        wait_until(lambda: scene.mempool.asked >= 5)
        for taken in (1, 2, 3):
            wait_until(lambda: len(scene.mempool.taken) == taken)  # noqa: B023 - called at once
            scene.ledger.decide(scene.mempool.taken[-1:])
    assert scene.mempool.taken == [tx(first), tx(second), tx(third)]
    assert not scene.told.decided


def test_copies_of_a_batch_in_other_forms_take_room_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CometBFT knows transactions by their bytes. Zstandard has many frames for one batch."""
    monkeypatch.setattr(admission, "MEMPOOL_BATCHES", 1)
    batch = intkey_batch(FOUNDER, 1)
    traced = Batch.FromString(tx(batch))
    traced.trace = True
    other = tx(intkey_batch(FOUNDER, 2))
    with heights(tmp_path / "data", FAMILIES) as ledger:
        ledger.begin(first_batches(), POWERS)
        assert ledger.check(tx(batch)) == Code.TAKEN
        assert ledger.check(tx(batch)) == Code.TAKEN
        assert ledger.check(canonical(traced)) == Code.NO_ROOM
        assert ledger.check(other) == Code.NO_ROOM
        ledger.decide([canonical(traced)])
        assert ledger.check(other) == Code.NO_ROOM
        ledger.decide([tx(batch)])
        assert ledger.check(other) == Code.TAKEN


def test_what_is_committed_already_holds_no_place(tmp_path: Path) -> None:
    """CometBFT has it in its cache, and does not ask."""
    batch = intkey_batch(FOUNDER, 1)
    with sending(tmp_path, Silent) as scene:
        scene.ledger.decide([tx(batch)])
        scene.mempool.asked, scene.mempool.answers = 1, True
        scene.submit(batch)
        wait_until(lambda: scene.told.queued_batches == 1)
    assert scene.told.decided == [batch.header_signature]
    assert not scene.told.invalid


@pytest.mark.parametrize(("most", "limit"), [("MEMPOOL_BATCHES", 2), ("MEMPOOL_BYTES", 2_000)])
def test_what_the_mempool_has_no_room_for_is_offered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str, limit: int
) -> None:
    """CometBFT itself would say that it took it, and drop it."""
    monkeypatch.setattr(admission, most, limit)
    mine = [intkey_batch(FOUNDER, number) for number in range(3)]
    assert 2 * len(tx(mine[0])) < 2_000 < 3 * len(tx(mine[0]))
    with sending(tmp_path, Mempool) as scene:
        scene.submit(*mine)
        wait_until(lambda: scene.mempool.asked >= 5)
        assert scene.mempool.taken == [tx(each) for each in mine[:2]]
        scene.ledger.decide(scene.mempool.taken[:1])
        wait_until(lambda: len(scene.mempool.taken) == 3)
    assert scene.mempool.taken[2] == tx(mine[2])


def test_what_the_mempool_refuses_without_asking_is_invalid(tmp_path: Path) -> None:
    batch = intkey_batch(FOUNDER, 1)
    with sending(tmp_path, Refusing) as scene:
        scene.submit(batch)
        wait_until(lambda: bool(scene.told.invalid))
    said = scene.told.invalid[batch.header_signature].message
    assert said == "Tx too large. Max size is 9, but got 10"


def test_it_stays_pending_until_a_processor_registers(tmp_path: Path) -> None:
    batch = intkey_batch(FOUNDER, 1)
    with sending(tmp_path, Mempool, BUILT_IN) as scene:
        scene.statuses.add_pending([batch.header_signature])
        scene.submit(batch)
        wait_until(lambda: scene.mempool.asked == 1 and scene.told.queued_batches == 1)
        assert scene.statuses.status(batch.header_signature) is Status.PENDING
        scene.register()
        wait_until(lambda: len(scene.mempool.taken) == 1)
        assert scene.statuses.status(batch.header_signature) is Status.PENDING
    assert scene.told.queued_batches == 1


def test_what_an_orphan_displaces_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_module, "PARKED_MAX", 1)
    first, orphan = (verify_batch(intkey_batch(FOUNDER, number)) for number in (1, 2))
    with heights(tmp_path / "data", BUILT_IN) as ledger:
        ledger.begin(first_batches(), POWERS)
        sender, outcome = Sender(ledger.application, Mempool(ledger), print), Outcome()
        sender._park(_again(first, pending=True), outcome)  # noqa: SLF001 - of its own thread
        assert outcome.decided == []
        sender._park(_again(orphan), outcome)  # noqa: SLF001
        assert outcome.decided == [first.id]


@pytest.mark.parametrize("value", ["zstd", "none"])
def test_what_rest_has_verified_is_not_verified_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """Signatures are a third of a validator's work on a batch."""
    with heights(tmp_path / "data") as ledger:
        ledger.begin(first_batches(), POWERS)
        ledger.decide([tx(build_batch(FOUNDER, [propose(FOUNDER, CARRIED, value)]))])
        mempool = Mempool(ledger)
        sender = Sender(ledger.application, mempool, lambda _: None)
        verified = verify_batch(intkey_batch(FOUNDER, 1, 20))
        monkeypatch.setattr(batches, "verify_batch", lambda _: pytest.fail("verified again"))
        sender.start()
        try:
            sender.submit(Submission([verified], 10))
            wait_until(lambda: len(mempool.taken) == 1)
            proposed = ledger.propose(mempool.taken)
            assert ledger.accepts(proposed)
            ledger.decide(proposed)
        finally:
            sender.stop()
        assert ledger.chain.find_batch(verified.id) is not None


@pytest.mark.parametrize("value", [None, "zstd", "lz4"])
def test_batches_are_compressed_once_the_ledger_says_so(tmp_path: Path, value: str | None) -> None:
    """A validator of an earlier version would refuse them."""
    batch = intkey_batch(FOUNDER, 1, 20)
    words = [build_batch(FOUNDER, [propose(FOUNDER, CARRIED, value)])] if value else []
    with heights(tmp_path / "data") as ledger:
        ledger.begin(first_batches(), POWERS)
        mempool = Mempool(ledger)
        sender = Sender(ledger.application, mempool, lambda _: None)
        sender.start()
        try:
            for each in (*words, batch):
                sender.submit(Submission([verify_batch(each)], 10))
                wait_until(partial(was_sent, mempool, each.header_signature))
                ledger.decide(mempool.taken[-1:])
        finally:
            sender.stop()
    assert mempool.taken[-1].startswith(MAGIC) is (value == "zstd")


@dataclass
class State:
    """A state in which one address has a value."""

    place: str
    value: bytes

    def get(self, place: str) -> bytes | None:
        return self.value if place == self.place else None


@pytest.mark.parametrize("value", [b"", b"\xff", b"zstd"])
def test_what_is_no_setting_says_nothing_and_stops_nobody(value: bytes) -> None:
    """Any family may write at its address."""
    assert not are_compressed(State(address.setting(CARRIED), value))


def was_sent(mempool: Mempool, batch_id: str) -> bool:
    known = mempool._ledger.application.batches  # noqa: SLF001 - of this test
    return any(known.get(tx, frames=True).id == batch_id for tx in mempool.taken)
