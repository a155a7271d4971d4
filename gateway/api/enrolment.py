"""A new truck's first word: its certificate, its settings, and whether it is admitted, at once.

A truck that has a certificate of the network's authority is admitted here by it, at each site.
"""

import asyncio
import base64
import binascii
import json
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.security import HTTPBasicCredentials
from pydantic import BaseModel, Field

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError
from gateway.api.est import BASIC, Part, claim_errors, unauthorized
from gateway.api.parts import AllParts
from gateway.api.problems import errors
from gateway.api.security import device_of
from gateway.pki import trucksettings

router = APIRouter(prefix="/v1", tags=["devices"])


class Asked(BaseModel):
    """What a truck sends."""

    enrolment: dict[str, str] = Field(
        description="what `wayseal-device enrol` prints for this site: the hashes of its token, "
        "signed by its key"
    )
    request: str | None = Field(
        None, max_length=16 << 10, description="PKCS #10, base64; with a claim code"
    )


class Begun(BaseModel):
    """What the truck gets."""

    certificate: str | None = Field(description="PKCS #7, base64; null without a request")
    admitted: bool = Field(
        description="whether its token counts here; false: the ledger does not have its key yet"
    )
    settings: str | None = Field(
        description="the network's settings for trucks, TOML; null without a request"
    )


@router.post("/enrolment", responses=errors(401, 403, 404, 422, 429))
async def begin(
    asked: Asked,
    request: Request,
    enrolling: Part,
    services: AllParts,
    credentials: Annotated[HTTPBasicCredentials | None, Depends(BASIC)],
) -> Begun:
    """Enrol a truck by device id and claim code, or admit one by its certificate."""
    enrolment = Enrolment.parse(json.dumps(asked.enrolment))
    if credentials is None:
        shown = device_of(request)
        if shown is None:
            raise unauthorized(
                "expected device id and claim code as user name and password, or a connection "
                "with the device's certificate"
            )
        with claim_errors():
            admitted = await asyncio.to_thread(enrolling.admit, shown[0], enrolment, shown[1])
        return Begun(certificate=None, admitted=admitted, settings=None)
    given = trucksettings.of(
        services.settings,
        request.headers.get("host", ""),
        services.public_key,
        services.network.genesis_block_id,
    )
    device_id, code = credentials.username, credentials.password
    wanted = _decoded(asked.request)
    with claim_errors():
        certificate, admitted = await asyncio.to_thread(
            enrolling.begin, device_id, code, wanted, enrolment
        )
    encoded = base64.b64encode(certificate).decode("ascii")
    return Begun(certificate=encoded, admitted=admitted, settings=given)


def _decoded(text: str | None) -> bytes:
    try:
        return base64.b64decode("".join((text or "").split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise RejectedError(f"expected a certificate request in base64, got {error}") from error
