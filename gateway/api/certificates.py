"""The certificate of a trip: a signed PDF for people. It is on the record of accesses."""

from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from gateway.access import Caller
from gateway.api.accesses import note_access
from gateway.api.evidence import check_whole
from gateway.api.parts import AccessLogPart, AllParts, AuditPart, RecordsPart
from gateway.api.problems import ABSENT, BINARY
from gateway.api.security import may_read
from gateway.exports.certificate.facts import gather, settled
from gateway.exports.certificate.identity import identity_of
from gateway.exports.certificate.judgement import Judgement
from gateway.people.accesslog import Taken

PDF_TYPE: Final = "application/pdf"

router = APIRouter(prefix="/v1/trips", tags=["exports"])


@router.get(
    "/{trip_id}/certificate.pdf",
    response_class=Response,
    responses=ABSENT | {200: {"content": {PDF_TYPE: {"schema": BINARY}}}},
)
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
    facts, judged = settled(partial(gather, records, trip_id), partial(audit.judge, trip_id))
    found = Judgement.of(judged.verdict, services.settings, trip_id)
    content = document(facts, found, identity)
    note_access(request, log, caller, Taken.CERTIFICATE, trip_id)
    disposition = {"Content-Disposition": f'attachment; filename="{trip_id}.pdf"'}
    return Response(content, headers=disposition, media_type=PDF_TYPE)
