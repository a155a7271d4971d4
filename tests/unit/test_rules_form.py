"""The form of every transaction; and every rule has a test."""

import re
from pathlib import Path

import pytest

from contracts import address
from contracts.actions.form import DELIVERIES_MAX
from contracts.actions.payload import FAMILY, PAYLOAD_BYTES_MAX, build, encode, scope
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.payload_pb2 import RegisterParty, Source
from contracts.proto.sawtooth_pb2 import Batch
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch, build_transaction
from support.evidence.chain import digest_of
from support.ledgers.hosts import DirectHost, Host, apply_all, refused, rules_found
from support.network.world import TERMS, Trip, handovers, key, one, reading, registrations

ADMIN = key("admin")
PARTY = RegisterParty(party_id="p", name="P")


def signed(
    payload: bytes,
    inputs: list[str] | None = None,
    outputs: list[str] | None = None,
    signer: Signer = ADMIN,
) -> Batch:
    """Return a batch with any bytes as payload, and any addresses."""
    rightful = scope(PARTY, signer.public_key)
    transaction = build_transaction(
        signer,
        FAMILY,
        payload,
        batcher_public_key=signer.public_key,
        inputs=rightful[0] if inputs is None else inputs,
        outputs=rightful[1] if outputs is None else outputs,
    )
    return build_batch(signer, [transaction])


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff",
        encode(PARTY)[:-1],
        encode(PARTY) + b"\x98\x06\x01",  # an unknown field at the end
        b"\x0a\x0a" + encode(PARTY)[2:] + b"\x98\x06\x01",  # and one level down
        b"\x98\x06\x01" + encode(PARTY),
        b"\x0a\x06\x12\x01P\x0a\x01p",  # fields in another order
        b"\x0a\x86\x00" + encode(PARTY)[2:],  # a length in more bytes than it needs
        encode(PARTY) + encode(PARTY),
        encode(TERMS) + encode(PARTY),  # two actions, of which parsers keep the last
        b"\x0a\x08\x0a\x01p\x12\x01P\x12\x00",  # a name twice
        b"\x0a\x07\x0a\x02\xc3\x28\x12\x01P",  # no UTF-8
    ],
)
def test_only_the_canonical_payload_is_accepted(host: Host, payload: bytes) -> None:
    assert refused(host, signed(payload)) is Rule.FORM
    host.apply(signed(encode(PARTY)))


def test_an_oversized_payload_is_refused(host: Host) -> None:
    trip = Trip()
    apply_all(host, registrations())
    huge = trip.start
    huge.derived_from.append(Source(name="x" * PAYLOAD_BYTES_MAX, sha256=bytes(32)))
    assert refused(host, one(trip.signer, huge)) is Rule.FORM


def test_a_transaction_made_for_anothers_batch_is_refused(host: Host) -> None:
    batcher = key("batcher")
    inputs, outputs = scope(PARTY, ADMIN.public_key)
    transaction = build_transaction(
        ADMIN,
        FAMILY,
        encode(PARTY),
        batcher_public_key=batcher.public_key,
        inputs=inputs,
        outputs=outputs,
    )
    assert refused(host, build_batch(batcher, [transaction])) is Rule.FORM


@pytest.mark.parametrize("names", [[str(at) for at in range(DELIVERIES_MAX + 1)], ["one", "one"]])
def test_a_reading_that_declares_too_many_deliveries_is_refused(
    host: Host, names: list[str]
) -> None:
    apply_all(host, registrations())
    trip = Trip(deliveries=[])
    trip.record(reading(0))
    declared = [address.delivery(name) for name in names]
    transaction = build(trip.signer, trip.records[0], deliveries=declared)
    assert refused(host, build_batch(trip.signer, [transaction])) is Rule.FORM


@pytest.mark.parametrize("which", [0, 1])
def test_other_inputs_or_outputs_are_refused(host: Host, which: int) -> None:
    rightful = scope(PARTY, ADMIN.public_key)
    for wrong in ([], rightful[which][:-1], [*rightful[which], "ff"], rightful[which][::-1]):
        declared = list(rightful)
        declared[which] = wrong
        assert refused(host, signed(encode(PARTY), declared[0], declared[1])) is Rule.FORM


@pytest.mark.parametrize("which", [0, 1])
def test_nobody_may_declare_all_addresses(host: Host, which: int) -> None:
    """The rules refuse it, or the ledger before them: other families' addresses are among these."""
    declared = list(scope(PARTY, ADMIN.public_key))
    declared[which] = [""]
    with pytest.raises(RejectedError):
        host.apply(signed(encode(PARTY), declared[0], declared[1]))
    assert host.dump() == {}


def test_a_forged_signature_or_foreign_batcher_changes_nothing(host: Host) -> None:
    batch = one(ADMIN, PARTY)
    batch.transactions[0].header_signature = key("other").sign(batch.transactions[0].header)
    with pytest.raises(RejectedError):
        host.apply(batch)
    with pytest.raises(RejectedError):
        host.apply(build_batch(key("other"), one(ADMIN, PARTY).transactions))
    assert host.dump() == {}


def test_a_batch_is_committed_whole_or_not_at_all(host: Host) -> None:
    apply_all(host, registrations())
    trip = Trip()
    good, other = trip.sign(trip.start), Trip(nonce=bytes(15) + b"9").record(reading(0))
    assert refused(host, build_batch(trip.signer, [good, other])) is Rule.UNKNOWN_TRIP


def test_the_whole_story_has_no_findings(host: Host) -> None:
    made = digest_of(b"video")
    trip = Trip()
    batches = trip.whole([reading(each) for each in range(12)], [made], size=5)
    events = apply_all(host, [*registrations(), *batches, *handovers(trip.trip_id)])
    assert rules_found(events) == []


def test_the_same_transactions_give_the_same_bytes() -> None:
    made = digest_of(b"video")
    values = [reading(each, 9000) for each in range(12)]
    trip = Trip()
    story = [*registrations(), *trip.whole(values, [made]), *handovers(trip.trip_id)]
    hosts = DirectHost(), DirectHost()
    first, second = (apply_all(each, story) for each in hosts)
    assert first == second
    assert list(hosts[0].dump().items()) == list(hosts[1].dump().items())


def test_every_rule_is_exercised() -> None:
    named: set[str] = set()
    for path in Path(__file__).parent.glob("test_rules_*.py"):
        named |= set(re.findall(r"\bRule\.([A-Z_]+)\b", path.read_text("utf-8")))
    assert named == set(Rule.__members__)
