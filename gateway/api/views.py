"""Ledger records in REST's words."""

from contracts.proto import payload_pb2, state_pb2
from contracts.records.clock import ClockOrigin, moment
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import Tamper
from gateway.api import models


def signs(flags: int) -> list[str]:
    """Return tamper flags by name."""
    return [flag.name.lower().replace("_", "-") for flag in Tamper(flags) if flag.name]


def delivery(entry: state_pb2.Delivery, trip_ids: list[str]) -> models.Delivery:
    """Return a delivery as it stands."""
    terms = entry.terms
    return models.Delivery(
        delivery_id=terms.delivery_id,
        order_id=terms.order_id,
        status=state_pb2.Delivery.Status.Name(entry.status).lower().replace("_", "-"),
        product=terms.product,
        quantity=terms.quantity,
        unit=terms.unit,
        lots=[models.Lot(gtin=lot.gtin, lot=lot.lot) for lot in terms.lots],
        seller_id=terms.seller_id,
        carrier_id=terms.carrier_id,
        buyer_id=terms.buyer_id,
        signed_by=list(entry.signed_by),
        limits=[_limit(limit) for limit in terms.limits],
        breaches=entry.breaches,
        tampers=entry.tampers,
        trip_ids=trip_ids,
    )


def trip(
    start: payload_pb2.StartTrip,
    transaction_id: str,
    readings: int,
    seals: list[tuple[payload_pb2.SealTrip, str]],
) -> models.Trip:
    """Return a trip with how many readings of it are committed, and its seals with their ids."""
    return models.Trip(
        trip_id=start.trip_id,
        device_id=start.device_id,
        origin_site_id=start.origin_site_id,
        destination_site_id=start.destination_site_id,
        started_at=moment(start.started_at_ms),
        delivery_ids=list(start.delivery_ids),
        derived_from=[
            models.Source(role=source.role, name=source.name, sha256=source.sha256.hex())
            for source in start.derived_from
        ],
        readings=readings,
        seals=[
            models.Seal(
                device_id=seal.device_id,
                reading_count=seal.reading_count,
                head_sha256=seal.head_sha256.hex(),
                recordings=[recording.sha256.hex() for recording in seal.recordings],
                transaction_id=seal_id,
            )
            for seal, seal_id in seals
        ],
        transaction_id=transaction_id,
    )


def reading(
    record: payload_pb2.RecordReading, transaction_id: str, block_num: int
) -> models.Reading:
    """Return a reading as committed."""
    return models.Reading(
        device_id=record.device_id,
        sequence=record.sequence,
        time=moment(record.clock.utc_ms),
        clock_origin=ClockOrigin(record.clock.origin).name.lower(),
        temperature_cel=(
            record.temperature_mcel / 1000 if record.HasField("temperature_mcel") else None
        ),
        humidity_pct=record.humidity_mpct / 1000 if record.HasField("humidity_mpct") else None,
        pressure_hpa=record.pressure_pa / 100 if record.HasField("pressure_pa") else None,
        position=_position(record),
        tamper=signs(record.tamper_flags),
        derived=record.derived,
        transaction_id=transaction_id,
        block_num=block_num,
    )


def breach(entry: state_pb2.Breach) -> models.Breach:
    """Return a breach."""
    quantity = QUANTITIES[entry.limit.quantity]
    return models.Breach(
        delivery_id=entry.delivery_id,
        device_id=entry.device_id,
        quantity=quantity.name,
        unit=quantity.unit_code,
        extreme=entry.extreme / quantity.scale,
        since=moment(entry.since_ms),
        until=moment(entry.until_ms),
        first_sequence=entry.since_sequence,
        last_sequence=entry.until_sequence,
        position=_position(entry),
        ended=entry.ended,
    )


def tamper(entry: state_pb2.TamperEvent) -> models.TamperEvent:
    """Return a tamper event."""
    return models.TamperEvent(
        device_id=entry.device_id,
        sequence=entry.sequence,
        time=moment(entry.utc_ms),
        signs=signs(entry.flags),
        position=_position(entry),
    )


def finding(entry: state_pb2.Finding) -> models.Finding:
    """Return a finding."""
    return models.Finding(
        rule=entry.rule,
        device_id=entry.device_id,
        sequence=entry.sequence,
        detail=entry.detail,
        transaction_id=entry.transaction_id,
    )


def recording(
    digest: payload_pb2.RecordVideo, transaction_id: str, block_num: int, *, stored: bool
) -> models.Recording:
    """Return a recording's digest as committed."""
    return models.Recording(
        recording_id=digest.sha256.hex(),
        trip_id=digest.trip_id,
        device_id=digest.device_id,
        size=digest.size,
        tree_root=digest.tree_root.hex(),
        pseudo_file_id=digest.pseudo_file_id,
        media_type=digest.media_type,
        started_at=moment(digest.started_at_ms),
        duration_s=digest.duration_ms / 1000,
        derived=digest.derived,
        source_sha256=digest.source_sha256.hex() or None,
        transaction_id=transaction_id,
        block_num=block_num,
        stored=stored,
    )


def _limit(limit: payload_pb2.Limit) -> models.Limit:
    quantity = QUANTITIES[limit.quantity]
    return models.Limit(
        quantity=quantity.name,
        unit=quantity.unit_code,
        minimum=limit.minimum / quantity.scale if limit.HasField("minimum") else None,
        maximum=limit.maximum / quantity.scale if limit.HasField("maximum") else None,
        tolerated_s=limit.tolerated_s,
    )


def _position(
    holder: payload_pb2.RecordReading | state_pb2.Breach | state_pb2.TamperEvent,
) -> models.Position | None:
    if not holder.HasField("position"):
        return None
    place = holder.position
    return models.Position(
        latitude=place.latitude_e7 / 1e7,
        longitude=place.longitude_e7 / 1e7,
        accuracy_m=place.accuracy_cm / 100 or None,
    )
