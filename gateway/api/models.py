"""REST's answers about records: RFC 3339 times in UTC, units in the names.

The values come from contracts/rendered.py. Answers about one topic alone stand beside its routes,
those about deliveries in deliverymodels.py.
"""

from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, Field

from gateway.api import words
from gateway.moments import Moment

ItemT = TypeVar("ItemT")
Corrected = Annotated[
    Moment | None, Field(description="by a clock that was right later; null if the claim stands")
]


class Page(BaseModel, Generic[ItemT]):
    """Part of a list; `next_cursor` asks for the next part, and is null at the end."""

    items: list[ItemT]
    next_cursor: str | None = None


class Party(BaseModel):
    """An organisation."""

    party_id: str
    name: str
    roles: list[words.PartyRole] = Field(description="granted by an administrator")
    public_keys: list[str] = Field(description="keys that the party may sign with now")
    revoked_keys: list[str] = Field(description="keys that the party signed with before")
    key_duties: dict[str, list[words.KeyDuty]] = Field(
        description="what a key may sign, by public key; a key that is absent may sign everything"
    )
    certificates: list["Certificate"]


class Certificate(BaseModel):
    """What an authority says of a party."""

    kind: str
    authority_id: str
    valid_from: Moment
    valid_until: Moment
    revoked: bool
    document_sha256: str | None


class Site(BaseModel):
    """A checkpoint of a party."""

    site_id: str
    party_id: str
    name: str
    gln: str
    position: "Position | None" = Field(description="its middle")
    radius_m: int | None = Field(description="a trip that ends further away gets a finding")


class Device(BaseModel):
    """A truck's recorder."""

    device_id: str
    party_id: str
    public_keys: list[str]
    calibrated_until: Moment | None


class Lot(BaseModel):
    """A product batch, in GS1 words."""

    gtin: str
    lot: str


class Source(BaseModel):
    """A file from which a replayed trip took its values."""

    role: str
    name: str
    sha256: str


class Seal(BaseModel):
    """A device's statement of everything it recorded on a trip."""

    device_id: str
    reading_count: int
    head_sha256: str
    recordings: list[str]
    transaction_id: str


class Silence(BaseModel):
    """How long a device did not measure a quantity that a delivery on its trip limits."""

    device_id: str
    quantity: words.Quantity
    measured: bool = Field(description="whether the device measured it at all")
    longest_s: float = Field(description="seconds, the longest time without a measurement")
    allowed_s: float = Field(description="seconds, what the strictest delivery allows")
    gaps: int = Field(description="how often it was longer")


class TripClose(BaseModel):
    """A party's statement that the trip is complete."""

    party_id: str
    at: Moment


class Hold(BaseModel):
    """A legal hold on a trip's evidence; in force until it is released."""

    hold_id: str
    party_id: str
    reason: str
    placed_at: Moment
    released_at: Moment | None


class Trip(BaseModel):
    """A truck's way from one site to another."""

    trip_id: str
    device_id: str = Field(description="the device that started it")
    trip_number: int | None = Field(
        description="its place in the row of trips that the device started with its key; null "
        "if the device numbers none. The findings tell of gaps in the row"
    )
    previous_seal_sha256: str | None = Field(
        description="the seal of the trip before, as the start names it; null if it names none"
    )
    other_device_ids: list[str]
    origin_site_id: str
    via_site_ids: list[str]
    destination_site_id: str
    party_ids: list[str] = Field(description="the parties that may close it and place holds")
    started_at: Moment
    started_corrected_at: Corrected
    delivery_ids: list[str]
    derived_from: list[Source]
    readings: int
    seals: list[Seal]
    silences: list[Silence] = Field(description="of the devices that have sealed the trip")
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
    time: Moment = Field(description="as the device claimed it")
    corrected_time: Corrected
    clock_origin: words.Clock
    clock_error_s: float | None = Field(description="at most; null if the device does not know")
    temperature_cel: float | None
    humidity_pct: float | None
    pressure_hpa: float | None
    position: Position | None
    tamper: list[words.TamperSign]
    derived: bool
    transaction_id: str
    block_num: int


class Breach(BaseModel):
    """A limit exceeded for longer than a delivery tolerates."""

    trip_id: str
    delivery_id: str
    device_id: str
    quantity: words.Quantity
    unit: words.QuantityUnit
    extreme: float
    since: Moment = Field(description="as claimed")
    since_corrected: Corrected
    until: Moment = Field(description="as claimed")
    until_corrected: Corrected
    first_sequence: int
    last_sequence: int
    position: Position | None
    ended: bool = Field(
        description="false: still under way on record; `until` is then only how far it is known"
    )


class FilmMoment(BaseModel):
    """A moment in a recording."""

    pseudo_file_id: str = Field(description="of the recording")
    offset_s: float = Field(description="from its first picture")


class Remark(BaseModel):
    """What a device said of itself."""

    device_id: str
    sequence: int = Field(description="the reading that carries it")
    time: Moment = Field(description="of that reading, as claimed")
    corrected_time: Corrected
    kind: words.RemarkName
    change: words.Change
    subject: str | None = Field(description="the sensor, camera or film; null: the device")
    since: Moment = Field(description="when it began, ended or happened, as claimed")
    amount_s: float | None = Field(description="seconds, as the kind says")
    film: list[FilmMoment] = Field(description="where the films of the cameras were")
    says: str = Field(description="in plain words")


class TamperEvent(BaseModel):
    """Signs of tampering that appeared with a reading, or that it shows no longer."""

    device_id: str
    sequence: int
    time: Moment = Field(description="as claimed")
    corrected_time: Corrected
    signs: list[words.TamperSign] = Field(description="that appeared")
    ended: list[words.TamperSign] = Field(description="that the reading shows no longer")
    film: list[FilmMoment] = Field(description="where the films of the cameras were")
    position: Position | None


class Finding(BaseModel):
    """A fact about a committed transaction that auditors must know."""

    rule: words.RuleId
    device_id: str
    sequence: int
    detail: str
    transaction_id: str


class LotQuantity(BaseModel):
    """A quantity of a lot."""

    gtin: str
    lot: str
    quantity: int
    unit: str


class Transformation(BaseModel):
    """Lots made from lots; without `inputs`, lots that are new on the ledger."""

    transformation_id: str
    party_id: str
    site_id: str
    at: Moment
    inputs: list[LotQuantity]
    outputs: list[LotQuantity]
    findings: list[Finding]
    transaction_id: str


class LogisticUnit(BaseModel):
    """A pallet, a case or the like, as packed last; null where nobody is on record."""

    sscc: str
    packed_by: str | None
    site_id: str | None
    packed_at: Moment | None
    lots: list[LotQuantity]
    units: list[str] = Field(description="SSCC of the units in it")
    held_by: str | None = Field(description="SSCC of the unit that holds it")
    findings: list[Finding]


class Recording(BaseModel):
    """One video's digest, as committed, and whether its bytes are here."""

    recording_id: str = Field(description="SHA-256 of the whole file")
    trip_id: str
    device_id: str
    size: int
    tree_root: str
    pseudo_file_id: str
    media_type: str
    started_at: Moment
    duration_s: float
    derived: bool
    source_sha256: str | None
    transaction_id: str
    block_num: int
    stored: bool
    copies: list[str] = Field(
        description="whole copies of these bytes that this gateway knows, PLACE:NAME:DURABILITY"
    )
    held_because: list[str] = Field(
        description="why this gateway does not delete it, in plain words: legal holds on the trip, "
        "and automatic holds; empty if nothing holds it, or nothing of it is here"
    )


class CopyReport(BaseModel):
    """The state of one copy of a recording."""

    copy_name: str
    intact: bool
    rotten_blobs: list[int]
    missing_blobs: list[int]
    unread_blobs: list[int]
