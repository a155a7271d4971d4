"""The certificate of a trip: what its first page says, and who says so."""

from gateway.exports.certificate import frame, sections
from gateway.exports.certificate.facts import TripFacts
from gateway.exports.certificate.identity import Identity
from gateway.exports.certificate.judgement import Judgement
from gateway.exports.certificate.sheet import BAD, GOOD, SOFT, Sheet
from gateway.exports.certificate.signing import Slot
from gateway.exports.certificate.wording import claimed, counted, unsealed, what_is_bad, when


def certificate(facts: TripFacts, judged: Judgement, identity: Identity) -> bytes:
    """Return the certificate of a trip as a signed PDF."""
    trip_id = facts.trip.start.trip_id
    slot = Slot(identity, judged.at, f"Certificate of trip {trip_id}")
    sheet = Sheet(
        f"Certificate of trip {trip_id}",
        frame.footer(f"Trip {trip_id}", judged.at, judged.site_id),
        slot.put,
    )
    _head(sheet, facts, judged)
    _verdict(sheet, facts, judged)
    sections.route(sheet, facts)
    sections.readings(sheet, facts)
    sections.happened(sheet, facts)
    sections.goods(sheet, facts)
    sections.films(sheet, facts)
    _checking(sheet, judged, identity)
    return slot.sign(sheet.finish())


def _head(sheet: Sheet, facts: TripFacts, judged: Judgement) -> None:
    start, sites = facts.trip.start, facts.sites
    route = f"{sites[start.origin_site_id]} to {sites[start.destination_site_id]}"
    last = f"{when(facts.measured.until_ms)} UTC" if facts.measured.readings else "none"
    via = ", ".join(sites[each] for each in start.via_site_ids)
    devices = [start.device_id, *start.other_device_ids]
    sealed = f"{len(facts.trip.seals)} of {len(devices)}"
    said = {
        "Trip": start.trip_id,
        "Devices": ", ".join(devices),
        "Began": f"{claimed(start.started_at_ms, facts.trip.started_corrected_ms)} UTC",
        "Last reading": last,
        **({"By way of": via} if via else {}),
        "On record": f"{counted(facts.trip.readings, 'reading')}, "
        f"{counted(len(facts.digests), 'recording', or_more='recordings' in facts.cut)}; sealed by "
        f"{sealed} devices",
    }
    names = ", ".join(each.name for each in start.derived_from)
    replayed = f"Replayed or simulated, not measured on the road: from {names}" if names else ""
    frame.head(sheet, "certificate of a trip", route, said, judged.address, replayed)


def _verdict(sheet: Sheet, facts: TripFacts, judged: Judgement) -> None:
    bad, open_end = what_is_bad(facts), unsealed(facts)
    if judged.holds:
        title = "Genuine and complete"
        if open_end:
            title = "Genuine, not sealed by all devices"
        if bad:
            title = f"{title}, with {bad}"
        words = [
            "The record was not changed since the truck signed it. "
            + ("What it records is not good: see below." if bad else _all_well(facts))
        ]
    elif judged.problems:
        title = "The evidence does not hold"
        words = [
            "What this certificate shows may have been changed or be incomplete:",
            *judged.problems,
        ]
    else:
        title = "The keys are not trusted"
        distrust = (
            "The signatures do not lead to keys that this gateway trusts: anybody may have made "
            "what this certificate shows."
        )
        words = [distrust]
    if open_end:
        words.append(open_end)
    colour = GOOD
    if bad or not judged.holds:
        colour = BAD
    elif open_end:
        colour = SOFT
    frame.verdict(sheet, title, words, colour)


def _all_well(facts: TripFacts) -> str:
    if not any(each.terms.limits for each in facts.deliveries):
        return (
            "No sign of tampering is on record. No delivery on board sets a limit, so nothing can "
            "be an excursion."
        )
    return "It records no excursion and no sign of tampering."


def _checking(sheet: Sheet, judged: Judgement, identity: Identity) -> None:
    trip_page, _, _ = judged.address.partition("?")
    checked = (
        f"The gateway of site {judged.site_id} checked the evidence of this trip on "
        f"{judged.at:%Y-%m-%d at %H:%M:%S} UTC: every signature, the chain of readings, the seal, "
        f"and {counted(judged.blocks, 'block')} of the ledger with their rules. It judged by keys "
        "that it names itself, so this certificate is the gateway's word and no proof."
    )
    proof = (
        f"For proof that needs no trust in this gateway, take the evidence at {trip_page} and "
        "check it offline with wayseal-verify or the verifier's HTML page, with keys from another "
        "source."
    )
    ledger = f"Ledger: first block {judged.genesis_id}, last block {judged.last_block_id}."
    frame.checking(sheet, (checked, proof, ledger), judged.not_shown, identity)
