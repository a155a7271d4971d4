"""Versions of the rules stand side by side, and earlier ones keep their meaning to the byte."""

import hashlib
import json
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from contracts import address
from contracts.actions.payload import FAMILY, encode, scope
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.memory import MemoryHost
from contracts.proto.payload_pb2 import RegisterParty
from contracts.proto.sawtooth_pb2 import Event, TransactionHeader
from contracts.proto.state_pb2 import Chain, TamperEvent
from contracts.proto.state_pb2 import Trip as TripState
from contracts.rules.case import EVENT_TAMPER
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from support.ledgers.hosts import DirectHost, Host, apply_all, refused
from support.network.world import Trip, key, one, registrations

PARTY = RegisterParty(party_id="p", name="P")
RECORDED: Final = Path("tests/golden")
"""Runs of transactions under versions 1.0 and 1.1, each with the state and the events after each of
them: recorded from the tests of the rules before there was a later version."""


def _runs(version: str) -> list[dict[str, Any]]:
    recorded = (RECORDED / f"rules-{version}" / "runs.jsonl.xz").read_bytes()
    return [json.loads(line) for line in lzma.decompress(recorded).splitlines()]


@pytest.mark.parametrize(("version", "least"), [("1.0", 6000), ("1.1", 7000)])
def test_an_earlier_version_does_what_it_always_did(version: str, least: int) -> None:
    steps = 0
    for run in _runs(version):
        host = MemoryHost()
        host.state = _state(run["state"])
        for step in run["steps"]:
            if "set" in step:
                host.state = _state(step["set"])
                continue
            assert _outcome(host, step) == {
                name: value for name, value in step.items() if name in ("events", "refused")
            } | {"state": step["state"]}
            steps += 1
    assert steps > least


def _outcome(host: MemoryHost, step: Mapping[str, str]) -> dict[str, str]:
    header = TransactionHeader.FromString(bytes.fromhex(step["header"]))
    try:
        events = host.apply(header, bytes.fromhex(step["payload"]), step["id"]).events
        said = {"events": _digest([each.SerializeToString(deterministic=True) for each in events])}
    except RejectedError as error:
        said = {"refused": str(error)}
    pairs = sorted(host.state.items())
    return said | {"state": _state_digest(pairs)}


def _state(recorded: Mapping[str, str]) -> dict[str, bytes]:
    return {place: bytes.fromhex(value) for place, value in recorded.items()}


def _digest(parts: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(len(each).to_bytes(4) + each for each in parts)).hexdigest()


def _state_digest(pairs: Sequence[tuple[str, bytes]]) -> str:
    parts = (place.encode() + len(value).to_bytes(4) + value for place, value in pairs)
    return hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("version", RulesVersion)
def test_an_entry_says_which_version_wrote_it(host: Host, version: RulesVersion) -> None:
    trip = Trip()
    apply_all(host, [*registrations(version), one(trip.signer, trip.start, version=version)])
    entry = TripState.FromString(host.state(address.trip(trip.trip_id)) or b"")
    assert entry.rules == (0 if version is RulesVersion.V1_0 else 1)


@pytest.mark.parametrize(
    ("first", "then"),
    [(RulesVersion.V1_1, RulesVersion.V1_2), (RulesVersion.V1_2, RulesVersion.V1_1)],
)
def test_1_1_and_1_2_go_on_with_what_the_other_wrote(
    host: Host, first: RulesVersion, then: RulesVersion
) -> None:
    trip = Trip()
    apply_all(host, [*registrations(first), one(trip.signer, trip.start, version=first)])
    again = Trip(nonce=bytes([1]) * 16)
    host.apply(one(again.signer, again.start, version=then))


def test_a_later_version_may_go_on_what_an_earlier_one_began_but_not_back(host: Host) -> None:
    trip = Trip()
    apply_all(host, registrations(RulesVersion.V1_0))
    host.apply(one(trip.signer, trip.start, version=RulesVersion.V1_1))
    again = Trip(nonce=bytes([1]) * 16)
    assert refused(host, one(again.signer, again.start, version=RulesVersion.V1_0)) is (
        Rule.RULES_BEHIND
    )
    host.apply(one(again.signer, again.start, version=RulesVersion.V1_1))


def test_what_came_later_is_refused_under_an_earlier_version(host: Host) -> None:
    trip = Trip()
    apply_all(host, registrations(RulesVersion.V1_0))
    start = trip.start
    start.trip_number = 1
    assert refused(host, one(trip.signer, start, version=RulesVersion.V1_0)) is Rule.FORM
    host.apply(one(trip.signer, start, version=RulesVersion.V1_1))


def test_an_unknown_version_is_refused() -> None:
    transaction = build_transaction(
        key("admin"),
        Family(FAMILY.name, "1.4"),
        encode(PARTY),
        batcher_public_key=key("admin").public_key,
        inputs=scope(PARTY, key("admin").public_key)[0],
        outputs=scope(PARTY, key("admin").public_key)[1],
    )
    with pytest.raises(RejectedError, match="1\\.4"):
        DirectHost().apply(build_batch(key("admin"), [transaction]))


def test_version_1_2_does_with_transactions_of_1_1_what_1_1_did() -> None:
    """Except that it counts readings that could have told something, and ends of signs."""
    steps = 0
    for run in _runs("1.1")[::4]:
        hosts = MemoryHost(), MemoryHost()
        for step in [{"set": run["state"]}, *run["steps"]]:
            if "set" in step:
                for each in hosts:
                    each.state = _state(step["set"])
                continue
            earlier, later = (
                _applied(host, step, version)
                for host, version in zip(hosts, ("1.1", "1.2"), strict=True)
            )
            assert earlier == later
            steps += 1
    assert steps > 1000


def _applied(host: MemoryHost, step: Mapping[str, str], version: str) -> object:
    header = TransactionHeader.FromString(bytes.fromhex(step["header"]))
    header.family_version = version
    try:
        events = host.apply(header, bytes.fromhex(step["payload"]), step["id"]).events
    except RejectedError as error:
        return str(error)
    kept = [each for each in events if not _ends_signs_alone(each)]
    wires = [each.SerializeToString(deterministic=True) for each in kept if not _is_tamper(each)]
    flags = [TamperEvent.FromString(each.data).flags for each in kept if _is_tamper(each)]
    return wires, flags, {at: _without_telling(at, value) for at, value in host.state.items()}


def _is_tamper(event: Event) -> bool:
    return event.event_type == EVENT_TAMPER


def _ends_signs_alone(event: Event) -> bool:
    return _is_tamper(event) and not TamperEvent.FromString(event.data).flags


def _without_telling(place: str, value: bytes) -> bytes:
    if not address.is_chain(place):
        return value
    chain = Chain.FromString(value)
    chain.telling = 0
    return canonical(chain)
