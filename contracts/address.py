"""State addresses of family `wayseal` and of the families beside it: 70 hexadecimal digits each.

An address of ours is the family's 6 digit namespace, 2 digits for the kind, and
62 digits for the entry. Everything that belongs to a trip shares a 38 digit
prefix. So a truck knows the inputs and outputs of a reading offline, before
anyone knows which entries the reading will touch.

Source: Sawtooth 1.2 architecture guide, "Global State", on radix addresses.
"""

import hashlib
from functools import lru_cache
from typing import Final

ADDRESS_HEX: Final = 70
NAMESPACE: Final = hashlib.sha512(b"wayseal").hexdigest()[:6]
SETTINGS_NAMESPACE: Final = "000000"
IDENTITY_NAMESPACE: Final = "00001d"
BLOCK_INFO_NAMESPACE: Final = "00b10c"
ADMIN_KEYS_SETTING: Final = "wayseal.admin_keys"
"""On-chain setting with the administrators' public keys, separated by commas."""

_ID_HEX: Final = 62
_HALF_HEX: Final = 30
_PARTY, _SITE, _DEVICE, _DELIVERY, _LOT, _TRANSFORMATION = "01", "02", "03", "05", "06", "07"
_SERIES = "08"
_CERTIFICATE, _UNIT = "09", "0a"
_ACCESSES = "0b"
_TRIP = "10"
KINDS: Final = {
    _PARTY: "party",
    _SITE: "site",
    _DEVICE: "device",
    "04": "key",
    _DELIVERY: "delivery",
    _LOT: "lot",
    _TRANSFORMATION: "transformation",
    _SERIES: "series",
    _UNIT: "unit",
    _ACCESSES: "accesses",
    _TRIP: "trip",
}
"""Names of the kinds of entry, by the two digits after the namespace."""
_START, _CHAIN, _HANDOVER, _BREACH, _FINDING, _HOLD = "00", "01", "02", "03", "04", "05"
_SERIES_FINDING = "06"
_FILMED = "07"
KEY_PREFIX: Final = NAMESPACE + "04"
DELIVERY_PREFIX: Final = NAMESPACE + _DELIVERY
PARTY_PREFIX: Final = NAMESPACE + _PARTY
SITE_PREFIX: Final = NAMESPACE + _SITE
LOT_PREFIX: Final = NAMESPACE + _LOT
CERTIFICATE_PREFIX: Final = NAMESPACE + _CERTIFICATE
UNIT_PREFIX: Final = NAMESPACE + _UNIT
_HEADS_PREFIX: Final = NAMESPACE + _ACCESSES + "00"
_RECORDS_PREFIX: Final = NAMESPACE + _ACCESSES + "01"
TRIP_PREFIX: Final = NAMESPACE + _TRIP
_TRIP_PREFIX_HEX: Final = len(TRIP_PREFIX) + _HALF_HEX
_TRIP_START: Final = _START + "0" * _HALF_HEX
_REMEMBERED: Final = 4096
"""Hashes that are cached, since each reading needs the same few again."""
_REMEMBERED_CHARS: Final = 200
"""Longest text that is cached. Text whose form is not checked yet may be as long as a payload."""


def _hash(text: str, digits: int) -> str:
    return hashlib.sha512(text.encode()).hexdigest()[:digits]


_remembered: Final = lru_cache(maxsize=_REMEMBERED)(_hash)


def _digest(text: str, digits: int) -> str:
    return (_remembered if len(text) <= _REMEMBERED_CHARS else _hash)(text, digits)


def party(party_id: str) -> str:
    """Return the address of a party."""
    return PARTY_PREFIX + _digest(party_id, _ID_HEX)


def site(site_id: str) -> str:
    """Return the address of a site."""
    return SITE_PREFIX + _digest(site_id, _ID_HEX)


def device(device_id: str) -> str:
    """Return the address of a device."""
    return NAMESPACE + _DEVICE + _digest(device_id, _ID_HEX)


def key(public_key: str) -> str:
    """Return the address of a public key, where its owner is kept."""
    return KEY_PREFIX + _digest(public_key, _ID_HEX)


def delivery(delivery_id: str) -> str:
    """Return the address of a delivery."""
    return DELIVERY_PREFIX + _digest(delivery_id, _ID_HEX)


def lot(gtin: str, name: str) -> str:
    """Return the address of a lot."""
    return LOT_PREFIX + _digest(f"{gtin}\0{name}", _ID_HEX)


def transformation(transformation_id: str) -> str:
    """Return the address of a transformation of lots."""
    return NAMESPACE + _TRANSFORMATION + _digest(transformation_id, _ID_HEX)


def series(public_key: str) -> str:
    """Return the address of the trips in a row that a key of a device has started."""
    return NAMESPACE + _SERIES + _digest(public_key, _ID_HEX)


def certificate(holder_id: str, kind: str) -> str:
    """Return the address of a party's certificates of one kind."""
    return CERTIFICATE_PREFIX + _digest(f"{holder_id}\0{kind}", _ID_HEX)


def unit(sscc: str) -> str:
    """Return the address of a logistic unit."""
    return UNIT_PREFIX + _digest(sscc, _ID_HEX)


def accesses_prefix(site_id: str, record_sha256: bytes) -> str:
    """Return the prefix of all heads of a site's record of accesses, by whichever key, 40 digits.

    The site comes first, so that no other site fills what a check of this one reads.

    Args:
        site_id: The site.
        record_sha256: Names the record: the hash of its first access.
    """
    return _HEADS_PREFIX + _digest(f"{site_id}\0{record_sha256.hex()}", _HALF_HEX)


def accesses(site_id: str, record_sha256: bytes, public_key: str, sequence: int) -> str:
    """Return the address of a head of a record of accesses; one key of a site counts from 1 on."""
    prefix = accesses_prefix(site_id, record_sha256)
    return prefix + _hash(f"{public_key}\0{sequence}", _HALF_HEX)


def records_prefix(site_id: str) -> str:
    """Return the prefix of the newest heads that keys of a site committed, 40 digits."""
    return _RECORDS_PREFIX + _digest(site_id, _HALF_HEX)


def newest_accesses(site_id: str, record_sha256: bytes, public_key: str) -> str:
    """Return the address of the newest head of a record that a key of a site committed."""
    which = f"{record_sha256.hex()}\0{public_key}"
    return records_prefix(site_id) + _hash(which, _HALF_HEX)


def trip_prefix(trip_id: str) -> str:
    """Return the prefix of all addresses of a trip, 38 digits."""
    return TRIP_PREFIX + _digest(trip_id, _HALF_HEX)


def trip(trip_id: str) -> str:
    """Return the address of a trip's start."""
    return trip_of(trip_prefix(trip_id))


def kind_of(place: str) -> str:
    """Return the kind of entry at an address, such as `party`; empty for other families."""
    if not place.startswith(NAMESPACE):
        return ""
    return KINDS.get(place[len(NAMESPACE) : len(NAMESPACE) + 2], "entry")


def prefix_of(place: str) -> str:
    """Return the prefix of all addresses of the trip that an address belongs to."""
    return place[:_TRIP_PREFIX_HEX]


def is_trip(place: str) -> bool:
    """Say whether an address is that of a trip's start."""
    return place.startswith(TRIP_PREFIX) and place.endswith(_TRIP_START)


def trip_of(prefix: str) -> str:
    """Return the address of the start of the trip whose addresses begin with `prefix`."""
    return prefix + _TRIP_START


def is_handover(place: str) -> bool:
    """Say whether an address is that of a handover."""
    return place.startswith(TRIP_PREFIX) and place[_TRIP_PREFIX_HEX:].startswith(_HANDOVER)


def chain(trip_id: str, device_id: str) -> str:
    """Return the address of the chain of one device's readings on one trip."""
    return trip_prefix(trip_id) + _CHAIN + _digest(device_id, _HALF_HEX)


def is_chain(place: str) -> bool:
    """Say whether an address is that of the chain of one device's readings on one trip."""
    return place.startswith(TRIP_PREFIX) and place[-_HALF_HEX - 2 : -_HALF_HEX] == _CHAIN


def handover(
    trip_id: str, delivery_id: str, site_id: str, from_party_id: str, to_party_id: str
) -> str:
    """Return the address of a handover of one delivery at one site."""
    which = f"{delivery_id}\0{site_id}\0{from_party_id}\0{to_party_id}"
    return trip_prefix(trip_id) + _HANDOVER + _digest(which, _HALF_HEX)


def breach(trip_id: str, device_id: str, delivery_id: str, quantity: int, since: int) -> str:
    """Return the address of the breach that began with reading number `since`."""
    which = f"{device_id}\0{delivery_id}\0{quantity}\0{since}"
    return trip_prefix(trip_id) + _BREACH + _hash(which, _HALF_HEX)


def finding(trip_id: str, transaction_id: str) -> str:
    """Return the address of the findings on one transaction."""
    return trip_prefix(trip_id) + _FINDING + _hash(transaction_id, _HALF_HEX)


def series_findings(trip_id: str, transaction_id: str) -> str:
    """Return the address of the findings on a transaction's place in the row of trips."""
    return trip_prefix(trip_id) + _SERIES_FINDING + _hash(transaction_id, _HALF_HEX)


def is_series_finding(place: str) -> bool:
    """Say whether an address is of findings on a trip's place in its device's row."""
    return place.startswith(TRIP_PREFIX) and place.startswith(_SERIES_FINDING, _TRIP_PREFIX_HEX)


def hold(trip_id: str, hold_id: str) -> str:
    """Return the address of a legal hold on a trip's evidence."""
    return trip_prefix(trip_id) + _HOLD + _digest(hold_id, _HALF_HEX)


def filmed(trip_id: str, device_id: str, sha256: bytes) -> str:
    """Return the address of a recording that a device's reading names as whole."""
    return trip_prefix(trip_id) + _FILMED + _hash(f"{device_id}\0{sha256.hex()}", _HALF_HEX)


def block_info_config() -> str:
    """Return the address of family block_info's configuration, which names the latest entry.

    Source: Sawtooth 1.2, BlockInfo transaction family, "Addressing".
    """
    return BLOCK_INFO_NAMESPACE + "01" + "0" * _ID_HEX


def block_info(block_num: int) -> str:
    """Return the address of the entry on one block in family block_info.

    Source: Sawtooth 1.2, BlockInfo transaction family, "Addressing".
    """
    return BLOCK_INFO_NAMESPACE + f"00{block_num:0{_ID_HEX}x}"


def policy(name: str) -> str:
    """Return the address of an on-chain policy.

    Source: Sawtooth 1.2, Identity transaction family, "Addressing".
    """
    return IDENTITY_NAMESPACE + "00" + hashlib.sha256(name.encode()).hexdigest()[:_ID_HEX]


def role(name: str) -> str:
    """Return the address of an on-chain role.

    Source: Sawtooth 1.2, Identity transaction family, "Addressing".
    """
    digests = [hashlib.sha256(part.encode()).hexdigest() for part in _four_parts(name)]
    return IDENTITY_NAMESPACE + "01" + digests[0][:14] + "".join(each[:16] for each in digests[1:])


@lru_cache(maxsize=256)
def setting(name: str) -> str:
    """Return the address of an on-chain setting.

    Source: Sawtooth 1.2, Settings transaction family, "Addressing".
    """
    return SETTINGS_NAMESPACE + "".join(
        hashlib.sha256(part.encode()).hexdigest()[:16] for part in _four_parts(name)
    )


def _four_parts(name: str) -> list[str]:
    """Split a name at its first three dots; missing parts are empty."""
    parts = name.split(".", 3)
    return parts + [""] * (4 - len(parts))
