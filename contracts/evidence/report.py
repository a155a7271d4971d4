"""The verdict in one word, and as JSON for programs."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from contracts import rendered, rendered_delivery, rendered_remarks
from contracts.chunktree import blob_count
from contracts.evidence.container import FORMAT_1
from contracts.evidence.corrected import CorrectedTimes
from contracts.evidence.recordings import Video
from contracts.evidence.seals import Sealed
from contracts.evidence.story import TripStory
from contracts.evidence.verify import Verdict
from contracts.proto.payload_pb2 import RequiredCertificate, StartTrip
from contracts.proto.state_pb2 import Breach, Delivery, Finding, Lot, Transformation
from contracts.records.clock import rfc3339
from contracts.records.quantity import QUANTITIES
from contracts.rendered import Words
from contracts.rendered_remarks import claimed

SUMMARIES: Final = ("holds", "unanchored", "format-1", "does-not-hold")
"""The words that `summary` returns."""
GIVE_VIDEO: Final = "give --video FILE, or ask a gateway that has it"


def summary(verdict: Verdict) -> str:
    """Return the verdict in one word, such as `holds` (docs/evidence.md, "Verdict")."""
    if verdict.problems:
        return "does-not-hold"
    if not verdict.anchored:
        return "unanchored"
    return "holds" if verdict.accepted else "format-1"


def not_shown(verdict: Verdict, video_remedy: str = GIVE_VIDEO) -> list[str]:
    """Return, in words, what the ledger or a video may hold that the file does not show.

    Args:
        verdict: On the file.
        video_remedy: What the reader can do about a video that is not in the file.
    """
    found = []
    if verdict.version == FORMAT_1:
        found.append(
            "format 1 does not prove the ledger's state: revocations, registrations, disputes, "
            "holds, handovers or terms may have been left out; export the trips again"
        )
    if not verdict.with_lots:
        found.append(
            "what the sources of the delivered lots were made from, and whether a source was "
            "recalled: the file was exported without lots"
        )
    found += sorted(
        {
            f"trip {trip_id}, on which delivery {delivery_id} went also: ask for its evidence"
            for story in verdict.trips.values()
            for delivery_id, trip_ids in story.elsewhere.items()
            for trip_id in trip_ids
        }
    )
    found += [
        _missing_video(video, verdict, video_remedy)
        for video in verdict.videos
        if not video.files and video.blobs < blob_count(video.digest.size)
    ]
    if not verdict.blocks:
        found.append("anything of the ledger: no block of the file could be judged")
        return found
    found.append(
        f"anything after block {verdict.blocks - 1}{_time_of(verdict)}: later words of parties, "
        f"such as a dispute, a hold or the revocation of a key; ask the ledger, or a newer file"
    )
    return found


def _missing_video(video: Video, verdict: Verdict, remedy: str) -> str:
    name = f"the video of recording {video.digest.sha256.hex()}"
    blobs = f"{video.blobs} of {blob_count(video.digest.size)} blobs"
    if not verdict.read_to_end:  # nobody knows what the rest of the file has
        return f"{name}: {blobs} were checked before a problem ended the check"
    return f"{name}: {blobs} are in the file; {remedy}"


def _time_of(verdict: Verdict) -> str:
    if verdict.last_block_ms is not None:
        return f", which was begun at {rfc3339(verdict.last_block_ms)}"
    if verdict.last_signed_ms is not None:
        return f" (the latest time signed in the file is {rfc3339(verdict.last_signed_ms)})"
    return ""


def as_json(verdict: Verdict, video_remedy: str = GIVE_VIDEO) -> dict[str, Any]:
    """Return the verdict for programs (docs/evidence.md, "Verdict")."""
    return {
        "verdict": summary(verdict),
        "problems": verdict.problems,
        "format": verdict.version,
        "not_shown": not_shown(verdict, video_remedy),
        "keys": {
            "genesis_block_id": verdict.genesis_id,
            "block_signers": sorted(verdict.block_signers),
            "network": _network_json(verdict.sealed),
            "admin_keys": sorted(verdict.admin_keys),
        },
        "ledger": {
            "blocks": verdict.blocks,
            "last_block_id": verdict.last_block_id,
            "blocks_of_the_story": len(verdict.block_times.blocks),
            "blocks_with_time": len(verdict.block_times.timed & verdict.block_times.blocks),
            "last_block_at": _time(verdict.last_block_ms),
            "last_signed_at": _time(verdict.last_signed_ms),
            "sealed": _sealed_json(verdict.sealed),
            "goes_on_from": [each.document() for each in verdict.predecessors],
        },
        "trips": [_trip_json(story) for story in verdict.trips.values()],
        "transformations": [_transformation_json(each) for each in verdict.transformations],
        "recordings": [
            _video_json(video, verdict.claims[video.digest.sha256]) for video in verdict.videos
        ],
    }


def _network_json(sealed: Sealed | None) -> Words | None:
    if sealed is None:
        return None
    return {"chain_id": sealed.chain_id, "validators": dict(sorted(sealed.began_with.items()))}


def _sealed_json(sealed: Sealed | None) -> Words | None:
    if sealed is None:
        return None
    return {
        "height": sealed.height,
        "at": rfc3339(sealed.utc_ms),
        "by": sorted(sealed.signers),
        "power": sealed.power,
        "power_of_all": sealed.power_of_all,
    }


def _trip_json(story: TripStory) -> Words:
    start = rendered.start(story.start)
    close = rendered.close(story.close) if story.close else {}
    corrected = story.times.span()
    return {
        **_only(start, "trip_id", "device_id", "trip_number", "previous_seal_sha256"),
        **_only(start, "other_device_ids"),
        "device_keys": sorted(story.signers),
        "revoked_device_keys": sorted(story.revoked),
        **_only(start, "origin_site_id", "via_site_ids", "destination_site_id"),
        **_only(start, "delivery_ids", "derived_from"),
        "readings": story.readings,
        "readings_derived": story.derived,
        "first_reading_at": _time(story.first_ms),
        "last_reading_at": _time(story.last_ms),
        "first_reading_corrected_at": _time(corrected[0]) if corrected else None,
        "last_reading_corrected_at": _time(corrected[1]) if corrected else None,
        "breaches": [_breach_json(breach, story.times) for breach in story.breaches.values()],
        "tampers": [
            rendered.tamper(each, story.times.of_reading(each.device_id, each.sequence))
            for each in story.tampers
        ],
        "remarks": [
            rendered_remarks.remark(each, story.times.of_reading(each.device_id, each.sequence))
            for each in story.remarks
        ],
        "telling": [rendered_remarks.telling(chain) for chain in story.chains],
        "corrections": [rendered_remarks.correction(each) for each in story.times.corrections],
        "findings": _findings_json(story.findings, "rule", "device_id", "detail"),
        "silences": rendered.silences(story.chains, story.entry) if story.judges_silence else None,
        "left_out_findings": dict(sorted(story.strangers.items())),
        "deliveries": [_delivery_json(delivery, story) for delivery in story.deliveries],
        "lot_statuses": _statuses_json(story.lots),
        "source_lot_statuses": _statuses_json(story.source_lots),
        "closed_by": close.get("party_id"),
        "closed_at": close.get("at"),
        "holds": [rendered.hold(hold) for hold in story.holds.values()],
    }


def _statuses_json(lots: Iterable[Lot]) -> list[Words]:
    return [
        {"gtin": lot.gtin, "lot": lot.lot, **said}
        for lot in lots
        if (said := rendered.lot_status(lot)) is not None
    ]


def _findings_json(findings: Iterable[Finding], *keys: str) -> list[Words]:
    return [_only(rendered.finding(finding), *keys) for finding in findings]


def _delivery_json(delivery: Delivery, story: TripStory) -> Words:
    words = rendered_delivery.delivery(delivery)
    disputed = bool(delivery.disputed_by)
    return {
        **_only(words, "delivery_id", "lots", "items", "units"),
        "required_certificates": [
            {**held, "valid_at_start": was_certified(delivery, required, story.start)}
            for held, required in zip(
                rendered_delivery.required_certificates(delivery),
                delivery.terms.required_certificates,
                strict=True,
            )
        ],
        **_only(words, "status", "payment", "custodian_id"),
        **_only(words, "breaches", "tampers", "silences"),
        "limits_kept": limits_kept(delivery, story),
        "between_trips": story.between.get(delivery.terms.delivery_id, []),
        "draft_signed_by": story.drafts.get(delivery.terms.delivery_id),
        **_only(words, "quantity", "unit", "sent_quantity", "received_quantity"),
        **_only(words, "returned_quantity", "accepted_quantity", "holdings"),
        **_only(words, "awaited_trip_ids", "notices", "settlement"),
        "findings": _findings_json(delivery.findings, "rule", "detail"),
        # REST nests the dispute.
        "disputed_by": delivery.disputed_by if disputed else None,
        "dispute_reason": delivery.dispute.reason if disputed else None,
    }


def was_certified(
    delivery: Delivery, required: RequiredCertificate, start: StartTrip
) -> bool | None:
    """Say whether a required certificate was valid when a trip started; None before both signed.

    The rules find an expired one when the trip starts, and then may not know the terms yet.
    """
    if len(delivery.signed_by) < 2:  # noqa: PLR2004 - seller and buyer
        return None
    return any(
        each.valid_from_ms <= start.started_at_ms <= each.valid_until_ms
        for each in delivery.certificates
        if (each.holder_id, each.kind) == (required.holder_id, required.kind)
    )


def limits_kept(delivery: Delivery, story: TripStory) -> bool | None:
    """Say whether a delivery kept its limits; None where nobody can know.

    A breach counts also when the device that found it could not mark the delivery.
    """
    delivery_id = delivery.terms.delivery_id
    if delivery.breaches or any(
        each.delivery_id == delivery_id for each in story.breaches.values()
    ):
        return False
    unknown = delivery.silences or not story.judges_silence or not story.is_watched(delivery)
    return None if unknown and delivery.terms.limits else True


def _transformation_json(transformation: Transformation) -> Words:
    # Its findings are of a party, so no device is named.
    return {
        **rendered.transformation(transformation),
        "findings": _findings_json(transformation.findings, "rule", "detail"),
    }


def _video_json(video: Video, claims: Sequence[str]) -> Words:
    words = rendered.digest(video.digest)
    return {
        "sha256": words["recording_id"],
        **_only(words, "trip_id", "size", "derived"),
        "claimed_by_trip_ids": list(claims),
        "blobs": blob_count(video.digest.size),
        "leaf_hashes_checked": video.leaves is not None,
        "blobs_checked": video.blobs,
        "files": video.files,
    }


def _time(utc_ms: int | None) -> str | None:
    return None if utc_ms is None else rfc3339(utc_ms)


def _only(words: Words, *keys: str) -> Words:
    """Return the words that the report shows; REST shows all of them."""
    return {key: words[key] for key in keys}


def _breach_json(breach: Breach, times: CorrectedTimes) -> Words:
    return rendered.breach(breach, *_corrected(breach, times))


def _corrected(breach: Breach, times: CorrectedTimes) -> tuple[int | None, int | None]:
    """Return the corrected times of a breach's first and last reading; None if a claim stands."""
    first, last = (
        times.of_reading(breach.device_id, sequence)
        for sequence in (breach.since_sequence, breach.until_sequence)
    )
    return first, last


def breach_words(breach: Breach, times: CorrectedTimes) -> str:
    """Return a breach in words: the quantity, how far, when, and of which delivery."""
    since_ms, until_ms = _corrected(breach, times)
    quantity, limit = QUANTITIES[breach.limit.quantity], breach.limit
    below = limit.HasField("minimum") and breach.extreme < limit.minimum
    return (
        f"{quantity.name} {'down' if below else 'up'} to "
        f"{breach.extreme / quantity.scale:g} {quantity.symbol} "
        f"from {claimed(breach.since_ms, since_ms)} "
        f"to {claimed(breach.until_ms, until_ms)}, "
        f"delivery {breach.delivery_id}, device {breach.device_id}"
    )
