"""What REST answers look like: RFC 3339 times in UTC, units in the names.

Here is what the ledger and the store say; tracingmodels has what a trace of lots says,
operationmodels how the gateway itself is doing.
"""

from datetime import datetime
from typing import Generic, TypeVar

from pydantic import BaseModel, Field

ItemT = TypeVar("ItemT")


class Page(BaseModel, Generic[ItemT]):
    """Part of a list; `next_cursor` asks for what follows, and is null at the end."""

    items: list[ItemT]
    next_cursor: str | None = None


class Party(BaseModel):
    """An organisation."""

    party_id: str
    name: str
    roles: list[str] = Field(description="what an administrator lets it be")
    public_keys: list[str] = Field(description="those that it may sign with now")
    revoked_keys: list[str] = Field(description="those that it signed with before")


class Site(BaseModel):
    """A checkpoint of a party."""

    site_id: str
    party_id: str
    name: str
    gln: str


class Device(BaseModel):
    """A truck's recorder."""

    device_id: str
    party_id: str
    public_keys: list[str]
    calibrated_until: datetime | None


class Lot(BaseModel):
    """A product batch, in GS1 words."""

    gtin: str
    lot: str


class Limit(BaseModel):
    """What a quantity must keep to, and for how long it may not."""

    quantity: str
    unit: str
    minimum: float | None
    maximum: float | None
    tolerated_s: int


class Dispute(BaseModel):
    """Why a party disputes a delivery."""

    party_id: str
    reason: str
    at: datetime


class Closing(BaseModel):
    """The words that end a delivery, once seller and buyer signed them."""

    payment: str
    at: datetime
    signed_by: list[str]


class Delivery(BaseModel):
    """The contract between distributor and retailer, and how it stands."""

    delivery_id: str
    order_id: str
    status: str
    product: str
    quantity: int
    unit: str
    lots: list[Lot]
    seller_id: str
    carrier_id: str
    buyer_id: str
    signed_by: list[str]
    price_sha256: str | None = Field(description="salted; the parties have the plaintext")
    payment_terms_sha256: str | None = Field(description="salted; the parties have the plaintext")
    payment: str = Field(description="none, due, released or withheld; no money moves here")
    custodian_id: str | None = Field(description="who has the goods, by the handovers")
    dispute: Dispute | None
    closing: Closing | None
    limits: list[Limit]
    breaches: int
    tampers: int
    trip_ids: list[str]


class Source(BaseModel):
    """A file that a trip's values were taken from, when it was replayed."""

    role: str
    name: str
    sha256: str


class Seal(BaseModel):
    """What a device says it recorded on a trip."""

    device_id: str
    reading_count: int
    head_sha256: str
    recordings: list[str]
    transaction_id: str


class TripClose(BaseModel):
    """A party's word that nothing more is to come of a trip."""

    party_id: str
    at: datetime


class Hold(BaseModel):
    """A legal hold on a trip's evidence; in force until it is released."""

    hold_id: str
    party_id: str
    reason: str
    placed_at: datetime
    released_at: datetime | None


class Trip(BaseModel):
    """One drive between two sites."""

    trip_id: str
    device_id: str = Field(description="the device that started it")
    other_device_ids: list[str]
    origin_site_id: str
    via_site_ids: list[str]
    destination_site_id: str
    party_ids: list[str] = Field(description="who may close it, and place holds")
    started_at: datetime
    delivery_ids: list[str]
    derived_from: list[Source]
    readings: int
    seals: list[Seal]
    closed: TripClose | None
    holds: int = Field(description="legal holds in force")
    transaction_id: str


class Position(BaseModel):
    """WGS 84."""

    latitude: float
    longitude: float
    accuracy_m: float | None = Field(description="null when unknown")


class Reading(BaseModel):
    """One dataset, as committed."""

    device_id: str
    sequence: int
    time: datetime
    clock_origin: str
    temperature_cel: float | None
    humidity_pct: float | None
    pressure_hpa: float | None
    position: Position | None
    tamper: list[str]
    derived: bool
    transaction_id: str
    block_num: int


class Breach(BaseModel):
    """A limit exceeded for longer than a delivery tolerates."""

    trip_id: str
    delivery_id: str
    device_id: str
    quantity: str
    unit: str
    extreme: float
    since: datetime
    until: datetime
    first_sequence: int
    last_sequence: int
    position: Position | None
    ended: bool


class TamperEvent(BaseModel):
    """Signs of tampering that appeared with a reading."""

    device_id: str
    sequence: int
    time: datetime
    signs: list[str]
    position: Position | None


class Finding(BaseModel):
    """Something an auditor must know about a committed transaction."""

    rule: str
    device_id: str
    sequence: int
    detail: str
    transaction_id: str


class LotQuantity(BaseModel):
    """So much of a lot."""

    gtin: str
    lot: str
    quantity: int
    unit: str


class Transformation(BaseModel):
    """Lots made from lots, or lots that begin when `inputs` is empty."""

    transformation_id: str
    party_id: str
    site_id: str
    at: datetime
    inputs: list[LotQuantity]
    outputs: list[LotQuantity]
    findings: list[Finding]
    transaction_id: str


class Recording(BaseModel):
    """One video's digest, as committed, and whether its bytes are here."""

    recording_id: str = Field(description="SHA-256 of the whole file")
    trip_id: str
    device_id: str
    size: int
    tree_root: str
    pseudo_file_id: str
    media_type: str
    started_at: datetime
    duration_s: float
    derived: bool
    source_sha256: str | None
    transaction_id: str
    block_num: int
    stored: bool
    copies: list[str] = Field(
        description="whole copies of these bytes that this gateway knows, PLACE:NAME:DURABILITY"
    )


class CopyReport(BaseModel):
    """How one copy of a recording fared."""

    copy_name: str
    intact: bool
    rotten_blobs: list[int]
    missing_blobs: list[int]
    unread_blobs: list[int]


class RecordingReport(BaseModel):
    """The outcome of reading every byte of every copy of a recording."""

    recording_id: str
    intact: bool
    copies: list[CopyReport]
