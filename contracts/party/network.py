"""A sample network of a seller, a carrier and a buyer: what they sign before a truck leaves.

Demo, fleet, benchmark and tests register it; each of them signs and submits in its own way.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.actions.table import Action
from contracts.proto.payload_pb2 import (
    BUYER,
    CARRIER,
    SELLER,
    Limit,
    Lot,
    LotQuantity,
    OpenDelivery,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    TransformLots,
)

ADMIN: Final = "admin"
"""Signs the registrations of parties."""
COLD: Final = Limit(quantity=Limit.TEMPERATURE_MCEL, minimum=2_000, maximum=8_000, tolerated_s=600)
Signed = tuple[str, Action]
"""Name of the signer, which is `ADMIN` or a party's id, and what it signs."""


def _no_gateway(_: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleNetwork:
    """Three parties and two sites.

    Attributes:
        seller: Party that owns the origin.
        carrier: Party that owns the devices.
        buyer: Party that owns the destination.
        origin: Site where trips begin.
        destination: Site where trips end.
        glns: Global location numbers of origin and destination; may be empty.
        lot: The lot that it delivers. Networks on one ledger need different ones: the first party
            to make a lot owns it.
        party_name: Returns the name of a party for its id.
    """

    seller: str = "seller"
    carrier: str = "carrier"
    buyer: str = "buyer"
    origin: str = "site-a"
    destination: str = "site-b"
    glns: tuple[str, str] = ("4006381333931", "5901234123457")
    lot: str = "L42"
    party_name: Callable[[str], str] = str.title

    def registrations(
        self,
        public_key: Callable[[str], str],
        gateway_keys: Callable[[str], Sequence[str]] = _no_gateway,
    ) -> Iterator[Signed]:
        """Yield the registrations of parties, then those of sites.

        Args:
            public_key: Returns the public key of a party for its id.
            gateway_keys: Returns the public keys that sign receipts, for a site's id.
        """
        roles = ((self.seller, SELLER), (self.carrier, CARRIER), (self.buyer, BUYER))
        for party_id, role in roles:
            yield (
                ADMIN,
                RegisterParty(
                    party_id=party_id,
                    name=self.party_name(party_id),
                    public_keys=[public_key(party_id)],
                    roles=[role],
                ),
            )
        docks = ((self.origin, self.seller), (self.destination, self.buyer))
        for (site_id, party_id), gln in zip(docks, self.glns, strict=True):
            yield (
                party_id,
                RegisterSite(
                    site_id=site_id,
                    party_id=party_id,
                    name=f"Dock of {self.party_name(party_id)}",
                    gln=gln,
                    gateway_public_keys=gateway_keys(site_id),
                ),
            )

    def device(self, device_id: str, public_key: str) -> Signed:
        """Return the registration of a carrier's device."""
        device = RegisterDevice(
            device_id=device_id, party_id=self.carrier, public_keys=[public_key]
        )
        return self.carrier, device

    def delivery(self, terms: OpenDelivery, made_at_ms: int) -> Iterator[Signed]:
        """Yield what makes the lots, then the terms once for each party that must sign them.

        Args:
            terms: What both sides agree on.
            made_at_ms: When the lots were made, milliseconds since the Unix epoch.
        """
        yield (
            self.seller,
            TransformLots(
                transformation_id=f"made-for-{terms.delivery_id}",
                party_id=self.seller,
                site_id=self.origin,
                outputs=[
                    LotQuantity(
                        gtin=lot.gtin, lot=lot.lot, quantity=terms.quantity, unit=terms.unit
                    )
                    for lot in terms.lots
                ],
                at_ms=made_at_ms,
            ),
        )
        yield self.seller, terms
        yield self.buyer, terms

    def terms(
        self, delivery_id: str, order_id: str = "", limits: Sequence[Limit] = (COLD,)
    ) -> OpenDelivery:
        """Return the terms of a delivery of fresh milk.

        Args:
            delivery_id: Its id.
            order_id: Its order; `order-` and the delivery's id when not given.
            limits: What the buyer accepts on the way.
        """
        return OpenDelivery(
            delivery_id=delivery_id,
            order_id=order_id or f"order-{delivery_id}",
            lots=[Lot(gtin="00012345678905", lot=self.lot)],
            product="fresh milk",
            quantity=1_200,
            unit="LTR",
            seller_id=self.seller,
            carrier_id=self.carrier,
            buyer_id=self.buyer,
            limits=limits,
        )
