"""State addresses of family `wayseal`: 70 hexadecimal digits each.

An address is the family's 6 digit namespace, 2 digits for the kind, and 62
that say which one. All that belongs to a trip shares a 38 digit prefix, so
that the inputs and outputs of a reading are known offline, before anyone can
say what the reading will turn out to touch.

Source: Sawtooth 1.2 architecture guide, "Global State", on radix addresses.
"""

import hashlib
from functools import lru_cache
from typing import Final

ADDRESS_HEX: Final = 70
NAMESPACE: Final = hashlib.sha512(b"wayseal").hexdigest()[:6]
SETTINGS_NAMESPACE: Final = "000000"

_ID_HEX: Final = 62
_HALF_HEX: Final = 30
_PARTY, _SITE, _DEVICE, _DELIVERY, _LOT, _TRANSFORMATION = "01", "02", "03", "05", "06", "07"
_TRIP = "10"
_START, _CHAIN, _HANDOVER, _BREACH, _FINDING, _HOLD = "00", "01", "02", "03", "04", "05"
KEY_PREFIX: Final = NAMESPACE + "04"
DELIVERY_PREFIX: Final = NAMESPACE + _DELIVERY
PARTY_PREFIX: Final = NAMESPACE + _PARTY
LOT_PREFIX: Final = NAMESPACE + _LOT
_TRIP_PREFIX: Final = NAMESPACE + _TRIP
_TRIP_START: Final = _START + "0" * _HALF_HEX
_REMEMBERED: Final = 4096
"""Hashes that are kept, since each reading needs the same few again."""
_REMEMBERED_CHARS: Final = 200
"""Text up to which they are: what comes before its form was checked may be a payload long."""


def _hash(text: str, digits: int) -> str:
    return hashlib.sha512(text.encode()).hexdigest()[:digits]


_remembered: Final = lru_cache(maxsize=_REMEMBERED)(_hash)


def _digest(text: str, digits: int) -> str:
    return (_remembered if len(text) <= _REMEMBERED_CHARS else _hash)(text, digits)


def party(party_id: str) -> str:
    """Return the address of a party."""
    return NAMESPACE + _PARTY + _digest(party_id, _ID_HEX)


def site(site_id: str) -> str:
    """Return the address of a site."""
    return NAMESPACE + _SITE + _digest(site_id, _ID_HEX)


def device(device_id: str) -> str:
    """Return the address of a device."""
    return NAMESPACE + _DEVICE + _digest(device_id, _ID_HEX)


def key(public_key: str) -> str:
    """Return the address that says whose a public key is."""
    return KEY_PREFIX + _digest(public_key, _ID_HEX)


def delivery(delivery_id: str) -> str:
    """Return the address of a delivery."""
    return DELIVERY_PREFIX + _digest(delivery_id, _ID_HEX)


def lot(gtin: str, name: str) -> str:
    """Return the address of a lot."""
    return NAMESPACE + _LOT + _digest(f"{gtin}\0{name}", _ID_HEX)


def transformation(transformation_id: str) -> str:
    """Return the address of a transformation of lots."""
    return NAMESPACE + _TRANSFORMATION + _digest(transformation_id, _ID_HEX)


def trip_prefix(trip_id: str) -> str:
    """Return the prefix, 38 digits, under which all of a trip lies."""
    return NAMESPACE + _TRIP + _digest(trip_id, _HALF_HEX)


def trip(trip_id: str) -> str:
    """Return the address of a trip's start."""
    return trip_prefix(trip_id) + _TRIP_START


def is_trip(place: str) -> bool:
    """Say whether a trip's start lies at an address."""
    return place.startswith(_TRIP_PREFIX) and place.endswith(_TRIP_START)


def chain(trip_id: str, device_id: str) -> str:
    """Return the address of the chain of one device's readings on one trip."""
    return trip_prefix(trip_id) + _CHAIN + _digest(device_id, _HALF_HEX)


def handover(
    trip_id: str, delivery_id: str, site_id: str, from_party_id: str, to_party_id: str
) -> str:
    """Return the address of a handover of one delivery at one site, from hand to hand."""
    which = f"{delivery_id}\0{site_id}\0{from_party_id}\0{to_party_id}"
    return trip_prefix(trip_id) + _HANDOVER + _digest(which, _HALF_HEX)


def breach(trip_id: str, device_id: str, delivery_id: str, quantity: int, since: int) -> str:
    """Return the address of the breach that began with reading number `since`."""
    which = f"{device_id}\0{delivery_id}\0{quantity}\0{since}"
    return trip_prefix(trip_id) + _BREACH + _hash(which, _HALF_HEX)


def finding(trip_id: str, transaction_id: str) -> str:
    """Return the address of the findings about one transaction."""
    return trip_prefix(trip_id) + _FINDING + _hash(transaction_id, _HALF_HEX)


def hold(trip_id: str, hold_id: str) -> str:
    """Return the address of a legal hold on a trip's evidence."""
    return trip_prefix(trip_id) + _HOLD + _digest(hold_id, _HALF_HEX)


@lru_cache(maxsize=256)
def setting(name: str) -> str:
    """Return the address of an on-chain setting.

    Source: Sawtooth 1.2, Settings transaction family, "Addressing".
    """
    parts = name.split(".", 3)
    parts += [""] * (4 - len(parts))
    return SETTINGS_NAMESPACE + "".join(
        hashlib.sha256(part.encode()).hexdigest()[:16] for part in parts
    )
