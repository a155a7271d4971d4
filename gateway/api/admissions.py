"""Who may see what, and which trucks are about to be admitted; for operators."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

from fastapi import APIRouter
from pydantic import BaseModel, Field

from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import moment, now_ms, parse_rfc3339
from gateway.access import Role, TokenEntry
from gateway.api.models import Page
from gateway.api.parts import AllParts, PeoplePart
from gateway.api.placed import PlacedPaging
from gateway.moments import Moment
from gateway.people.persons import Person
from gateway.people.sessions import SessionKind
from gateway.pki.claims import ClaimCodes
from gateway.pki.unregistered import Unregistered


class Admission(BaseModel):
    """A token or a person, and what their owner may see."""

    kind: SessionKind
    name: str
    role: Role
    grants: list[str] | None = Field(
        description="what may be seen, such as party:dairy; null: everything that the role may"
    )
    made: Moment | None = Field(description="null if an earlier version made it")
    expires: Moment | None = Field(description="null: it holds until it is revoked")
    ended: bool = Field(description="whether it admits nobody any more")


class EnrolmentState(StrEnum):
    """What a truck that is not admitted yet waits for."""

    KEY_WAITS = "key-waits"
    """It came with its claim; its owner has not registered its key on the ledger."""
    CODE_OPEN = "code-open"
    """A claim code was made for it, and not used."""


class WaitingEnrolment(BaseModel):
    """A truck that is about to be admitted at this gateway."""

    device_id: str
    state: EnrolmentState
    public_key: str | None = Field(
        description="compare it with the key that the truck shows; null before it came"
    )
    since: Moment | None = Field(description="when it came; null before")
    expires: Moment | None = Field(description="when its claim code ends; null once it was used")


router = APIRouter(prefix="/v1", tags=["access"])


@router.get("/grants", name="list_grants")
def grants(people: PeoplePart, window: PlacedPaging) -> Page[Admission]:
    """List the tokens and people of this gateway, by name.

    Tokens of trucks are left out: a truck sees nothing of the ledger. So are the people of an
    issuer, who are known by their sessions alone.
    """
    with _readable():
        found: list[TokenEntry | Person] = [
            each for each in people.tokens.entries() if each.role is not Role.DEVICE
        ]
        found += people.persons.all()
    return window.page(map(_admission, found), lambda each: f"{each.name} {each.kind}")


@router.get("/enrolments", name="list_enrolments")
def enrolments(services: AllParts, window: PlacedPaging) -> Page[WaitingEnrolment]:
    """List the trucks that wait for their key on the ledger, and the claim codes not used yet."""
    settings = services.settings
    with _readable():
        waiting = Unregistered(settings.waiting_file).all()
        codes = ClaimCodes(settings.claims_file).open()
        found = [
            *(_waits(device_id, each) for device_id, each in waiting.items()),
            *(_coded(device_id, ends_ms) for device_id, ends_ms in codes.items()),
        ]
    return window.page(found, lambda each: f"{each.device_id} {each.state}")


@contextmanager
def _readable() -> Iterator[None]:
    """Make a damaged file of the gateway no fault of the question."""
    try:
        yield
    except RejectedError as error:
        raise UnavailableError(str(error)) from error


def _admission(each: TokenEntry | Person) -> Admission:
    expires_ms = each.expires_ms
    return Admission(
        kind=SessionKind.TOKEN if isinstance(each, TokenEntry) else SessionKind.PERSON,
        name=each.name,
        role=each.role,
        grants=None if each.grants is None else sorted(map(str, each.grants)),
        made=None if each.made_ms is None else moment(each.made_ms),
        expires=None if expires_ms is None else moment(expires_ms),
        ended=expires_ms is not None and expires_ms <= now_ms(),
    )


def _waits(device_id: str, each: Mapping[str, str]) -> WaitingEnrolment:
    return WaitingEnrolment(
        device_id=device_id,
        state=EnrolmentState.KEY_WAITS,
        public_key=each.get("public_key"),
        since=moment(parse_rfc3339(each.get("since", ""))),
        expires=None,
    )


def _coded(device_id: str, ends_ms: int) -> WaitingEnrolment:
    return WaitingEnrolment(
        device_id=device_id,
        state=EnrolmentState.CODE_OPEN,
        public_key=None,
        since=None,
        expires=moment(ends_ms),
    )
