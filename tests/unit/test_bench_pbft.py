"""Paper 001's comparison: the phases of PBFT, who is believed, and real replicas."""

import asyncio
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.bench.ledger.pbft.authentication import KINDS, MAC_BYTES
from storage.bench.ledger.pbft.client import drive, signed_requests
from storage.bench.ledger.pbft.messages import (
    CLIENT,
    Authenticated,
    Message,
    MessageKind,
    receive,
)
from storage.bench.ledger.pbft.protocol import OrderingReplica
from storage.bench.ledger.pbft.replica import socket_of
from storage.bench.ledger.pbft.steps import BATCH, REPLICAS, Variant, ordered, steps
from storage.bench.run.plan import Place

EVERYONE = (*range(REPLICAS), CLIENT)


def delivered(
    batch: int, count: int, seed: int, dead: Iterable[int] = ()
) -> dict[int, list[Message]]:
    """Deliver all messages in an order by chance; return the replies of each replica."""
    chance, silent = random.Random(seed), set(dead)
    replicas = [OrderingReplica(number, REPLICAS, batch) for number in range(REPLICAS)]
    replies: dict[int, list[Message]] = {number: [] for number in range(REPLICAS)}
    under_way: list[tuple[int, Message]] = []

    def send(messages: Iterable[Message]) -> None:
        for each in messages:
            if each.sender in silent:
                continue
            if each.kind is MessageKind.REPLY:
                replies[each.sender].append(each)
            else:
                under_way.extend((to, each) for to in range(REPLICAS) if to != each.sender)

    send(replicas[0].requested(signed_requests(count, 16)))
    while under_way:
        to, message = under_way.pop(chance.randrange(len(under_way)))
        send(replicas[to].received(message))
    return replies


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("seed", range(5))
def test_all_execute_all_in_one_order(batch: int, seed: int) -> None:
    replies = delivered(batch, 20, seed)
    first = [(each.sequence, each.digest) for each in replies[0]]
    assert [number for number, _ in first] == list(range(20))
    for own in replies.values():
        assert [(each.sequence, each.digest) for each in own] == first


def test_one_of_four_may_be_silent_and_two_may_not() -> None:
    assert {len(delivered(1, 5, 1, dead=[3])[number]) for number in (0, 1, 2)} == {5}
    assert {len(own) for own in delivered(1, 5, 1, dead=[2, 3]).values()} == {0}


def test_a_primary_that_says_two_things_is_not_followed() -> None:
    replica = OrderingReplica(1, REPLICAS, 1)
    one, other = (
        next(OrderingReplica(0, REPLICAS, 1).requested([each])) for each in signed_requests(2, 16)
    )
    assert [each.kind for each in replica.received(one)] == [MessageKind.PREPARE]
    assert list(replica.received(other)) == []
    forged = Message(MessageKind.PRE_PREPARE, 0, 2, one.digest, other.payload)
    assert list(replica.received(forged)) == []
    stranger = Message(MessageKind.PRE_PREPARE, 2, 2, other.digest, other.payload)
    assert list(replica.received(stranger)) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("receivers", [(0, 2, 3), (CLIENT,)])
def test_a_proof_holds_for_its_sender_and_its_words_alone(
    kind: str, receivers: tuple[int, ...]
) -> None:
    made = KINDS[kind](1, EVERYONE).prove(b"words", reply=receivers == (CLIENT,))
    for own in receivers:
        receiver = KINDS[kind](own, EVERYONE)
        assert receiver.holds(b"words", made, 1)
        assert not receiver.holds(b"words", made, 2)
        assert not receiver.holds(b"others", made, 1)
        assert not receiver.holds(b"words", bytes(len(made)), 1)
        assert not receiver.holds(b"words", made[:5], 1)
        assert not receiver.holds(b"words", made, 9)


def test_a_message_has_a_mac_for_each_receiver_and_a_reply_one() -> None:
    """Castro and Liskov, 5.2. The client's replies are signed where only nodes have MACs."""
    for kind in ("macs", "macs-internode"):
        assert len(KINDS[kind](1, EVERYONE).prove(b"words")) == 3 * MAC_BYTES
    assert len(KINDS["macs"](1, EVERYONE).prove(b"words", reply=True)) == MAC_BYTES
    assert len(KINDS["macs-internode"](1, EVERYONE).prove(b"words", reply=True)) == 64


def test_requests_travel_outside_of_what_is_proven() -> None:
    """A MAC over 64 requests for each receiver costs more than one signature: PBFT has none."""
    small, large = (
        next(OrderingReplica(0, REPLICAS, 64).requested(signed_requests(1, size)))
        for size in (512, 4_096)
    )
    assert len(small.head) == len(large.head) < 64
    assert large.digest in large.head
    other = Message(large.kind, large.sender, large.sequence, large.digest, small.payload)
    assert other.head == large.head  # so its requests must be those of the digest:
    assert list(OrderingReplica(1, REPLICAS, 64).received(other)) == []


def test_a_prepare_of_the_primary_does_not_count() -> None:
    replica = OrderingReplica(1, REPLICAS, 1)
    (first,) = OrderingReplica(0, REPLICAS, 1).requested(signed_requests(1, 16))
    list(replica.received(first))
    said = Message(MessageKind.PREPARE, 0, 1, first.digest)
    assert list(replica.received(said)) == []
    said = Message(MessageKind.PREPARE, 2, 1, first.digest)
    assert [each.kind for each in replica.received(said)] == [MessageKind.COMMIT]


def test_what_is_malformed_is_refused() -> None:
    whole = signed_requests(1, 16)[0]
    assert Authenticated.split(whole.encode() * 2) == [whole, whole]
    for size in (1, 9, len(whole.encode()) - 1):
        with pytest.raises(RejectedError, match="cut short"):
            Authenticated.split(whole.encode()[:size])
    for body in (b"", b"\x09" + bytes(60)):
        with pytest.raises(RejectedError, match="expected a message of PBFT"):
            Message.decode(body)


@pytest.mark.integration
@pytest.mark.parametrize(("kind", "batch"), [("macs", 1), ("macs-internode", BATCH)])
def test_real_replicas_decide_each_request(tmp_path: Path, kind: str, batch: int) -> None:
    outcome = Variant(kind, batch, 30).execute(Place(tmp_path, 1))
    found = {each.metric.name: each.value for each in outcome.observations}
    assert outcome.work.transactions == 30
    assert found["committed-rate"] > 0
    # The kernel counts CPU in ticks of 10 ms, so few requests may take none.
    assert "primary-cpu-per-transaction" in found
    assert found["response-p50"] <= found["response-p95"]
    assert found["batch-mean"] == 1 if batch == 1 else 1 <= found["batch-mean"] <= BATCH


def test_a_replica_that_ends_is_told(tmp_path: Path) -> None:
    """An error of the task that hears it was lost, and the client waited for a minute."""

    async def replica(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await receive(reader)
        hello = Message(MessageKind.REPLY, 0, 0, bytes(32)).encode()
        writer.write(Authenticated(hello, b"").encode())
        await writer.drain()
        writer.close()

    async def run() -> None:
        async with await asyncio.start_unix_server(replica, socket_of(tmp_path, 0)):
            await drive(tmp_path, 1, "macs", signed_requests(2, 16), 1)

    with pytest.raises(UnavailableError, match="replica 0 does not reply"):
        asyncio.run(run())


def test_the_primary_s_count_is_found_among_other_lines(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    log.write_text("hello\nordered batches=7\nRuntimeError: the handler is closed\n")
    assert ordered(tmp_path) == 7
    log.write_text("killed\n")
    with pytest.raises(UnavailableError, match=r"the primary's batches, got \['killed'\]"):
        ordered(tmp_path)


def test_there_are_six_variants() -> None:
    assert [each.workload for each in steps(quick=True)] == [
        "pbft-macs-single",
        "pbft-macs-batched",
        "pbft-macs-internode-single",
        "pbft-macs-internode-batched",
        "pbft-signatures-single",
        "pbft-signatures-batched",
    ]
