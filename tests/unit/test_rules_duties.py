"""Duties of a party's keys: what each may sign, and that no key alone locks the party out."""

import pytest

from contracts import address
from contracts.actions.kind import SignedBy
from contracts.actions.table import ACTIONS, Action
from contracts.proto.payload_pb2 import (
    CARRIER,
    SELLER,
    AcceptDelivery,
    KeyDuties,
    PlaceHold,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    RotateKeys,
)
from contracts.proto.state_pb2 import Key, Party
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import Host, apply_all, refused
from support.network.world import START_MS, TERMS, key, one, registrations

ADMIN = key("admin")


def duties(name: str, *each: KeyDuties.Duty) -> KeyDuties:
    return KeyDuties(public_key=key(name).public_key, duties=each)


def party(*names: str, given: list[KeyDuties] | None = None) -> RegisterParty:
    return RegisterParty(
        party_id="dairy",
        name="Dairy",
        public_keys=[key(each).public_key for each in names],
        roles=[SELLER, CARRIER],
        key_duties=given or [],
    )


def rotation(add: list[str], revoke: list[str], given: list[KeyDuties] | None = None) -> RotateKeys:
    return RotateKeys(
        party_id="dairy",
        added=[key(each).public_key for each in add],
        revoked=[key(each).public_key for each in revoke],
        key_duties=given or [],
    )


def site(name: str = "dock") -> RegisterSite:
    return RegisterSite(site_id=name, party_id="dairy", name="Dock")


def current(host: Host) -> list[str]:
    entry = Party.FromString(host.state(address.party("dairy")) or b"")
    names = {key(each).public_key: each for each in ("a", "b", "c", "d", "e")}
    return [names[each] for each in entry.public_keys]


def test_every_action_of_a_party_needs_a_duty_and_no_other_does() -> None:
    by_party = {SignedBy.PARTY, SignedBy.TWO_PARTIES}
    for kind in ACTIONS:
        assert bool(kind.duty) is (kind.signed_by in by_party), kind.message


def test_a_key_signs_what_its_duties_cover(host: Host) -> None:
    host.apply(one(ADMIN, party("a", "b", given=[duties("b", KeyDuties.REGISTRY)])))
    host.apply(one(key("b"), site()))
    device = RegisterDevice(
        device_id="truck-9", party_id="dairy", public_keys=[key("truck-9").public_key]
    )
    host.apply(one(key("b"), device))
    assert refused(host, one(key("b"), rotation(["c"], []))) is Rule.DUTY_MISSING
    host.apply(one(key("a"), rotation(["c"], [])))


@pytest.mark.parametrize(
    "action",
    [
        AcceptDelivery(delivery_id=TERMS.delivery_id, at_ms=START_MS),
        PlaceHold(trip_id="0" * 32, hold_id="h", party_id="buyer", reason="claim", at_ms=START_MS),
    ],
)
def test_a_duty_comes_before_any_other_rule(host: Host, action: Action) -> None:
    apply_all(host, registrations())
    buyer = RegisterParty(
        party_id="buyer",
        name="Buyer",
        public_keys=[key("buyer").public_key, key("b").public_key],
        key_duties=[duties("b", KeyDuties.REGISTRY)],
    )
    host.apply(one(ADMIN, buyer))
    assert refused(host, one(key("b"), action)) is Rule.DUTY_MISSING
    assert refused(host, one(key("buyer"), action)) is not Rule.DUTY_MISSING


def test_a_key_with_duties_does_not_escape_them_under_the_earlier_version(host: Host) -> None:
    apply_all(host, registrations(RulesVersion.V1_0))
    host.apply(one(ADMIN, party("a", "b", given=[duties("b", KeyDuties.REGISTRY)])))
    accept = AcceptDelivery(delivery_id=TERMS.delivery_id, at_ms=START_MS)
    escape = one(key("b"), accept, version=RulesVersion.V1_0)
    assert refused(host, escape) is Rule.RULES_BEHIND


@pytest.mark.parametrize(
    "given",
    [
        [duties("stranger", KeyDuties.KEYS)],
        [duties("a")],
        [duties("a", KeyDuties.KEYS, KeyDuties.KEYS)],
        [duties("a", KeyDuties.KEYS), duties("a", KeyDuties.TRADE)],
        [duties("a", KeyDuties.TRADE), duties("b", KeyDuties.CUSTODY)],
        [KeyDuties(public_key=key("a").public_key, duties=[KeyDuties.DUTY_UNSET])],
    ],
    ids=["another key", "none", "twice", "a key twice", "nobody may rotate", "unknown"],
)
def test_invalid_duties_are_refused(host: Host, given: list[KeyDuties]) -> None:
    assert refused(host, one(ADMIN, party("a", "b", given=given))) is Rule.FORM


def test_duties_stay_and_new_keys_get_theirs(host: Host) -> None:
    host.apply(one(ADMIN, party("a", "b", given=[duties("b", KeyDuties.TRADE)])))
    host.apply(one(key("a"), rotation(["c"], [], [duties("c", KeyDuties.GOODS)])))
    assert refused(host, one(key("c"), site())) is Rule.DUTY_MISSING
    assert refused(host, one(key("b"), site())) is Rule.DUTY_MISSING
    entry = Key.FromString(host.state(address.key(key("c").public_key)) or b"")
    assert (list(entry.duties), entry.descends_from) == ([KeyDuties.GOODS], key("a").public_key)
    host.apply(one(key("a"), rotation([], ["c"])))
    kept = Party.FromString(host.state(address.party("dairy")) or b"")
    assert list(kept.key_duties) == [duties("b", KeyDuties.TRADE)]


def test_a_rotation_does_not_change_the_duties_of_a_current_key(host: Host) -> None:
    host.apply(one(ADMIN, party("a", "b", given=[duties("b", KeyDuties.TRADE)])))
    more = rotation(["b"], [], [duties("b", KeyDuties.KEYS)])
    assert refused(host, one(key("a"), more)) is Rule.FORM


def test_no_key_revokes_all_others_alone(host: Host) -> None:
    host.apply(one(ADMIN, party("a", "b", "c")))
    assert refused(host, one(key("a"), rotation([], ["b", "c"]))) is Rule.OTHERS_REVOKED
    host.apply(one(key("a"), rotation([], ["b"])))
    assert refused(host, one(key("a"), rotation([], ["c"]))) is Rule.OTHERS_REVOKED
    assert current(host) == ["a", "c"]


def test_keys_that_a_thief_adds_do_not_help_him(host: Host) -> None:
    host.apply(one(ADMIN, party("a", "b")))
    host.apply(one(key("a"), rotation(["c"], [])))
    host.apply(one(key("c"), rotation(["d"], [])))
    for thief in ("a", "c", "d"):
        assert refused(host, one(key(thief), rotation([], ["b"]))) is Rule.OTHERS_REVOKED
    assert refused(host, one(key("b"), rotation([], ["a", "c", "d"]))) is Rule.OTHERS_REVOKED
    host.apply(one(ADMIN, party("b", "e")))
    assert current(host) == ["b", "e"]


def test_a_key_replaces_itself(host: Host) -> None:
    host.apply(one(ADMIN, party("a")))
    host.apply(one(key("a"), rotation(["b"], ["a"])))
    assert current(host) == ["b"]
    host.apply(one(key("b"), rotation(["c"], [])))


def test_a_party_keeps_a_key_that_may_rotate(host: Host) -> None:
    host.apply(one(ADMIN, party("a", "b", given=[duties("b", KeyDuties.TRADE)])))
    assert refused(host, one(key("a"), rotation([], ["a"]))) is Rule.LAST_KEY
