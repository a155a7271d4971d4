"""Ledger records in REST's words."""

from contracts.proto import payload_pb2, state_pb2
from contracts.records.clock import ClockOrigin, moment
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import Tamper
from contracts.rules.deliveries import payment_name, status_name
from gateway.api import models
from storage.recordings.manifest import StoredRecording


def signs(flags: int) -> list[str]:
    """Return tamper flags by name."""
    return [flag.name.lower().replace("_", "-") for flag in Tamper(flags) if flag.name]


def party(entry: state_pb2.Party, revoked_keys: list[str]) -> models.Party:
    """Return a party as it stands."""
    return models.Party(
        party_id=entry.party_id,
        name=entry.name,
        roles=[payload_pb2.Role.Name(role).lower() for role in entry.roles],
        public_keys=list(entry.public_keys),
        revoked_keys=revoked_keys,
    )


def delivery(entry: state_pb2.Delivery, trip_ids: list[str]) -> models.Delivery:
    """Return a delivery as it stands."""
    terms = entry.terms
    return models.Delivery(
        delivery_id=terms.delivery_id,
        order_id=terms.order_id,
        status=status_name(entry.status),
        product=terms.product,
        quantity=terms.quantity,
        unit=terms.unit,
        lots=[models.Lot(gtin=lot.gtin, lot=lot.lot) for lot in terms.lots],
        seller_id=terms.seller_id,
        carrier_id=terms.carrier_id,
        buyer_id=terms.buyer_id,
        signed_by=list(entry.signed_by),
        price_sha256=terms.price_sha256.hex() or None,
        payment_terms_sha256=terms.payment_terms_sha256.hex() or None,
        payment=payment_name(entry.payment),
        custodian_id=entry.custodian_id or None,
        dispute=_dispute(entry),
        closing=_closing(entry),
        limits=[_limit(limit) for limit in terms.limits],
        breaches=entry.breaches,
        tampers=entry.tampers,
        trip_ids=trip_ids,
    )


def _dispute(entry: state_pb2.Delivery) -> models.Dispute | None:
    if not entry.HasField("dispute"):
        return None
    word = entry.dispute
    return models.Dispute(party_id=entry.disputed_by, reason=word.reason, at=moment(word.at_ms))


def _closing(entry: state_pb2.Delivery) -> models.Closing | None:
    if not entry.HasField("closing"):
        return None
    word = entry.closing
    return models.Closing(
        payment=payment_name(word.payment),
        at=moment(word.at_ms),
        signed_by=list(entry.closing_signed_by),
    )


def trip(
    start: payload_pb2.StartTrip,
    entry: state_pb2.Trip,
    transaction_id: str,
    readings: int,
    holds: int,
    seals: list[tuple[payload_pb2.SealTrip, str]],
) -> models.Trip:
    """Return a trip with how many readings of it are committed, and its seals with their ids."""
    return models.Trip(
        trip_id=start.trip_id,
        device_id=start.device_id,
        other_device_ids=list(start.other_device_ids),
        origin_site_id=start.origin_site_id,
        via_site_ids=list(start.via_site_ids),
        destination_site_id=start.destination_site_id,
        party_ids=list(entry.party_ids),
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
        closed=_trip_close(entry),
        holds=holds,
        transaction_id=transaction_id,
    )


def _trip_close(entry: state_pb2.Trip) -> models.TripClose | None:
    if not entry.HasField("close"):
        return None
    return models.TripClose(party_id=entry.close.party_id, at=moment(entry.close.at_ms))


def hold(entry: state_pb2.Hold) -> models.Hold:
    """Return a legal hold."""
    placed, released = entry.placed, entry.HasField("released")
    return models.Hold(
        hold_id=placed.hold_id,
        party_id=placed.party_id,
        reason=placed.reason,
        placed_at=moment(placed.at_ms),
        released_at=moment(entry.released.at_ms) if released else None,
    )


def transformation(entry: state_pb2.Transformation, transaction_id: str) -> models.Transformation:
    """Return lots made from lots."""
    terms = entry.terms
    return models.Transformation(
        transformation_id=terms.transformation_id,
        party_id=terms.party_id,
        site_id=terms.site_id,
        at=moment(terms.at_ms),
        inputs=[_lot_quantity(each) for each in terms.inputs],
        outputs=[_lot_quantity(each) for each in terms.outputs],
        findings=[finding(each) for each in entry.findings],
        transaction_id=transaction_id,
    )


def _lot_quantity(each: payload_pb2.LotQuantity) -> models.LotQuantity:
    return models.LotQuantity(gtin=each.gtin, lot=each.lot, quantity=each.quantity, unit=each.unit)


def reading(
    record: payload_pb2.RecordReading,
    place: tuple[str, int],
    transaction_id: str,
    block_num: int,
) -> models.Reading:
    """Return a reading as committed, alone or in a run; `place` is its device and number."""
    device_id, sequence = place
    return models.Reading(
        device_id=device_id,
        sequence=sequence,
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
        trip_id=entry.trip_id,
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
    digest: payload_pb2.RecordVideo,
    transaction_id: str,
    block_num: int,
    stored: StoredRecording | None,
) -> models.Recording:
    """Return a recording's digest as committed, and where the bytes rest that it tells of."""
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
        stored=stored is not None,
        copies=list(map(str, stored.copies)) if stored else [],
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
