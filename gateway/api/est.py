"""Certificates for devices, in the form of EST: a truck, or any EST client, gets its own here.

The claim code is the password of HTTP's basic authentication, the device id its user name.

Source: RFC 7030, 4.1 and 4.2; RFC 8951 (base64 without line feeds is fine).
"""

import asyncio
import base64
import binascii
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, HTTPException, Request, Response
from fastapi.security import HTTPBasic, HTTPBasicCredentials

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError
from gateway.api.problems import NotFoundError, errors
from gateway.api.security import device_of
from gateway.enrolling import Enrolling, NoAuthorityError, TooManyGuessesError
from gateway.pki.claims import WrongClaimError
from gateway.pki.register import RevokedError

REQUEST_BYTES_MAX: Final = 16 << 10
MEDIA_TYPE: Final = "application/pkcs7-mime"
BASIC: Final = HTTPBasic(auto_error=False, description="device id and claim code")
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/pkcs10": {"schema": {"type": "string", "format": "byte"}}},
    }
}
_CERTIFICATES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Certificates, PKCS #7, base64",
        "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "byte"}}},
    }
}

router = APIRouter(prefix="/.well-known/est", include_in_schema=False)  # RFC 7030 describes it


def _enrolling(request: Request) -> Enrolling:
    found: Enrolling = request.app.state.services.enrolling
    return found


Part = Annotated[Enrolling, Depends(_enrolling)]


@router.get("/cacerts", response_class=Response, responses=_CERTIFICATES | errors(404))
def authorities(enrolling: Part) -> Response:
    """Return the certificate of the network's authority; compare it with its fingerprint."""
    with claim_errors():
        return _answer(enrolling.authorities())


@router.post(
    "/simpleenroll",
    response_class=Response,
    openapi_extra=_BODY,
    responses=_CERTIFICATES | errors(401, 404, 413, 429),
)
async def enrol(
    request: Request,
    enrolling: Part,
    credentials: Annotated[HTTPBasicCredentials | None, Depends(BASIC)],
    wayseal_enrolment: Annotated[
        str | None,
        Header(description="base64 of the device's enrolment for this site, which has its token"),
    ] = None,
) -> Response:
    """Sign a device's first certificate, for its claim code, which counts once."""
    if credentials is None:
        raise unauthorized("expected device id and claim code as user name and password")
    enrolment = None if wayseal_enrolment is None else _enrolment(wayseal_enrolment)
    asked = await _request(request)
    device_id, code = credentials.username, credentials.password
    with claim_errors():
        signed = await asyncio.to_thread(enrolling.enrol, device_id, code, asked, enrolment)
    return _answer(signed)


@router.post(
    "/simplereenroll",
    response_class=Response,
    openapi_extra=_BODY,
    responses=_CERTIFICATES | errors(403, 404, 413),
)
async def renew(request: Request, enrolling: Part) -> Response:
    """Sign another certificate for the device whose certificate this connection has."""
    shown = device_of(request)
    if shown is None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "expected a connection with the device's present certificate, got one without",
        )
    device_id, serial = shown
    asked = await _request(request)
    with claim_errors():
        return _answer(await asyncio.to_thread(enrolling.renew, device_id, asked, serial))


async def _request(request: Request) -> bytes:
    """Return the body's certificate request, DER."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > REQUEST_BYTES_MAX:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"expected a certificate request of at most {REQUEST_BYTES_MAX} bytes",
            )
    return _decoded(b"".join(body.split()), "the body: a certificate request")


def _enrolment(text: str) -> Enrolment:
    decoded = _decoded(text.encode(), "the header Wayseal-Enrolment")
    return Enrolment.parse(decoded.decode("utf-8", "replace"))


def _decoded(data: bytes, what: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RejectedError(f"expected base64 in {what}, got {error}") from error


@contextmanager
def claim_errors() -> Iterator[None]:
    """Answer a wrong claim 401, too many 429, a revoked certificate 403, no authority 404."""
    try:
        yield
    except WrongClaimError as error:
        raise unauthorized(str(error)) from error
    except TooManyGuessesError as error:
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS, str(error), {"Retry-After": "60"}
        ) from error
    except RevokedError as error:
        raise HTTPException(HTTPStatus.FORBIDDEN, str(error)) from error
    except NoAuthorityError as error:
        raise NotFoundError(str(error)) from error


def unauthorized(detail: str) -> HTTPException:
    """Return the answer to a client without a right claim code."""
    return HTTPException(HTTPStatus.UNAUTHORIZED, detail, {"WWW-Authenticate": "Basic"})


def _answer(der: bytes) -> Response:
    return Response(
        base64.b64encode(der),
        media_type=f"{MEDIA_TYPE}; smime-type=certs-only",
        headers={"Content-Transfer-Encoding": "base64"},
    )
