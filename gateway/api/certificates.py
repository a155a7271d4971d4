"""Certificates of trips and lots: signed PDFs for people. They are on the record of accesses."""

from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from contracts.text import quoted
from gateway.access import Caller
from gateway.api.accesses import TakingPart, note_access
from gateway.api.evidence import check_whole
from gateway.api.parts import AccessLogPart, AllParts, AuditPart, RecordsPart
from gateway.api.problems import ABSENT, BINARY
from gateway.api.security import may_read
from gateway.api.verification import VerifierPart
from gateway.exports.certificate.facts import gather, settled
from gateway.exports.certificate.identity import identity_of
from gateway.exports.certificate.judgement import Judgement
from gateway.exports.certificate.lotfacts import gather_lot
from gateway.people.accesslog import Taken
from gateway.records.tracing import LotId
from gateway.records.verification import Verification

PDF_TYPE: Final = "application/pdf"

_DESCRIBED: Final[dict[str, Any]] = {
    "response_class": Response,
    "responses": ABSENT | {200: {"content": {PDF_TYPE: {"schema": BINARY}}}},
}

router = APIRouter(prefix="/v1", tags=["exports"])


@router.get("/trips/{trip_id}/certificate.pdf", **_DESCRIBED)
def certificate(
    request: Request,
    records: RecordsPart,
    audit: AuditPart,
    services: AllParts,
    log: AccessLogPart,
    caller: Annotated[Caller, Depends(may_read)],
    trip_id: str,
) -> Response:
    """Return the certificate of a trip: a PDF with verdict, map, chart and findings, signed.

    The gateway checks the evidence first, as `POST /v1/trips/{trip_id}/verify` does. The signature
    is PAdES (level B-B) with the gateway's certificate for documents; a QR code leads to the trip's
    page. It is the gateway's word: only the evidence is proof.
    """
    # Imported late: few gateways are ever asked for a certificate.
    from gateway.exports.certificate.document import certificate as document  # noqa: PLC0415

    check_whole(records, caller, trip_id)
    identity = identity_of(services.settings)
    facts, judged = settled(
        f"trip {trip_id}", partial(gather, records, trip_id), partial(audit.judge, trip_id)
    )
    found = Judgement.of(judged.verdict, services.settings, trip_id)
    content = document(facts, found, identity)
    note_access(request, log, caller, Taken.CERTIFICATE, trip_id)
    return _pdf(content, trip_id)


# A lot is named by the path, or by the query: see lots.py, whose own route takes any path, so that
# this one comes before it.
@router.get("/lots/{gtin}/{lot:path}/certificate.pdf", **_DESCRIBED)
@router.get("/lot/certificate.pdf", name="lot_certificate_by_query", **_DESCRIBED)
def lot_certificate(
    taking: TakingPart,
    records: RecordsPart,
    services: AllParts,
    verifier: VerifierPart,
    gtin: str,
    lot: str,
) -> Response:
    """Return the certificate of a lot: a PDF with its sources, products, custody and findings.

    The gateway judges up to 20 trips of its deliveries first, as `POST /v1/lot/verify` does without
    films, and says what it did not look at. Signature and QR code are as in a trip's certificate;
    it leads to the lot's page. It is the gateway's word: only the evidence is proof.
    """
    # Imported late: few gateways are ever asked for a certificate.
    from gateway.exports.certificate import lotdocument  # noqa: PLC0415

    name, identity = LotId(gtin, lot), identity_of(services.settings)

    def judged() -> Verification:
        with verifier.place() as found:
            found.lot(name, video=False)
            return found

    ask = partial(gather_lot, records, name, narrowed=taking.caller.grants is not None)
    facts, found = settled(f"lot {quoted(lot, 64)}", ask, judged)
    judgement = lotdocument.LotJudgement.of(found, services.settings, name)
    content = lotdocument.lot_certificate(facts, judgement, identity)
    taking.note(Taken.CERTIFICATE, f"{gtin}/{lot}")
    return _pdf(content, "lot")


def _pdf(content: bytes, name: str) -> Response:
    disposition = {"Content-Disposition": f'attachment; filename="{name}.pdf"'}
    return Response(content, headers=disposition, media_type=PDF_TYPE)
