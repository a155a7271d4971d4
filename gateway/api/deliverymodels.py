"""REST's answers about deliveries: terms, state and handovers.

The values come from contracts/rendered_delivery.py.
"""

from pydantic import BaseModel, Field

from gateway.api import words
from gateway.api.models import Certificate, Lot
from gateway.moments import Moment


class Limit(BaseModel):
    """The range that a quantity must keep to, and how long an excursion is tolerated."""

    quantity: words.Quantity
    unit: words.QuantityUnit
    minimum: float | None
    maximum: float | None
    tolerated_s: int
    longest_silence_s: int = Field(description="the longest time between two measurements")


class Dispute(BaseModel):
    """Why a party disputes a delivery."""

    party_id: str
    reason: str
    at: Moment


class Closing(BaseModel):
    """The text that ends a delivery, once seller and buyer have signed it."""

    payment: words.Payment
    at: Moment
    signed_by: list[str]


class Cancelling(BaseModel):
    """The text that cancels a delivery, once seller and buyer have signed it."""

    reason: str
    at: Moment
    signed_by: list[str]


class Notice(BaseModel):
    """An authority's notice that it will settle a delivery."""

    authority_id: str
    reason: str
    at: Moment


class Settlement(BaseModel):
    """How an authority ended a delivery."""

    authority_id: str
    payment: words.Payment
    reason: str
    at: Moment


class Holding(BaseModel):
    """How much of a delivery a party has, in the delivery's unit."""

    party_id: str
    quantity: int = Field(description="below 0: it handed over more than it received on record")


class HandOver(BaseModel):
    """Goods that changed hands; it counts once both parties have signed it."""

    trip_id: str
    trip_on_ledger: bool = Field(description="false while the truck has not offloaded that trip")
    site_id: str
    from_party_id: str
    to_party_id: str
    at: Moment | None = Field(description="null: its parties did not say when (version 1.0)")
    quantity: int | None = Field(description="null: the whole delivery")
    seal_numbers: list[str]
    returned: bool
    signed_by: list[str]


class FindingOnDelivery(BaseModel):
    """A fact about an action of no trip: the second signature, or the acceptance."""

    rule: words.RuleId
    detail: str
    transaction_id: str


class DeliveredLot(BaseModel):
    """What a delivery holds of one of its lots."""

    gtin: str
    lot: str
    product: str
    quantity: int
    unit: str


class RequiredCertificate(BaseModel):
    """A certificate that a party must hold when a trip with the delivery starts."""

    holder_id: str
    kind: str
    held: list[Certificate] | None = Field(
        description="as they stood when both sides had signed; empty: nobody gave one; null: one "
        "side has not signed"
    )


class Delivery(BaseModel):
    """The contract between distributor and retailer, and its present state."""

    delivery_id: str
    order_id: str
    status: words.DeliveryStatus
    product: str
    quantity: int
    unit: str
    lots: list[Lot]
    items: list[DeliveredLot] = Field(description="for each lot; empty: the terms do not say")
    units: list[str] = Field(description="SSCC of the logistic units that are delivered")
    required_certificates: list[RequiredCertificate]
    seller_id: str
    carrier_id: str
    other_carrier_ids: list[str]
    buyer_id: str
    deadline: Moment | None = Field(description="from then on the authority may settle it")
    authority_id: str | None = Field(description="who may settle it; null: any authority")
    signed_by: list[str]
    price_sha256: str | None = Field(description="salted; the parties have the plaintext")
    payment_terms_sha256: str | None = Field(description="salted; the parties have the plaintext")
    payment: words.Payment = Field(description="no money moves here")
    custodian_id: str | None = Field(
        description="the party that has all of the goods by the handovers; null while divided"
    )
    holdings: list[Holding] = Field(description="what each party has, by the handovers")
    sent_quantity: int
    received_quantity: int
    returned_quantity: int
    accepted_quantity: int | None = Field(description="what the buyer named on acceptance")
    awaited_trip_ids: list[str] = Field(
        description="trips that handovers name and that are not on the ledger"
    )
    dispute: Dispute | None
    cancelling: Cancelling | None
    closing: Closing | None
    notices: list[Notice] = Field(description="of authorities that will settle the delivery")
    settlement: Settlement | None
    findings: list[FindingOnDelivery] = Field(
        description="on goods and certificates once both sides have signed, and on the acceptance"
    )
    limits: list[Limit]
    breaches: int
    tampers: int
    silences: int = Field(
        description="how often a limited quantity was not measured for longer than agreed, or never"
    )
    trip_ids: list[str]
