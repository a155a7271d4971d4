"""The verdict on a trip's evidence, as REST shows it: the JSON of `wayseal-verify --json`.

The values come from contracts/evidence/report.py.
"""

from pydantic import BaseModel, Field

from contracts.evidence import report
from contracts.records.clock import moment
from gateway.api import deliverymodels, models, words
from gateway.api.tracing import LotStatus
from gateway.moments import Moment
from gateway.records.judged import Judged


class NetworkKeys(BaseModel):
    """A network of validators as it began."""

    chain_id: str
    validators: dict[str, int] = Field(description="voting power by public key")


class Sealed(BaseModel):
    """What a network's validators signed about the last block."""

    height: int = Field(description="of the engine's header that names the block")
    at: Moment = Field(description="the time in that header")
    by: list[str] = Field(description="public keys of the validators that signed it")
    power: int = Field(description="their voting power")
    power_of_all: int


class Keys(BaseModel):
    """The keys in which the chains of signatures end, as found."""

    genesis_block_id: str
    block_signers: list[str] = Field(description="none if a network makes the blocks")
    network: NetworkKeys | None = Field(description="null if one signer makes the blocks")
    admin_keys: list[str]


class EarlierLedger(BaseModel):
    """A ledger that ended, and whose batches its successor has in the same order."""

    genesis_block_id: str
    block_num: int = Field(description="of its last block")
    block_id: str = Field(description="of its last block")
    block_signers: list[str]


class LedgerPart(BaseModel):
    """The part of the ledger that the evidence has."""

    blocks: int
    last_block_id: str
    blocks_of_the_story: int = Field(description="blocks with batches that are replayed")
    blocks_with_time: int = Field(description="how many of those have a time")
    last_block_at: Moment | None = Field(description="null if it is not proved")
    last_signed_at: Moment | None = Field(description="the latest time in a transaction")
    sealed: Sealed | None = Field(description="null if one signer makes the blocks")
    goes_on_from: list[EarlierLedger] = Field(description="the oldest first; mostly empty")


class JudgedFinding(BaseModel):
    """A finding on a trip."""

    rule: words.RuleId
    device_id: str
    detail: str


class FindingOfParty(BaseModel):
    """A finding on a delivery or a transformation, which is of no device."""

    rule: words.RuleId
    detail: str


class NamedLotStatus(LotStatus):
    """What was said last on a lot."""

    gtin: str
    lot: str


class JudgedCertificate(deliverymodels.RequiredCertificate):
    """A certificate that a party must hold, and whether it did."""

    valid_at_start: bool | None = Field(description="when the trip started; null: one side signed")


class JudgedDelivery(BaseModel):
    """A delivery on the trip, at the end of the evidence."""

    delivery_id: str
    lots: list[models.Lot]
    items: list[deliverymodels.DeliveredLot]
    units: list[str]
    required_certificates: list[JudgedCertificate]
    status: words.DeliveryStatus
    payment: words.Payment
    custodian_id: str | None
    breaches: int
    tampers: int
    silences: int
    limits_kept: bool | None = Field(description="null if nobody can say")
    between_trips: list[str] = Field(description="what nobody measured between two trips")
    draft_signed_by: list[str] | None = Field(
        description="the party that alone had signed when the trip started; null if both had"
    )
    quantity: int
    unit: str
    sent_quantity: int
    received_quantity: int
    returned_quantity: int
    accepted_quantity: int | None
    holdings: list[deliverymodels.Holding]
    awaited_trip_ids: list[str]
    notices: list[deliverymodels.Notice]
    settlement: deliverymodels.Settlement | None
    findings: list[FindingOfParty]
    disputed_by: str | None
    dispute_reason: str | None


class Telling(BaseModel):
    """In how many of its readings a device could tell what was wrong, and how much it told."""

    device_id: str
    readings: int
    readings_telling: int
    remarks: int
    recordings_named: int


class Correction(BaseModel):
    """A clock that was right, and the earlier readings of its boot that it sets right."""

    device_id: str
    sequence: int
    boot_id: str
    monotonic_s: float
    time: Moment
    clock_origin: words.Clock
    clock_error_s: float | None
    readings: int
    first_reading_at: Moment | None
    first_reading_corrected_at: Moment | None


class JudgedTrip(BaseModel):
    """The story of a trip in the evidence."""

    trip_id: str
    device_id: str
    trip_number: int | None
    previous_seal_sha256: str | None
    other_device_ids: list[str]
    device_keys: list[str]
    revoked_device_keys: list[str]
    origin_site_id: str
    via_site_ids: list[str]
    destination_site_id: str
    delivery_ids: list[str]
    derived_from: list[models.Source]
    readings: int
    readings_derived: int
    first_reading_at: Moment | None
    last_reading_at: Moment | None
    first_reading_corrected_at: Moment | None = Field(description="null without a correction")
    last_reading_corrected_at: Moment | None
    breaches: list[models.Breach]
    tampers: list[models.TamperEvent]
    remarks: list[models.Remark]
    telling: list[Telling]
    corrections: list[Correction]
    findings: list[JudgedFinding]
    silences: list[models.Silence] | None = Field(description="null under rules of version 1.0")
    left_out_findings: dict[str, int] = Field(description="on batches of strangers, by rule")
    deliveries: list[JudgedDelivery]
    lot_statuses: list[NamedLotStatus]
    source_lot_statuses: list[NamedLotStatus]
    closed_by: str | None
    closed_at: Moment | None
    holds: list[models.Hold]


class JudgedTransformation(BaseModel):
    """Lots made from lots."""

    transformation_id: str
    party_id: str
    site_id: str
    at: Moment
    inputs: list[models.LotQuantity]
    outputs: list[models.LotQuantity]
    findings: list[FindingOfParty]


class JudgedRecording(BaseModel):
    """A recording in the evidence, and how much of it was checked."""

    sha256: str
    trip_id: str
    size: int
    derived: bool
    claimed_by_trip_ids: list[str]
    blobs: int
    leaf_hashes_checked: bool
    blobs_checked: int


class Verdict(BaseModel):
    """The verdict on evidence."""

    verdict: words.VerdictWord
    problems: list[str] = Field(description="what does not hold; empty when everything does")
    format: int
    not_shown: list[str] = Field(
        description="what the ledger or a video may hold beyond the evidence"
    )
    keys: Keys
    ledger: LedgerPart
    trips: list[JudgedTrip]
    transformations: list[JudgedTransformation]
    recordings: list[JudgedRecording]


class JudgedBy(BaseModel):
    """Whose word a verdict is."""

    judged_by: str = Field(description="the gateway that says so")
    judged_at: Moment
    proof: str = Field(description="how to prove it to someone who does not trust this gateway")


class OwnVerdict(Verdict, JudgedBy):
    """The gateway's own verdict on evidence, which proves nothing to others."""

    @classmethod
    def of(cls, judged: Judged, site_id: str, trip_id: str) -> "OwnVerdict":
        """Return what a site's gateway says of a trip."""
        told = report.as_json(
            judged.verdict, "export the evidence with video=true, here or where it is"
        )
        by = f"the gateway of site {site_id}, by keys that it names itself: no proof to others"
        proof = (
            f"export GET /v1/evidence?trip={trip_id}&video=true, and check the file with "
            "wayseal-verify FILE --trust KEYS, with keys from another source than this gateway"
        )
        at = moment(judged.at_ms)
        return cls.model_validate({**told, "judged_by": by, "judged_at": at, "proof": proof})
