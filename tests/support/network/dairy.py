"""A dairy and two authorities, and what they say of lots, units and certificates."""

from contracts.proto.payload_pb2 import (
    AUTHORITY,
    MANUFACTURER,
    SELLER,
    CertifyParty,
    LotQuantity,
    PackUnit,
    SetLotStatus,
    TransformLots,
)
from contracts.proto.payload_pb2 import Lot as LotName
from contracts.proto.sawtooth_pb2 import Event
from support.ledgers.hosts import Host, apply_all
from support.network.world import GTIN, START_MS, key, one, party, registrations

MILK = LotName(gtin=GTIN, lot="milk")
ROLES = {"dairy": [MANUFACTURER, SELLER], "agency": [AUTHORITY], "court": [AUTHORITY]}


def with_check_digit(digits: str) -> str:
    weighted = sum(int(d) * (3 if at % 2 == 0 else 1) for at, d in enumerate(digits[::-1]))
    return f"{digits}{-weighted % 10}"


UNITS = [with_check_digit(f"34012345{number:09d}") for number in range(12)]


def sscc(number: int) -> str:
    return with_check_digit(f"94012345{number:09d}")


def ready(host: Host) -> None:
    """Register the parties of the tests' network and these."""
    parties = [party(name, *roles) for name, roles in ROLES.items()]
    apply_all(host, [*registrations(), *parties])


def status(party_id: str, said: SetLotStatus.Status = SetLotStatus.RECALLED) -> SetLotStatus:
    return SetLotStatus(
        party_id=party_id, gtin=GTIN, lot="milk", status=said, reason="listeria", at_ms=START_MS
    )


def make(host: Host, name: str, used: str = "", made: str = "milk") -> list[Event]:
    def lots(lot: str) -> list[LotQuantity]:
        return [LotQuantity(gtin=GTIN, lot=lot, quantity=10, unit="KGM")] if lot else []

    action = TransformLots(
        transformation_id=name,
        party_id="dairy",
        site_id="site-seller",
        inputs=lots(used),
        outputs=lots(made),
        at_ms=START_MS,
    )
    return host.apply(one(key("dairy"), action))


def pack(sscc: str, *units: str, lots: int = 0, by: str = "dairy") -> PackUnit:
    return PackUnit(
        party_id=by,
        sscc=sscc,
        site_id="site-seller",
        lots=[
            LotQuantity(gtin=GTIN, lot=f"L{number}", quantity=1, unit="C62")
            for number in range(lots)
        ],
        units=units,
        at_ms=START_MS,
    )


def certificate(
    party_id: str = "agency", *, revoked: bool = False, until_ms: int = 9
) -> CertifyParty:
    return CertifyParty(
        party_id=party_id,
        holder_id="carrier",
        kind="GDP",
        valid_from_ms=1,
        valid_until_ms=until_ms,
        revoked=revoked,
        at_ms=START_MS,
    )
