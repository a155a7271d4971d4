"""Names in EPCIS: a thing with a GS1 key has a GS1 Digital Link, any other has a Wayseal URI.

Source: GS1 Digital Link Standard: URI Syntax, 4; GS1 General Specifications, 7.11 (set 82).
"""

import re
from typing import Final
from urllib.parse import quote, unquote

from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Position, RegisterSite
from contracts.text import is_gs1, quoted
from gateway.records.tracing import LotId

GS1: Final = "https://id.gs1.org"
LOT_SIGNS_MAX: Final = 20
"""Signs of a lot in a GS1 key."""
_GTIN_DIGITS: Final = 14
_GTIN_LENGTHS: Final = (14, 13, 12, 8)
_LINK: Final = re.compile(rf"{GS1}/01/([0-9]{{14}})/10/([^/?#]+)")
_OWN: Final = re.compile(r"urn:wayseal:lot:([0-9]+):([^/?#]+)")


def own(kind: str, name: str) -> str:
    """Return the URI of something that has no GS1 key, such as a trip."""
    return f"urn:wayseal:{kind}:{quote(name, safe='')}"


def lot_uri(gtin: str, lot: str) -> str:
    """Return the class of a lot; one with signs that GS1 does not know has a URI of Wayseal."""
    if gtin.isdigit() and len(gtin) <= _GTIN_DIGITS and is_gs1(lot) and len(lot) <= LOT_SIGNS_MAX:
        return f"{GS1}/01/{gtin.zfill(_GTIN_DIGITS)}/10/{quote(lot, safe='')}"
    return own("lot", gtin) + f":{quote(lot, safe='')}"


def site_uri(site: RegisterSite | None, site_id: str) -> str:
    """Return a site by its GLN, or by its name here."""
    return f"{GS1}/414/{site.gln}" if site is not None and site.gln else own("site", site_id)


def unit_uri(sscc: str) -> str:
    """Return a logistic unit."""
    return f"{GS1}/00/{sscc}"


def place_uri(place: Position) -> str:
    """Return a position. Source: RFC 5870."""
    return f"geo:{place.latitude_e7 / 1e7:.7f},{place.longitude_e7 / 1e7:.7f}"


def lots_of(uri: str) -> list[LotId]:
    """Return the lots on a ledger that a class may be: a GTIN may be there with fewer zeros.

    Raises:
        RejectedError: It is not a class of a lot.
    """
    if match := _LINK.fullmatch(uri):
        gtin, lot = match[1], unquote(match[2])
        lengths = [size for size in _GTIN_LENGTHS if not gtin[: _GTIN_DIGITS - size].strip("0")]
        return [LotId(gtin[_GTIN_DIGITS - size :], lot) for size in lengths]
    if match := _OWN.fullmatch(uri):
        return [LotId(match[1], unquote(match[2]))]
    raise RejectedError(
        f"expected the class of a lot, such as {GS1}/01/09506000134352/10/L42, got {quoted(uri)}"
    )
