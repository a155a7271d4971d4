"""Records in JSON words: one rendering for REST, the verifier's report, pages and exports.

Times are RFC 3339 text in UTC, bytes are hexadecimal, quantities carry their unit in the key.
Each function returns every word of a record; a caller that shows less picks the keys.
Deliveries are in contracts/rendered_delivery.py.
"""

from collections.abc import Iterable

from contracts.proto import payload_pb2, state_pb2
from contracts.records.clock import rfc3339
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import ClockOrigin, Tamper
from contracts.rendered_remarks import corrected, error_s, film
from contracts.rules.lots import lot_status_name
from contracts.rules.silence import silences_allowed

Words = dict[str, object]


def signs(flags: int) -> list[str]:
    """Return tamper flags by name."""
    return Tamper(flags).names_for_people


def party(entry: state_pb2.Party) -> Words:
    """Return a party as it stands."""
    return {
        "party_id": entry.party_id,
        "name": entry.name,
        "roles": [payload_pb2.Role.Name(role).lower() for role in entry.roles],
        "public_keys": list(entry.public_keys),
        "key_duties": {
            each.public_key: [payload_pb2.KeyDuties.Duty.Name(duty).lower() for duty in each.duties]
            for each in entry.key_duties
        },
    }


def certificate(action: payload_pb2.CertifyParty) -> Words:
    """Return what an authority certifies of a party."""
    return {
        "kind": action.kind,
        "authority_id": action.party_id,
        "valid_from": rfc3339(action.valid_from_ms),
        "valid_until": rfc3339(action.valid_until_ms),
        "revoked": action.revoked,
        "document_sha256": action.document_sha256.hex() or None,
    }


def site(action: payload_pb2.RegisterSite) -> Words:
    """Return a site as registered."""
    return {
        "site_id": action.site_id,
        "party_id": action.party_id,
        "name": action.name,
        "gln": action.gln,
        "position": _position(action),
        "radius_m": action.radius_m or None,
    }


def start(action: payload_pb2.StartTrip) -> Words:
    """Return a trip as its device started it."""
    return {
        "trip_id": action.trip_id,
        "device_id": action.device_id,
        "trip_number": action.trip_number or None,
        "previous_seal_sha256": action.previous_seal_sha256.hex() or None,
        "other_device_ids": list(action.other_device_ids),
        "origin_site_id": action.origin_site_id,
        "via_site_ids": list(action.via_site_ids),
        "destination_site_id": action.destination_site_id,
        "started_at": rfc3339(action.started_at_ms),
        "delivery_ids": list(action.delivery_ids),
        "derived_from": [
            {"role": source.role, "name": source.name, "sha256": source.sha256.hex()}
            for source in action.derived_from
        ],
    }


def seal(action: payload_pb2.SealTrip) -> Words:
    """Return a device's statement of everything it recorded on a trip."""
    return {
        "device_id": action.device_id,
        "reading_count": action.reading_count,
        "head_sha256": action.head_sha256.hex(),
        "recordings": [recording.sha256.hex() for recording in action.recordings],
    }


def silences(chains: Iterable[state_pb2.Chain], trip: state_pb2.Trip) -> list[Words]:
    """Return how long each device did not measure each quantity that a delivery limits."""
    allowed = silences_allowed(trip)
    return [
        {
            "device_id": chain.device_id,
            "quantity": QUANTITIES[each.quantity].name,
            "measured": each.measured,
            "longest_s": each.longest_ms / 1000,
            "allowed_s": min(allowed[each.quantity].values()) / 1000,
            "gaps": each.gaps,
        }
        for chain in chains
        for each in chain.silences
        if each.quantity in allowed
    ]


def close(action: payload_pb2.CloseTrip) -> Words:
    """Return the party that closed a trip, and the time."""
    return {"party_id": action.party_id, "at": rfc3339(action.at_ms)}


def hold(entry: state_pb2.Hold) -> Words:
    """Return a legal hold."""
    placed = entry.placed
    return {
        "hold_id": placed.hold_id,
        "party_id": placed.party_id,
        "reason": placed.reason,
        "placed_at": rfc3339(placed.at_ms),
        "released_at": rfc3339(entry.released.at_ms) if entry.HasField("released") else None,
    }


def transformation(entry: state_pb2.Transformation) -> Words:
    """Return lots made from lots."""
    terms = entry.terms
    return {
        "transformation_id": terms.transformation_id,
        "party_id": terms.party_id,
        "site_id": terms.site_id,
        "at": rfc3339(terms.at_ms),
        "inputs": _quantities(terms.inputs),
        "outputs": _quantities(terms.outputs),
        "findings": [finding(each) for each in entry.findings],
    }


def lot_status(entry: state_pb2.Lot) -> Words | None:
    """Return what was said last on a lot; None when nobody said anything."""
    if not entry.HasField("status"):
        return None
    said = entry.status
    return {
        "status": lot_status_name(said.status),
        "party_id": said.party_id,
        "reason": said.reason,
        "at": rfc3339(said.at_ms),
    }


def unit(entry: state_pb2.LogisticUnit) -> Words:
    """Return a logistic unit as packed last; without `packed_by`, nobody is on record for it."""
    packed = entry.packed
    known = entry.HasField("packed")
    return {
        "sscc": entry.sscc,
        "packed_by": packed.party_id if known else None,
        "site_id": packed.site_id if known else None,
        "packed_at": rfc3339(packed.at_ms) if known else None,
        "lots": _quantities(packed.lots),
        "units": list(packed.units),
        "held_by": entry.held_by or None,
        "findings": [finding(each) for each in entry.findings],
    }


def _quantities(lots: Iterable[payload_pb2.LotQuantity]) -> list[Words]:
    return [
        {"gtin": lot.gtin, "lot": lot.lot, "quantity": lot.quantity, "unit": lot.unit}
        for lot in lots
    ]


def reading(record: payload_pb2.RecordReading) -> Words:
    """Return the values of a reading; None for a quantity that was not measured."""
    has = record.HasField
    return {
        "time": rfc3339(record.clock.utc_ms),
        "clock_origin": ClockOrigin(record.clock.origin).name.lower(),
        "clock_error_s": error_s(record.clock),
        "temperature_cel": record.temperature_mcel / 1000 if has("temperature_mcel") else None,
        "humidity_pct": record.humidity_mpct / 1000 if has("humidity_mpct") else None,
        "pressure_hpa": record.pressure_pa / 100 if has("pressure_pa") else None,
        "position": _position(record),
        "tamper": signs(record.tamper_flags),
        "derived": record.derived,
    }


def breach(
    entry: state_pb2.Breach, since_corrected_ms: int | None, until_corrected_ms: int | None
) -> Words:
    """Return a breach of a delivery's limits, with its times as claimed and as corrected."""
    quantity = QUANTITIES[entry.limit.quantity]
    return {
        "trip_id": entry.trip_id,
        "delivery_id": entry.delivery_id,
        "device_id": entry.device_id,
        "quantity": quantity.name,
        "unit": quantity.unit_code,
        "extreme": entry.extreme / quantity.scale,
        "since": rfc3339(entry.since_ms),
        "since_corrected": corrected(since_corrected_ms),
        "until": rfc3339(entry.until_ms),
        "until_corrected": corrected(until_corrected_ms),
        "first_sequence": entry.since_sequence,
        "last_sequence": entry.until_sequence,
        "position": _position(entry),
        "ended": entry.ended,
    }


def tamper(entry: state_pb2.TamperEvent, corrected_ms: int | None) -> Words:
    """Return a tamper event, with its time as claimed and as corrected."""
    return {
        "device_id": entry.device_id,
        "sequence": entry.sequence,
        "time": rfc3339(entry.utc_ms),
        "corrected_time": corrected(corrected_ms),
        "signs": signs(entry.flags),
        "ended": signs(entry.ended_flags),
        "film": film(entry.film),
        "position": _position(entry),
    }


def finding(entry: state_pb2.Finding) -> Words:
    """Return a finding of the rules about a transaction."""
    return {
        "rule": entry.rule,
        "device_id": entry.device_id,
        "sequence": entry.sequence,
        "detail": entry.detail,
        "transaction_id": entry.transaction_id,
    }


def digest(action: payload_pb2.RecordVideo) -> Words:
    """Return a recording's digest."""
    return {
        "recording_id": action.sha256.hex(),
        "trip_id": action.trip_id,
        "device_id": action.device_id,
        "size": action.size,
        "tree_root": action.tree_root.hex(),
        "pseudo_file_id": action.pseudo_file_id,
        "media_type": action.media_type,
        "started_at": rfc3339(action.started_at_ms),
        "duration_s": action.duration_ms / 1000,
        "derived": action.derived,
        "source_sha256": action.source_sha256.hex() or None,
    }


def _position(
    holder: payload_pb2.RecordReading
    | payload_pb2.RegisterSite
    | state_pb2.Breach
    | state_pb2.TamperEvent,
) -> Words | None:
    if not holder.HasField("position"):
        return None
    place = holder.position
    return {
        "latitude": place.latitude_e7 / 1e7,
        "longitude": place.longitude_e7 / 1e7,
        "accuracy_m": place.accuracy_cm / 100 or None,
    }
