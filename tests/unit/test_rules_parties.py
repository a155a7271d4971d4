"""Parties, sites and devices, and the owner of each key."""

from collections.abc import Mapping, Sequence

import pytest

from contracts import address
from contracts.actions.apply import apply
from contracts.actions.table import Action
from contracts.address import ADMIN_KEYS_SETTING
from contracts.encoding import canonical
from contracts.evidence.memory import MemoryHost
from contracts.proto.payload_pb2 import CARRIER as CARRIER_ROLE
from contracts.proto.payload_pb2 import (
    ROLE_UNSET,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    RotateKeys,
)
from contracts.proto.sawtooth_pb2 import Setting
from contracts.proto.state_pb2 import Device, Key, Party, Site
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch, parse_header
from support.ledgers.hosts import Host, apply_all, refused, rules_found
from support.network.world import TERMS, Trip, key, one, reading, registrations

ADMIN, CARRIER, SELLER = key("admin"), key("carrier"), key("seller")


def party(name: str, *keys: str) -> RegisterParty:
    return RegisterParty(
        party_id=name, name=name.title(), public_keys=[key(each).public_key for each in keys]
    )


def device(*keys: str, party_id: str = "carrier") -> RegisterDevice:
    public_keys = [key(each).public_key for each in keys]
    return RegisterDevice(device_id="truck-1", party_id=party_id, public_keys=public_keys)


def key_state(host: Host, name: str) -> Key:
    value = host.state(address.key(key(name).public_key))
    assert value is not None
    return Key.FromString(value)


def test_what_is_registered_lies_at_its_address(host: Host) -> None:
    apply_all(host, registrations())
    carrier = Party.FromString(host.state(address.party("carrier")) or b"")
    assert list(carrier.public_keys) == [CARRIER.public_key]
    site = Site.FromString(host.state(address.site("site-buyer")) or b"")
    assert list(site.site.gateway_public_keys) == [key("gateway-buyer").public_key]
    truck = Device.FromString(host.state(address.device("truck-1")) or b"")
    assert truck.party_id == "carrier"
    assert key_state(host, "truck-1") == Key(owner=Key.DEVICE, owner_id="truck-1")
    assert key_state(host, "carrier") == Key(owner=Key.PARTY, owner_id="carrier")


@pytest.mark.parametrize("name", ["carrier", "stranger", "node"])
def test_only_an_administrator_registers_parties(host: Host, name: str) -> None:
    assert refused(host, one(key(name), party("carrier", name))) is Rule.NOT_ADMIN


def test_nobody_is_administrator_where_the_ledger_names_none() -> None:
    memory = MemoryHost()
    (transaction,) = one(ADMIN, party("carrier", "carrier")).transactions
    with pytest.raises(Exception, match=Rule.NOT_ADMIN):
        memory.apply(parse_header(transaction), transaction.payload, transaction.header_signature)
    assert memory.state == {}


def test_several_administrators_may_be_listed_with_spaces() -> None:
    memory = MemoryHost()
    value = f"{key('other').public_key}, {ADMIN.public_key}"
    setting = Setting(entries=[Setting.Entry(key=ADMIN_KEYS_SETTING, value=value)])
    memory.state[address.setting(ADMIN_KEYS_SETTING)] = canonical(setting)
    (transaction,) = one(ADMIN, party("carrier", "carrier")).transactions
    memory.apply(parse_header(transaction), transaction.payload, transaction.header_signature)
    assert address.party("carrier") in memory.state


def test_only_the_party_registers_its_sites_and_devices(host: Host) -> None:
    apply_all(host, registrations())
    site = RegisterSite(site_id="site-seller", party_id="seller", name="Dock")
    assert refused(host, one(CARRIER, site)) is Rule.NOT_THE_PARTY
    taken = RegisterSite(site_id="site-seller", party_id="carrier", name="Dock")
    assert refused(host, one(CARRIER, taken)) is Rule.NOT_THE_PARTY
    assert refused(host, one(SELLER, device("truck-1"))) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("truck-1"), device("truck-1"))) is Rule.NOT_THE_PARTY
    assert refused(host, one(key("stranger"), device("truck-1"))) is Rule.NOT_THE_PARTY


def test_a_device_stays_with_its_owner(host: Host) -> None:
    apply_all(host, registrations())
    assert refused(host, one(SELLER, device("new", party_id="seller"))) is Rule.DEVICE_TAKEN


@pytest.mark.parametrize("taken", ["seller", "buyer"])
def test_a_key_belongs_to_one_owner(host: Host, taken: str) -> None:
    apply_all(host, registrations())
    assert refused(host, one(CARRIER, device(taken))) is Rule.KEY_TAKEN
    assert refused(host, one(ADMIN, party("carrier", taken))) is Rule.KEY_TAKEN
    assert refused(host, one(ADMIN, party("buyer-2", "truck-1"))) is Rule.KEY_TAKEN


def test_registering_again_revokes_the_keys_left_out(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(CARRIER, device("truck-1", "truck-1b")))
    assert not key_state(host, "truck-1").revoked
    host.apply(one(CARRIER, device("truck-1b")))
    assert key_state(host, "truck-1") == Key(owner=Key.DEVICE, owner_id="truck-1", revoked=True)
    assert refused(host, one(CARRIER, device("truck-1"))) is Rule.KEY_WAS_REVOKED


def test_a_revoked_party_key_signs_nothing_more(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(ADMIN, party("carrier", "carrier-2")))
    assert refused(host, one(CARRIER, device("truck-1"))) is Rule.NOT_THE_PARTY
    host.apply(one(key("carrier-2"), device("truck-1")))


def test_an_administrator_grants_and_withdraws_roles(host: Host) -> None:
    apply_all(host, registrations()[:-2])
    state = Party.FromString(host.state(address.party("carrier")) or b"")
    assert list(state.roles) == [CARRIER_ROLE]
    host.apply(one(ADMIN, party("carrier", "carrier")))
    assert not Party.FromString(host.state(address.party("carrier")) or b"").roles
    assert refused(host, one(SELLER, TERMS)) is Rule.ROLE_MISSING


def rotation(added: Sequence[str] = (), revoked: Sequence[str] = ()) -> RotateKeys:
    return RotateKeys(
        party_id="carrier",
        added=[key(each).public_key for each in added],
        revoked=[key(each).public_key for each in revoked],
    )


def test_a_party_rotates_its_keys_and_keeps_the_rest(host: Host) -> None:
    apply_all(host, [*registrations(), one(ADMIN, party("carrier", "carrier", "spare"))])
    host.apply(one(CARRIER, rotation(["new"], ["carrier"])))
    state = Party.FromString(host.state(address.party("carrier")) or b"")
    assert list(state.public_keys) == [key("spare").public_key, key("new").public_key]
    assert state.name == "Carrier"
    assert key_state(host, "carrier").revoked
    descends = Key(owner=Key.PARTY, owner_id="carrier", descends_from=CARRIER.public_key)
    assert key_state(host, "new") == descends
    assert refused(host, one(CARRIER, device("truck-1"))) is Rule.NOT_THE_PARTY
    host.apply(one(key("new"), device("truck-1")))
    host.apply(one(key("spare"), device("truck-1")))


def test_a_rotation_leaves_the_roles_as_they_are(host: Host) -> None:
    apply_all(host, registrations()[:-2])
    host.apply(one(CARRIER, rotation(["new"])))
    apply_all(host, registrations()[-2:])


def test_a_key_added_twice_is_there_once(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(CARRIER, rotation(["carrier", "new"])))
    state = Party.FromString(host.state(address.party("carrier")) or b"")
    assert list(state.public_keys) == [CARRIER.public_key, key("new").public_key]


def test_only_the_party_rotates_its_keys(host: Host) -> None:
    apply_all(host, registrations())
    for signer in (ADMIN, SELLER, key("truck-1"), key("stranger")):
        assert refused(host, one(signer, rotation(["new"]))) is Rule.NOT_THE_PARTY


def test_keys_that_cannot_be_rotated(host: Host) -> None:
    apply_all(host, [*registrations(), one(CARRIER, rotation(["old"]))])
    host.apply(one(CARRIER, rotation(revoked=["old"])))
    assert refused(host, one(CARRIER, rotation(["old"]))) is Rule.KEY_WAS_REVOKED
    assert refused(host, one(CARRIER, rotation(revoked=["old"]))) is Rule.UNKNOWN_KEY
    assert refused(host, one(CARRIER, rotation(revoked=["never"]))) is Rule.UNKNOWN_KEY
    assert refused(host, one(CARRIER, rotation(revoked=["seller"]))) is Rule.UNKNOWN_KEY
    assert refused(host, one(CARRIER, rotation(["seller"]))) is Rule.KEY_TAKEN
    assert refused(host, one(CARRIER, rotation(["truck-1"]))) is Rule.KEY_TAKEN


def test_a_party_keeps_at_least_one_key_and_at_most_sixteen(host: Host) -> None:
    apply_all(host, registrations())
    assert refused(host, one(CARRIER, rotation(revoked=["carrier"]))) is Rule.LAST_KEY
    names = [str(number) for number in range(16)]
    assert refused(host, one(CARRIER, rotation(names))) is Rule.FORM
    host.apply(one(CARRIER, rotation(names, ["carrier"])))
    others = [str(number) for number in range(16, 32)]
    host.apply(one(key("0"), rotation(others, names)))
    host.apply(one(key("31"), device("truck-1")))


def test_readings_under_a_revoked_key_are_kept_with_a_finding(host: Host) -> None:
    apply_all(host, registrations())
    trip = Trip()
    before = build_batch(trip.signer, [trip.sign(trip.start)])
    assert rules_found(host.apply(before)) == []
    host.apply(one(CARRIER, device("truck-1b")))
    batch = build_batch(trip.signer, [trip.record(reading(0)), trip.seal()])
    assert rules_found(host.apply(batch)) == [Rule.KEY_REVOKED, Rule.KEY_REVOKED]


def test_a_whole_trip_under_a_revoked_key_is_kept_with_findings(host: Host) -> None:
    apply_all(host, registrations())
    host.apply(one(CARRIER, device()))
    events = apply_all(host, Trip().whole([reading(0)]))
    assert rules_found(events) == [Rule.KEY_REVOKED] * 3


class WatchedState(dict[str, bytes]):
    """A context that keeps the order of writes."""

    def __init__(self, state: dict[str, bytes]) -> None:
        super().__init__(state)
        self.order: list[str] = []

    def set(self, address: str, value: bytes) -> None:
        self.order.append(address)
        self[address] = value

    def delete(self, address: str) -> None:
        del self[address]

    def add_event(self, event_type: str, attributes: Mapping[str, str], data: bytes = b"") -> None:
        raise AssertionError((event_type, attributes, data))


def test_keys_are_revoked_in_one_order_on_every_host(host: Host) -> None:
    names = [f"truck-1-{number}" for number in range(16)]
    apply_all(host, [*registrations(), one(CARRIER, device(*names))])
    (transaction,) = one(CARRIER, device()).transactions
    state = WatchedState(host.dump())
    header = parse_header(transaction)
    apply(header, transaction.payload, transaction.header_signature, state)
    keys = sorted(key(name).public_key for name in names)
    assert state.order[:-1] == [address.key(public_key) for public_key in keys]


NOT_WELL_FORMED: list[Action] = [
    RegisterParty(party_id="", name="x"),
    RegisterParty(party_id="a/b", name="x"),
    RegisterParty(party_id="a", name=""),
    RegisterParty(party_id="a", name="x" * 201),
    RegisterParty(party_id="a", name="x\n"),
    RegisterParty(party_id="a", name="\u202ex"),
    RegisterParty(party_id="a", name="x", public_keys=["no key"]),
    RegisterParty(party_id="a", name="x", public_keys=[ADMIN.public_key.upper()]),
    RegisterParty(party_id="a", name="x", public_keys=[ADMIN.public_key] * 2),
    RegisterParty(
        party_id="a", name="x", public_keys=[key(str(each)).public_key for each in range(17)]
    ),
    RegisterParty(party_id="a", name="x", roles=[CARRIER_ROLE, CARRIER_ROLE]),
    RegisterParty(party_id="a", name="x", roles=[ROLE_UNSET]),
    RegisterParty(party_id="a", name="x", roles=[6]),  # type: ignore[list-item] # from the wire
    RotateKeys(party_id="carrier"),
    RotateKeys(party_id="a b", added=[ADMIN.public_key]),
    RotateKeys(party_id="carrier", added=["no key"]),
    RotateKeys(party_id="carrier", revoked=[CARRIER.public_key] * 2),
    RotateKeys(party_id="carrier", added=[ADMIN.public_key], revoked=[ADMIN.public_key]),
    RegisterSite(site_id="..", party_id="carrier", name="x"),
    RegisterSite(site_id="s", party_id="carrier", name="x", gln="4006381333932"),
    RegisterSite(site_id="s", party_id="carrier", name="x", gateway_public_keys=["no key"]),
    RegisterDevice(device_id="a b", party_id="carrier"),
    RegisterDevice(device_id="a", party_id="carrier", calibrated_until_ms=(1 << 64) - 1),
]


@pytest.mark.parametrize("action", NOT_WELL_FORMED, ids=range(len(NOT_WELL_FORMED)))
def test_what_is_not_well_formed_is_refused(host: Host, action: Action) -> None:
    apply_all(host, registrations())
    signer = ADMIN if isinstance(action, RegisterParty) else CARRIER
    assert refused(host, one(signer, action)) is Rule.FORM
