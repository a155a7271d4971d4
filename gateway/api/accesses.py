"""Who took evidence and video from this gateway; each entry names the one before."""

import base64
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from contracts.encoding import canonical, parse
from contracts.proto.access_pb2 import Access, AccessHeadBody
from contracts.records.clock import moment
from gateway.access import Caller
from gateway.api.models import Page
from gateway.api.paging import Paging, page_of
from gateway.api.parts import AccessLogPart
from gateway.api.security import address_of, may_read
from gateway.moments import Moment
from gateway.people.accesslog import AccessLog, Taken


class AccessEntry(BaseModel):
    """One access; requests of one reader for one thing within ten minutes are one."""

    number: int = Field(description="from 1 on, without gaps")
    at: Moment
    who: str
    role: str
    address: str
    what: Taken
    subjects: list[str] = Field(description="trips, or the SHA-256 of a recording")
    before_sha256: str | None = Field(description="hash of the access before; null in the first")
    written: str = Field(description="the canonical bytes, base64; the next access has their hash")


class SignedAccessHead(BaseModel):
    """The newest access: keep it, and later entries before it cannot change unseen."""

    number: int = Field(description="0 before the first access")
    sha256: str | None = Field(description="hash of that access; null before the first")
    at: Moment
    gateway_public_key: str
    signature: str
    signed: str = Field(description="the signed message, base64; see contracts/accesses.py")


router = APIRouter(prefix="/v1/accesses", tags=["access"])


@router.get("", name="list_accesses")
def every(log: AccessLogPart, window: Paging) -> Page[AccessEntry]:
    """List the accesses to evidence and video, oldest first."""
    return page_of(log.listed, _view, window)


@router.get("/head", name="access_head")
def head(log: AccessLogPart) -> SignedAccessHead:
    """Return the newest access by number and hash, signed by the gateway now."""
    signed = log.head()
    body = parse(AccessHeadBody, signed.body)
    wire = signed.SerializeToString(deterministic=True)
    return SignedAccessHead(
        number=body.number,
        sha256=body.sha256.hex() or None,
        at=moment(body.at_ms),
        gateway_public_key=signed.gateway_public_key,
        signature=signed.signature,
        signed=base64.b64encode(wire).decode("ascii"),
    )


def note_access(
    request: Request, log: AccessLog, caller: Caller, what: Taken, *subjects: str
) -> None:
    """Write down an access before its first byte leaves.

    Raises:
        UnavailableError: It cannot be written: nothing leaves.
    """
    log.note(caller, address_of(request), what, subjects)


class Taking:
    """A reader who takes something, and the record of that.

    Attributes:
        caller: The reader.
    """

    def __init__(
        self, request: Request, log: AccessLogPart, caller: Annotated[Caller, Depends(may_read)]
    ) -> None:
        self.caller = caller
        self._request = request
        self._log = log

    def note(self, what: Taken, *subjects: str) -> None:
        """Write down what is taken; see `note_access`."""
        note_access(self._request, self._log, self.caller, what, *subjects)


TakingPart = Annotated[Taking, Depends()]


def _view(access: Access) -> AccessEntry:
    return AccessEntry(
        number=access.number,
        at=moment(access.at_ms),
        who=access.who,
        role=access.role,
        address=access.address,
        what=Taken(access.what),
        subjects=list(access.subjects),
        before_sha256=access.before_sha256.hex() or None,
        written=base64.b64encode(canonical(access)).decode("ascii"),
    )
