"""Certificates of trips and lots: signed PDFs for people, on the record of accesses.

Each runs as a job for a caller who prefers that.
"""

from contextlib import nullcontext
from functools import partial
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response

from contracts.text import quoted
from gateway.api.evidence import check_whole
from gateway.api.exporting import Export, LeavingPart, Made, exported
from gateway.api.parts import AllParts, AuditPart, RecordsPart
from gateway.api.problems import BINARY
from gateway.api.verification import VerifierPart
from gateway.exports.certificate.facts import gather, settled
from gateway.exports.certificate.identity import identity_of
from gateway.exports.certificate.judgement import Judgement
from gateway.exports.certificate.lotfacts import gather_lot
from gateway.jobs.job import JobKind
from gateway.records.tracing import LotId
from gateway.records.verification import Verification
from gateway.records.watch import Watch

PDF_TYPE: Final = "application/pdf"

router = APIRouter(prefix="/v1", tags=["exports"])


@router.get("/trips/{trip_id}/certificate.pdf", **exported(PDF_TYPE, BINARY))
def certificate(
    leaving: LeavingPart,
    records: RecordsPart,
    audit: AuditPart,
    services: AllParts,
    trip_id: str,
) -> Response:
    """Return the certificate of a trip: a PDF with verdict, map, chart and findings, signed.

    The gateway checks the evidence first, as `POST /v1/trips/{trip_id}/verify` does. The signature
    is PAdES (level B-B) with the gateway's certificate for documents; a QR code leads to the trip's
    page. It is the gateway's word: only the evidence is proof.
    """
    # Imported late: few gateways are ever asked for a certificate.
    from gateway.exports.certificate.document import certificate as document  # noqa: PLC0415

    check_whole(records, leaving.caller, trip_id)
    identity = identity_of(services.settings)

    def make(watch: Watch) -> Made:
        watch.begin(f"trip {trip_id}", 0, 1)
        facts, judged = settled(
            f"trip {trip_id}",
            partial(gather, records, trip_id),
            partial(audit.judge, trip_id, watch),
        )
        found = Judgement.of(judged.verdict, services.settings, trip_id)
        return document(facts, found, identity)

    name = f"{trip_id}.pdf"
    return leaving.answer(Export(JobKind.TRIP_CERTIFICATE, trip_id, PDF_TYPE, name, make))


# A lot is named by the path, or by the query: see lots.py, whose own route takes any path, so that
# this one comes before it.
@router.get("/lots/{gtin}/{lot:path}/certificate.pdf", **exported(PDF_TYPE, BINARY))
@router.get("/lot/certificate.pdf", name="lot_certificate_by_query", **exported(PDF_TYPE, BINARY))
def lot_certificate(
    leaving: LeavingPart,
    records: RecordsPart,
    services: AllParts,
    verifier: VerifierPart,
    gtin: str,
    lot: str,
) -> Response:
    """Return the certificate of a lot: a PDF with its sources, products, custody and findings.

    The gateway judges up to 20 trips of its deliveries first, a job up to 500, as `POST
    /v1/lot/verify` does without films, and says what it did not look at. Signature and QR code are
    as in a trip's certificate; it leads to the lot's page. It is the gateway's word: only the
    evidence is proof.
    """
    # Imported late: few gateways are ever asked for a certificate.
    from gateway.exports.certificate import lotdocument  # noqa: PLC0415

    name, identity = LotId(gtin, lot), identity_of(services.settings)
    records.lots.check_known(name)

    def make(watch: Watch) -> Made:
        def judged() -> Verification:
            with (
                nullcontext(verifier.in_job(watch)) if leaving.is_job else verifier.place() as found
            ):
                found.lot(name, video=False)
                return found

        ask = partial(gather_lot, records, name, narrowed=leaving.caller.grants is not None)
        facts, found = settled(f"lot {quoted(lot, 64)}", ask, judged)
        judgement = lotdocument.LotJudgement.of(found, services.settings, name)
        return lotdocument.lot_certificate(facts, judgement, identity)

    subject = f"{gtin}/{lot}"
    return leaving.answer(Export(JobKind.LOT_CERTIFICATE, subject, PDF_TYPE, "lot.pdf", make))
