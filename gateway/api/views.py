"""Records as REST shows them: the words of contracts/rendered.py, and their place on the ledger."""

from collections.abc import Callable, Iterable
from datetime import datetime

from contracts import rendered, rendered_delivery, rendered_remarks
from contracts.proto import payload_pb2, state_pb2
from contracts.records.clock import moment
from gateway.api import deliverymodels, models
from gateway.records.breaches import BreachRecord
from gateway.records.deliveries import DeliveryRecord, HandOverRecord
from gateway.records.digests import DigestRecord
from gateway.records.entries import TransformationRecord
from gateway.records.registry import DeviceRecord, PartyRecord
from gateway.records.tracing import LotId
from gateway.records.trips import ReadingRecord, RemarkRecord, TamperRecord, TripRecord
from storage.recordings.manifest import StoredRecording


def party(record: PartyRecord) -> models.Party:
    """Return a party as it stands."""
    words = rendered.party(record.entry)
    return models.Party.model_validate(
        {
            **words,
            "revoked_keys": record.revoked_keys,
            "certificates": [rendered.certificate(each) for each in record.certificates],
        }
    )


def site(action: payload_pb2.RegisterSite) -> models.Site:
    """Return a site."""
    return models.Site.model_validate(rendered.site(action))


def unit(entry: state_pb2.LogisticUnit) -> models.LogisticUnit:
    """Return a logistic unit as packed last."""
    return models.LogisticUnit.model_validate(rendered.unit(entry))


def device(record: DeviceRecord) -> models.Device:
    """Return a device."""
    until_ms = record.calibrated_until_ms
    return models.Device(
        device_id=record.device_id,
        party_id=record.party_id,
        public_keys=list(record.public_keys),
        calibrated_until=moment(until_ms) if until_ms else None,
    )


def lot(name: LotId) -> models.Lot:
    """Return a lot by its name."""
    return models.Lot.model_validate(name, from_attributes=True)


def delivery(record: DeliveryRecord) -> deliverymodels.Delivery:
    """Return a delivery as it stands."""
    words = rendered_delivery.delivery(record.entry)
    return deliverymodels.Delivery.model_validate({**words, "trip_ids": record.trip_ids})


def handover(record: HandOverRecord) -> deliverymodels.HandOver:
    """Return a handover as it stands."""
    words = rendered_delivery.handover(record.entry)
    return deliverymodels.HandOver.model_validate(
        {**words, "trip_on_ledger": record.trip_on_ledger}
    )


def trip(record: TripRecord) -> models.Trip:
    """Return a trip as it stands."""
    entry = record.entry
    return models.Trip.model_validate(
        {
            **rendered.start(record.start),
            "party_ids": list(entry.party_ids),
            "readings": record.readings,
            "seals": [
                {**rendered.seal(each.seal), "transaction_id": each.transaction_id}
                for each in record.seals
            ],
            "silences": rendered.silences(record.chains, entry),
            "closed": rendered.close(entry.close) if entry.HasField("close") else None,
            "holds": record.holds,
            "started_corrected_at": _moment(record.started_corrected_ms),
            "transaction_id": record.transaction_id,
        }
    )


def hold(entry: state_pb2.Hold) -> models.Hold:
    """Return a legal hold."""
    return models.Hold.model_validate(rendered.hold(entry))


def transformation(record: TransformationRecord) -> models.Transformation:
    """Return lots made from lots."""
    words = rendered.transformation(record.entry)
    return models.Transformation.model_validate({**words, "transaction_id": record.transaction_id})


def reading(record: ReadingRecord) -> models.Reading:
    """Return a reading as committed."""
    return models.Reading.model_validate(
        {
            **rendered.reading(record.record),
            "corrected_time": _moment(record.corrected_ms),
            "device_id": record.device_id,
            "sequence": record.sequence,
            "transaction_id": record.transaction_id,
            "block_num": record.block_num,
        }
    )


def remark(record: RemarkRecord) -> models.Remark:
    """Return what a device said of itself."""
    words = rendered_remarks.remark(record.entry, record.corrected_ms)
    return models.Remark.model_validate(words)


def breach(record: BreachRecord) -> models.Breach:
    """Return a breach."""
    times = record.since_corrected_ms, record.until_corrected_ms
    return models.Breach.model_validate(rendered.breach(record.entry, *times))


def tamper(record: TamperRecord) -> models.TamperEvent:
    """Return a tamper event."""
    return models.TamperEvent.model_validate(rendered.tamper(record.entry, record.corrected_ms))


def finding(entry: state_pb2.Finding) -> models.Finding:
    """Return a finding."""
    return models.Finding.model_validate(rendered.finding(entry))


def recording(
    record: DigestRecord,
    stored: StoredRecording | None,
    held_because: Callable[[], Iterable[str]] = tuple,
) -> models.Recording:
    """Return a digest as committed, with the copies of the bytes that it fits.

    Args:
        record: The digest.
        stored: What is whole here of that recording; None when nothing is.
        held_because: Returns the reasons why retention keeps it; called only if its bytes are here.
    """
    fits = stored is not None and record.fits(stored)
    return models.Recording.model_validate(
        {
            **rendered.digest(record.digest),
            "transaction_id": record.transaction_id,
            "block_num": record.block_num,
            "stored": fits,
            "copies": list(map(str, stored.copies)) if stored is not None and fits else [],
            "held_because": list(held_because()) if fits else [],
        }
    )


def _moment(utc_ms: int | None) -> datetime | None:
    return None if utc_ms is None else moment(utc_ms)
