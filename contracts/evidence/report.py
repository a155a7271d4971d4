"""A verdict in one word, and in JSON for programs."""

from collections.abc import Sequence
from typing import Any

from contracts.chunktree import blob_count
from contracts.evidence.recordings import Video
from contracts.evidence.story import TripStory
from contracts.evidence.verify import Verdict
from contracts.proto.payload_pb2 import LotQuantity
from contracts.proto.state_pb2 import Breach, Delivery, Finding, Hold, Transformation
from contracts.records.clock import rfc3339
from contracts.records.quantity import QUANTITIES
from contracts.records.reading import Tamper
from contracts.rules.deliveries import payment_name, status_name


def summary(verdict: Verdict) -> str:
    """Return the verdict in one word: `holds`, `unanchored` or `does-not-hold`."""
    if verdict.problems:
        return "does-not-hold"
    return "holds" if verdict.anchored else "unanchored"


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict for programs (docs/evidence.md, "Verdict")."""
    return {
        "verdict": summary(verdict),
        "problems": verdict.problems,
        "keys": {
            "genesis_block_id": verdict.genesis_id,
            "block_signers": sorted(verdict.block_signers),
            "admin_keys": sorted(verdict.admin_keys),
        },
        "ledger": {"blocks": verdict.blocks, "last_block_id": verdict.last_block_id},
        "trips": [_trip_json(story) for story in verdict.trips.values()],
        "transformations": [_transformation_json(each) for each in verdict.transformations],
        "recordings": [_video_json(video) for video in verdict.videos],
    }


def _trip_json(story: TripStory) -> dict[str, Any]:
    start = story.start
    return {
        "trip_id": start.trip_id,
        "device_id": start.device_id,
        "other_device_ids": list(start.other_device_ids),
        "device_keys": sorted(story.signers),
        "origin_site_id": start.origin_site_id,
        "via_site_ids": list(start.via_site_ids),
        "destination_site_id": start.destination_site_id,
        "delivery_ids": list(start.delivery_ids),
        "derived_from": [
            {"role": source.role, "name": source.name, "sha256": source.sha256.hex()}
            for source in start.derived_from
        ],
        "readings": story.readings,
        "readings_derived": story.derived,
        "first_reading_at": rfc3339(story.first_ms) if story.first_ms is not None else None,
        "last_reading_at": rfc3339(story.last_ms) if story.last_ms is not None else None,
        "breaches": [breach_words(breach) for breach in story.breaches.values()],
        "tampers": [
            {
                "at": rfc3339(tamper.utc_ms),
                "device_id": tamper.device_id,
                "flags": Tamper(tamper.flags).name,
            }
            for tamper in story.tampers
        ],
        "findings": [_finding_json(finding) for finding in story.findings],
        "deliveries": [_delivery_json(delivery) for delivery in story.deliveries],
        "closed_by": story.close.party_id if story.close else None,
        "closed_at": rfc3339(story.close.at_ms) if story.close else None,
        "holds": [_hold_json(hold) for hold in story.holds.values()],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {"rule": finding.rule, "device_id": finding.device_id, "detail": finding.detail}


def _delivery_json(delivery: Delivery) -> dict[str, Any]:
    disputed = bool(delivery.disputed_by)
    return {
        "delivery_id": delivery.terms.delivery_id,
        "lots": [{"gtin": lot.gtin, "lot": lot.lot} for lot in delivery.terms.lots],
        "status": status_name(delivery.status),
        "payment": payment_name(delivery.payment),
        "custodian_id": delivery.custodian_id or None,
        "breaches": delivery.breaches,
        "tampers": delivery.tampers,
        "disputed_by": delivery.disputed_by if disputed else None,
        "dispute_reason": delivery.dispute.reason if disputed else None,
    }


def _hold_json(hold: Hold) -> dict[str, Any]:
    released = hold.HasField("released")
    return {
        "hold_id": hold.placed.hold_id,
        "party_id": hold.placed.party_id,
        "reason": hold.placed.reason,
        "placed_at": rfc3339(hold.placed.at_ms),
        "released_at": rfc3339(hold.released.at_ms) if released else None,
    }


def _transformation_json(transformation: Transformation) -> dict[str, Any]:
    terms = transformation.terms
    return {
        "transformation_id": terms.transformation_id,
        "party_id": terms.party_id,
        "site_id": terms.site_id,
        "at": rfc3339(terms.at_ms),
        "inputs": _lots_json(terms.inputs),
        "outputs": _lots_json(terms.outputs),
        "findings": [
            {"rule": finding.rule, "detail": finding.detail} for finding in transformation.findings
        ],
    }


def _lots_json(lots: Sequence[LotQuantity]) -> list[dict[str, Any]]:
    return [
        {"gtin": lot.gtin, "lot": lot.lot, "quantity": lot.quantity, "unit": lot.unit}
        for lot in lots
    ]


def _video_json(video: Video) -> dict[str, Any]:
    return {
        "sha256": video.digest.sha256.hex(),
        "trip_id": video.digest.trip_id,
        "size": video.digest.size,
        "derived": video.digest.derived,
        "blobs": blob_count(video.digest.size),
        "leaf_hashes_checked": video.leaves is not None,
        "blobs_checked": video.blobs,
    }


def breach_words(breach: Breach) -> str:
    """Return what was exceeded, how far, when, and of which delivery."""
    quantity = QUANTITIES[breach.limit.quantity]
    return (
        f"{quantity.name} up to {breach.extreme / quantity.scale:g} {quantity.symbol} "
        f"from {rfc3339(breach.since_ms)} "
        f"to {rfc3339(breach.until_ms)}, delivery {breach.delivery_id}, device {breach.device_id}"
    )
