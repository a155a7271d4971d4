"""The certificate of a lot: where it came from, what became of it, and whether the record holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from contracts.evidence.report import summary
from contracts.proto.payload_pb2 import LotQuantity, SetLotStatus
from contracts.records.clock import moment, now_ms
from contracts.rules.lots import lot_status_name
from gateway.exports.certificate import frame
from gateway.exports.certificate.facts import SHOWN_MAX
from gateway.exports.certificate.identity import Identity
from gateway.exports.certificate.lotfacts import LotFacts
from gateway.exports.certificate.sheet import BAD, GOOD, SOFT, Sheet
from gateway.exports.certificate.signing import Slot
from gateway.exports.certificate.wording import breach_words, counted, when
from gateway.records.lots import TraceRecord
from gateway.records.tracing import LotId
from gateway.records.verification import Outcome, Verification, beyond
from gateway.settings import Settings

_NAMED_MAX: Final = 5
"""Lots that a cell of a table names."""
_NARROWED: Final = (
    "It tells what one reader with limited rights may see: "
    "there may be more lots, deliveries, trips and findings."
)


@dataclass(frozen=True, slots=True)
class LotJudgement:
    """What a gateway found when it checked the evidence of a lot's trips.

    Attributes:
        outcome: In one word.
        problems: What does not hold; empty when everything does.
        left_out: What was not looked at, and why, in words.
        trips: The verdict on each trip that was judged, in one word.
        site_id: Of the gateway.
        at: When, UTC.
        address: Where the verification is, for people: of the lot's page.
    """

    outcome: Outcome
    problems: Sequence[str]
    left_out: Sequence[str]
    trips: Mapping[str, str]
    site_id: str
    at: datetime
    address: str

    @classmethod
    def of(cls, found: Verification, settings: Settings, lot: LotId) -> "LotJudgement":
        """Return what the gateway with these settings says now of a lot."""
        left_out = [
            f"{counted(len(names), kind)}: {reason}"
            for (kind, reason), names in found.left_out.items()
        ]
        return cls(
            found.outcome,
            found.problems,
            left_out,
            {name: summary(each) for name, each in found.verdicts.items()},
            settings.site_id,
            moment(now_ms()),
            f"{settings.pages_address}/lot?{urlencode(lot._asdict())}",
        )


def lot_certificate(facts: LotFacts, judged: LotJudgement, identity: Identity) -> bytes:
    """Return the certificate of a lot as a signed PDF."""
    name = f"lot {facts.lot.lot} of GTIN {facts.lot.gtin}"
    slot = Slot(identity, judged.at, f"Certificate of {name}")
    foot = frame.footer(f"{name[0].upper()}{name[1:]}", judged.at, judged.site_id)
    sheet = Sheet(f"Certificate of {name}", foot, slot.put)
    _head(sheet, facts, judged)
    _verdict(sheet, facts, judged)
    seen = " that this reader may see" if facts.narrowed else ""
    nothing = f"It was made from no other lot on record{seen}."
    _side(sheet, "Where it came from", facts.backward, nothing)
    nothing = f"Nothing was made from it on record{seen}."
    _side(sheet, "What was made from it", facts.forward, nothing)
    _custody(sheet, facts)
    _excursions(sheet, facts)
    _findings(sheet, facts)
    _trips(sheet, facts, judged)
    _checking(sheet, facts, judged, identity)
    return slot.sign(sheet.finish())


def _head(sheet: Sheet, facts: LotFacts, judged: LotJudgement) -> None:
    entry = facts.entry
    made = f"{entry.made:,} {entry.unit}, {entry.used:,} used for other lots" if entry else ""
    said = {
        "GTIN": facts.lot.gtin,
        "Made by": (entry.party_id if entry else "") or "nobody is on record as its maker",
        "Made": made or "unknown",
        "Status": _status(facts) or "neither cleared nor withheld: no party said anything about it",
        "Deliveries": f"{'more than ' * ('deliveries' in facts.cut)}{len(facts.deliveries):,}",
    }
    frame.head(sheet, "certificate of a lot", f"Lot {facts.lot.lot}", said, judged.address)


def _status(facts: LotFacts) -> str:
    if facts.entry is None or not facts.entry.HasField("status"):
        return ""
    said = facts.entry.status
    word = lot_status_name(said.status)
    return f"{word} by {said.party_id}, {when(said.at_ms)} UTC: {said.reason}"


def _is_withheld(facts: LotFacts) -> bool:
    entry = facts.entry
    return (
        entry is not None
        and entry.HasField("status")
        and entry.status.status != SetLotStatus.CLEARED
    )


def _verdict(sheet: Sheet, facts: LotFacts, judged: LotJudgement) -> None:
    bad, left_out, outcome = _bad(facts), list(judged.left_out), judged.outcome
    if "deliveries" in facts.cut:
        left_out.append(f"deliveries beyond the first {SHOWN_MAX}, and what happened to them")
    if left_out and outcome is Outcome.HOLDS:
        outcome = Outcome.INCOMPLETE
    title = {
        Outcome.HOLDS: "Genuine and complete",
        Outcome.FAILS: "The record does not hold",
        Outcome.INCOMPLETE: "Not everything was looked at",
    }[outcome]
    which = "the trips that this reader may see" if facts.narrowed else "all its trips"
    first = {
        Outcome.HOLDS: f"The record of {which} was not changed since the trucks signed it.",
        Outcome.FAILS: "What this certificate shows may have been changed or be incomplete:",
        Outcome.INCOMPLETE: "Nothing that was looked at fails. Not looked at:",
    }[outcome]
    if outcome is Outcome.HOLDS:
        well = (
            "It records no excursion, no sign of tampering and no finding, and nobody withholds it."
        )
        first = f"{first} {'What it records is not good: see below.' if bad else well}"
    if bad:
        title = f"{title}, with {bad}"
    colour = GOOD
    if bad or outcome is Outcome.FAILS:
        colour = BAD
    elif outcome is Outcome.INCOMPLETE:
        colour = SOFT
    limits = [_NARROWED] if facts.narrowed else []
    frame.verdict(sheet, title, [first, *judged.problems, *left_out, *limits], colour)


def _bad(facts: LotFacts) -> str:
    """Return how much there is of each thing that is not good; empty: none."""
    kinds = (
        (len(facts.breaches), "excursion", "excursions"),
        (facts.tampers, "tamper event", "tamper events"),
        (len(facts.findings), "finding", "findings"),
    )
    found = ["a lot that is withheld"] if _is_withheld(facts) else []
    found += [
        counted(number, one, or_more=many in facts.cut) for number, one, many in kinds if number
    ]
    *most, last = found or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _side(sheet: Sheet, title: str, trace: TraceRecord, nothing: str) -> None:
    """List what a trace reached, nearest first, and how it was made."""
    sheet.heading(title, 2)
    others = [each for each in trace.lots if each.steps]
    if not others:
        sheet.paragraph(nothing)
        return
    rows = [
        (
            f"{each.lot.lot} (GTIN {each.lot.gtin})",
            (each.entry.party_id if each.entry else "") or "unknown",
            f"{each.steps}",
            f"{each.entry.made:,} {each.entry.unit}"
            if each.entry and each.entry.made
            else "unknown",
            ", ".join(each.delivery_ids[:_NAMED_MAX]) or "none",
        )
        for each in others[:SHOWN_MAX]
    ]
    titles = ("Lot", "Made by", "Steps", "Made", "Deliveries")
    sheet.table(titles, (0.34, 0.18, 0.08, 0.16, 0.24), rows)
    made = [
        (
            when(each.entry.terms.at_ms),
            f"{each.entry.terms.party_id} at {each.entry.terms.site_id}",
            _quantities(each.entry.terms.inputs) or "nothing: it begins here",
            _quantities(each.entry.terms.outputs),
        )
        for each in trace.transformations[:SHOWN_MAX]
    ]
    sheet.table(("Time, UTC", "By", "From", "Into"), (0.19, 0.21, 0.3, 0.3), made)
    beyond_list = max(len(others), len(trace.transformations)) > SHOWN_MAX
    if beyond_list or trace.is_cut:
        words = f"There is more: these lists have the first {SHOWN_MAX}; the lot's page goes on."
        sheet.paragraph(words)


def _quantities(lots: Sequence[LotQuantity]) -> str:
    named = [f"{each.quantity:,} {each.unit} of {each.lot}" for each in lots[:_NAMED_MAX]]
    more = f" and {len(lots) - _NAMED_MAX} more" if len(lots) > _NAMED_MAX else ""
    return ", ".join(named) + more


def _custody(sheet: Sheet, facts: LotFacts) -> None:
    """List who had it, by the handovers of its deliveries."""
    sheet.heading("Who had it", 2)
    rows = []
    for each in facts.handovers:
        terms = each.entry.terms
        notes = ["returned"] if terms.returned else []
        if len(each.entry.signed_by) < 2:  # noqa: PLR2004 - giver and taker
            notes.append("signed by one side: moves nothing")
        if not each.trip_on_ledger:
            notes.append("its trip was not offloaded")
        rows.append(
            (
                when(terms.at_ms) if terms.at_ms else "not said",
                f"{terms.from_party_id} to {terms.to_party_id}",
                terms.site_id,
                f"{terms.quantity:,}" if terms.quantity else "all",
                terms.delivery_id,
                "; ".join(notes),
            )
        )
    if rows:
        header = ("Time, UTC", "From, to", "At", "Quantity", "Delivery", "About it")
        sheet.table(header, (0.19, 0.23, 0.13, 0.1, 0.15, 0.2), rows)
    else:
        sheet.paragraph("No handover of its deliveries is on record.")
    _more(sheet, facts, "handovers")


def _excursions(sheet: Sheet, facts: LotFacts) -> None:
    sheet.heading("Excursions", 2)
    if facts.breaches:
        rows = [breach_words(each) for each in facts.breaches]
        sheet.table(("Time, UTC", "What", "About it"), (0.2, 0.32, 0.48), rows)
    elif facts.deliveries:
        sheet.paragraph("No excursion of the limits of its deliveries is on record.")
    else:
        sheet.paragraph(
            "No delivery of it is on record, so no limit and no trip: nothing measured."
        )
    _more(sheet, facts, "excursions")


def _findings(sheet: Sheet, facts: LotFacts) -> None:
    sheet.heading("Findings of the rules", 2)
    rows = list(_finding_rows(facts))
    if rows:
        sheet.table(("Finding", "Detail", "On"), (0.24, 0.42, 0.34), rows)
    else:
        words = "None is on record: not on its deliveries, their trips, or how lots were made."
        sheet.paragraph(words)
    _more(sheet, facts, "findings")


def _finding_rows(facts: LotFacts) -> Iterator[tuple[str, str, str]]:
    for each in facts.findings:
        on = (
            ("delivery", each.delivery_id),
            ("transformation", each.transformation_id),
            ("unit", each.sscc),
            ("trip", each.trip_id),
            ("device", each.device_id),
        )
        named = ", ".join(f"{kind} {name}" for kind, name in on if name)
        yield each.rule.replace("-", " ").capitalize(), each.detail, named


def _trips(sheet: Sheet, facts: LotFacts, judged: LotJudgement) -> None:
    """List its trips, each with the verdict on its record."""
    sheet.heading("Its trips", 2)
    rows = [
        (trip_id, each.entry.terms.delivery_id, judged.trips.get(trip_id, "not judged"))
        for each in facts.deliveries
        for trip_id in each.trip_ids
    ]
    if rows:
        header = ("Trip", "With delivery", "Its record")
        sheet.table(header, (0.45, 0.3, 0.25), rows[:SHOWN_MAX])
        if len(rows) > SHOWN_MAX:
            sheet.paragraph(f"There are {len(rows) - SHOWN_MAX:,} more.")
    else:
        sheet.paragraph("It is on no trip on record.")
    _more(sheet, facts, "deliveries")


def _more(sheet: Sheet, facts: LotFacts, kind: str) -> None:
    if kind in facts.cut:
        sheet.paragraph(f"There are more {kind}: this certificate considers the first {SHOWN_MAX}.")


def _checking(sheet: Sheet, facts: LotFacts, judged: LotJudgement, identity: Identity) -> None:
    checked = (
        f"The gateway of site {judged.site_id} checked the evidence of "
        f"{counted(len(judged.trips), 'trip')} of this lot's deliveries on "
        f"{judged.at:%Y-%m-%d at %H:%M:%S} UTC: every signature, the chains of readings, the "
        "seals, and the ledger's rules. It judged by the ledger's own keys, and who made which lot "
        "from which is what parties put on record, so this certificate is the gateway's word and "
        "no proof. It read no film: the lot's page does, on demand."
    )
    proof = (
        f"For proof that needs no trust in this gateway, take the evidence of each trip, from "
        f"{judged.address}, and check it offline with wayseal-verify or the verifier's HTML page, "
        "with keys from another source."
    )
    words = [
        *beyond(lot=True),
        *(["deliveries beyond those listed"] if "deliveries" in facts.cut else []),
    ]
    frame.checking(sheet, (checked, proof), words, identity)
