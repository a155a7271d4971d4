"""The driver of a Fabric network: when a transaction is committed, refused or missing."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from contracts.errors import RejectedError, UnavailableError
from contracts.proto import fabric_pb2 as pb
from storage.bench.ledger.fabric import driver as drivers
from storage.bench.ledger.fabric import gateway as gateways
from storage.bench.ledger.fabric.driver import FabricDriver, commit
from storage.bench.ledger.fabric.identity import ORDER
from storage.bench.ledger.fabric.messages import propose
from storage.bench.ledger.fabric.reader import FabricReader
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.wire import wired
from storage.bench.ledger.refusals import validated
from support.bench.fabric.peer import Peer, Refused, a_network


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Peer, Path]]:
    """Serve one peer for all tests of this file."""
    with a_network(tmp_path_factory.mktemp("fabric"), timeout_s=0.02) as made:
        yield made


@pytest.fixture
def peer(network: tuple[Peer, Path]) -> Iterator[Peer]:
    """Return the peer; what a test puts in the place of its answers is taken away again."""
    found, _ = network
    usual = dict(found.answers)
    yield found
    found.answers.update(usual)


@pytest.fixture
def place(network: tuple[Peer, Path]) -> FabricPlace:
    return FabricPlace.read(network[1])


NUMBERS = iter(range(10_000))
FULL = (
    grpc.StatusCode.UNKNOWN,
    "too many requests for /gateway.Gateway, exceeding concurrency limit (500)",
)
"""As Fabric's peers say it since 2.4. Source: internal/peer/node/grpc_limiters.go."""
ELSEWHERE = (
    grpc.StatusCode.ABORTED,
    "failed to endorse transaction, see attached details for more info",
    "rpc error: desc = too many requests for /protos.Endorser, exceeding concurrency limit (2500)",
)
"""Another peer is full, which the Gateway asks."""
LEADERLESS = grpc.StatusCode.UNAVAILABLE, "no orderers could successfully process transaction"
"""While Raft elects a leader, for example. Source: internal/pkg/gateway/submit.go."""
QUORUMLESS = (
    grpc.StatusCode.UNAVAILABLE,
    "insufficient number of orderers could successfully process transaction to satisfy quorum",
)
"""The same with BFT."""


def call(place: FabricPlace, *words: str | bytes) -> tuple[str, bytes]:
    """Return a new transaction."""
    arguments = [word.encode() if isinstance(word, str) else word for word in words]
    nonce = next(NUMBERS).to_bytes(24)
    made_s = int(time.time())
    return wired(
        propose(
            place.identity, place.channel, place.chaincode, arguments, nonce=nonce, made_s=made_s
        )
    )


def fates(settings: Path, calls: Sequence[tuple[str, bytes]]) -> list[str]:
    """Return the decisions on transactions that are submitted one after another, in their order."""

    async def run() -> list[str]:
        driver = await FabricDriver.opener()(str(settings))
        try:
            await driver.submit([wire for _, wire in calls])
            found: dict[str, str] = {}
            while left := [name for name, _ in calls if name not in found]:
                found.update(await driver.decided(left))
            return [found[name] for name, _ in calls]
        finally:
            driver.close()

    return asyncio.run(run())


def test_what_is_valid_is_committed_and_read_back(
    network: tuple[Peer, Path], place: FabricPlace
) -> None:
    _, settings = network
    before = FabricReader(place).head()
    calls = [call(place, "create", f"valid {number}", "x") for number in range(12)]
    assert fates(settings, calls) == [""] * 12
    assert FabricReader(place).head() > before


def test_a_transaction_on_an_old_state_is_refused_by_its_validation_code(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace
) -> None:
    """Both are executed before either is ordered: the second read what the first one writes."""
    _, settings = network
    some = (b"\x09".rjust(8, b"\0"), b"\x01".rjust(8, b"\0"))
    assert fates(settings, [call(place, "put", "payer", some[0], "payee", some[0])]) == [""]
    peer.ledger.per_block = 2
    pays = [call(place, "pay", "payer", "payee", some[1]) for _ in range(2)]
    first, second = fates(settings, pays)
    assert first == ""
    block = peer.ledger.by_id[pays[1][1][:32].hex()].block
    assert second == f"validation code MVCC_READ_CONFLICT in block {block}"
    assert validated(second) == "MVCC_READ_CONFLICT"
    assert fates(settings, [call(place, "pay", "payer", "payee", some[1])]) == [""]
    peer.ledger.per_block = 10


def test_what_is_not_endorsed_is_told_with_the_chaincode_s_words_and_never_ordered(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace
) -> None:
    _, settings = network
    peer.asked.clear()
    words = "chaincode response 500, expected a value, got none"
    first, second = fates(
        settings, [call(place, "get", "missing"), call(place, "put", "present", "x")]
    )
    assert first.startswith("failed to endorse transaction")
    assert first.endswith(f"; Org1MSP: {words}")
    assert validated(first) == ""
    assert second == ""
    assert peer.asked.count("Submit") == 1


def test_the_same_transaction_again_is_a_duplicate(
    network: tuple[Peer, Path], place: FabricPlace
) -> None:
    _, settings = network
    twice = call(place, "put", "once", "x")
    assert fates(settings, [twice]) == [""]
    (again,) = fates(settings, [twice])
    assert again.endswith(f"; Org1MSP: duplicate transaction found [{twice[1][:32].hex()}]")


def test_an_answer_about_another_transaction_is_not_signed(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace
) -> None:
    _, settings = network
    others = call(place, "put", "mine", "x")
    answer = peer.endorse(others[1][32:])
    peer.answers["Endorse"] = lambda _: answer
    peer.asked.clear()
    mine = call(place, "put", "mine", "y")
    (why,) = fates(settings, [mine])
    assert why == (
        f"expected transaction {mine[1][:32].hex()} endorsed, "
        f"got another one ({others[1][:32].hex()})"
    )
    assert "Submit" not in peer.asked


def test_a_peer_that_is_away_ends_the_load(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace
) -> None:
    def away(_: bytes) -> bytes:
        raise Refused(grpc.StatusCode.UNAVAILABLE, "no orderer nodes available")

    _, settings = network
    peer.answers["Submit"] = away
    with pytest.raises(UnavailableError, match=r"Submit: no orderer nodes available"):
        fates(settings, [call(place, "nothing")])
    peer.answers["Submit"] = peer.submit
    peer.answers["CommitStatus"] = away
    with pytest.raises(UnavailableError, match=r"CommitStatus: no orderer nodes available"):
        fates(settings, [call(place, "nothing")])


def test_a_peer_that_stays_busy_ends_the_load(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_: bytes) -> bytes:
        raise Refused(*FULL)

    monkeypatch.setattr(gateways, "BUSY_S", 0.0)
    peer.answers["Endorse"] = busy
    with pytest.raises(UnavailableError, match=r"too many requests .* \(500\), for 0 s"):
        fates(network[1], [call(place, "nothing")])


def test_what_a_load_needs_must_be_committed(
    peer: Peer, place: FabricPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(commit(place, [call(place, "create", f"need {n}", "x")[1] for n in range(3)]))
    with pytest.raises(RejectedError, match="expected a new key, it exists"):
        asyncio.run(commit(place, [call(place, "create", "need 1", "x")[1]]))
    once = call(place, "nothing")[1]
    usual = peer.answers["CommitStatus"]

    def refused(request: bytes) -> bytes:
        usual(request)
        return pb.CommitStatusResponse(
            result=pb.PHANTOM_READ_CONFLICT, block_number=7
        ).SerializeToString()

    peer.answers["CommitStatus"] = refused
    words = "what the load needs is not committed: validation code PHANTOM_READ_CONFLICT in block 7"
    with pytest.raises(RejectedError, match=words):
        asyncio.run(commit(place, [once]))
    monkeypatch.setattr(drivers, "FILLED_S", 0.3)
    peer.answers["Submit"] = lambda _: b""  # an ordering node that loses it
    peer.answers["CommitStatus"] = usual
    with pytest.raises(UnavailableError, match=r"was not committed in 0 s; does the channel make"):
        asyncio.run(commit(place, [call(place, "nothing")[1]]))


def test_only_so_many_statuses_are_asked_for_at_once(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []
    answered = threading.Event()
    usual = peer.answers["CommitStatus"]

    def held(request: bytes) -> bytes:
        asked.append(request)
        answered.wait()
        return usual(request)

    peer.answers["CommitStatus"] = held
    monkeypatch.setattr(drivers, "FOLLOWED_MAX", 2)
    monkeypatch.setattr(drivers, "LOOK_S", 0.05)
    calls = [call(place, "nothing") for _ in range(5)]

    async def run() -> None:
        driver = await FabricDriver.opener()(str(network[1]))
        try:
            await driver.submit([wire for _, wire in calls])
            left = [name for name, _ in calls]
            while len(asked) < 2:
                assert not await driver.decided(left)
            assert not await driver.decided(left)
            assert len(asked) == 2
            answered.set()
            while left:
                found = await driver.decided(left)
                left = [name for name in left if name not in found]
        finally:
            answered.set()
            driver.close()

    asyncio.run(run())
    assert len(asked) == 5


def test_an_answer_of_an_unknown_form_is_one_clear_error(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace
) -> None:
    wanted = f"{place.target}: expected the answer to {{}}, got 1 other octets"
    peer.answers["Evaluate"] = lambda _: b"\xff"
    with pytest.raises(RejectedError, match=wanted.format("Evaluate")):
        FabricReader(place).head()
    told = pb.EvaluateResponse(result=pb.Response(payload=b"\xff")).SerializeToString()
    peer.answers["Evaluate"] = lambda _: told
    with pytest.raises(RejectedError, match="expected the height of channel 'trucks', got 1 other"):
        FabricReader(place).head()
    peer.answers["CommitStatus"] = lambda _: b"\xff"
    with pytest.raises(RejectedError, match=wanted.format("CommitStatus")):
        fates(network[1], [call(place, "nothing")])
    peer.answers["Endorse"] = lambda _: b"\xff"
    assert fates(network[1], [call(place, "nothing")]) == [wanted.format("Endorse")]


def test_a_code_that_is_not_known_here_is_its_number() -> None:
    status = pb.CommitStatusResponse.FromString(b"\x08\x63\x10\x02")
    assert drivers.fate_of(status) == "validation code 99 in block 2"
    assert validated(drivers.fate_of(status)) == "99"


def test_the_stand_in_refuses_what_a_peer_refuses(peer: Peer, place: FabricPlace) -> None:
    """Else its answers to the driver would say nothing."""
    ledger = peer.ledger
    _, wire = call(place, "put", "tampered", "x")
    asked = pb.EndorseRequest.FromString(wire[32:])
    prepared = pb.EndorseResponse.FromString(peer.endorse(wire[32:])).prepared_transaction
    signed = pb.Envelope(payload=prepared.payload, signature=place.identity.sign(prepared.payload))
    for change, words in (
        (lambda each: each.proposed_transaction.ClearField("signature"), "access denied"),
        (lambda each: _raise_s(each.proposed_transaction), "access denied"),
        (lambda each: setattr(each, "transaction_id", "00"), "invalid txid"),
        (lambda each: each.ClearField("proposed_transaction"), "a signed proposal is required"),
    ):
        changed = pb.EndorseRequest()
        changed.CopyFrom(asked)
        change(changed)
        with pytest.raises(Refused) as told:
            peer.endorse(changed.SerializeToString())
        assert words in f"{told.value} {told.value.details}"
    for envelope, words in (
        (prepared, "must be signed"),
        (pb.Envelope(payload=signed.payload, signature=b"x"), "status=FORBIDDEN"),
    ):
        request = pb.SubmitRequest(channel_id="trucks", prepared_transaction=envelope)
        with pytest.raises(Refused, match=words):
            peer.submit(request.SerializeToString())
    status = pb.SignedCommitStatusRequest(
        request=pb.CommitStatusRequest(
            channel_id="trucks", transaction_id="00", identity=place.identity.creator
        ).SerializeToString(),
        signature=b"x",
    )
    with pytest.raises(Refused, match="failed evaluating policy"):
        peer.commit_status(status.SerializeToString())
    # An endorsement that is left out or is of something else, and an id of another transaction.
    payload = pb.Payload.FromString(prepared.payload)
    (action,) = pb.Transaction.FromString(payload.data).actions
    inner = pb.ChaincodeActionPayload.FromString(action.payload)
    inner.action.proposal_response_payload += b"\x12\x00"
    payload.data = pb.Transaction(
        actions=[pb.TransactionAction(payload=inner.SerializeToString())]
    ).SerializeToString()
    other = payload.SerializeToString()
    for number, (name, octets, code) in enumerate(
        (
            (asked.transaction_id, other, pb.ENDORSEMENT_POLICY_FAILURE),
            ("99" * 32, prepared.payload, pb.BAD_PROPOSAL_TXID),
        )
    ):
        ledger.order(name, pb.Envelope(payload=octets, signature=place.identity.sign(octets)))
        found = ledger.waited(name)
        assert found is not None, number
        assert found.code == code


def _raise_s(signed: pb.SignedProposal) -> None:
    r, s = decode_dss_signature(signed.signature)
    signed.signature = encode_dss_signature(r, ORDER - s)


def test_a_busy_peer_is_asked_again_and_the_answers_are_counted(
    network: tuple[Peer, Path], peer: Peer, place: FabricPlace
) -> None:
    left: dict[str, list[tuple[grpc.StatusCode, str] | tuple[grpc.StatusCode, str, str]]] = {
        "Endorse": [FULL, ELSEWHERE],
        "Submit": [FULL, LEADERLESS, QUORUMLESS],
        "CommitStatus": [FULL],
    }

    def busy(name: str) -> None:
        usual = peer.answers[name]

        def answer(request: bytes) -> bytes:
            if left[name]:
                raise Refused(*left[name].pop())
            return usual(request)

        peer.answers[name] = answer

    for each in left:
        busy(each)

    async def run() -> int:
        driver = await FabricDriver.opener()(str(network[1]))
        try:
            name, wire = call(place, "put", "busy", "x")
            counted = await driver.submit([wire])
            while not (found := await driver.decided([name])):
                pass
            assert found == {name: ""}
            return counted
        finally:
            driver.close()

    assert asyncio.run(run()) == 5
    assert not any(left.values())
