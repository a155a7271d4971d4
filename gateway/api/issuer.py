"""Signing in by the word of an OpenID Connect issuer: the way there, and the way back.

Nothing of the issuer gets into an address of ours: a browser comes back with a code, which is sent
on at once, and goes to a page of ours, or to the sign-in page with one word that says why not.
"""

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from contracts.errors import UnavailableError
from contracts.runtime.seldom import Seldom
from gateway.api.cookies import (
    drop_ticket,
    session_id_of,
    set_session,
    set_ticket,
    ticket_of,
)
from gateway.api.pages import PATHS
from gateway.api.parts import AllParts, IssuerPart
from gateway.api.problems import errors
from gateway.api.security import address_of, check_rate
from gateway.people.oidc.admission import mark_of
from gateway.people.oidc.refusals import NotSignedInError, Refusal, StrangerError
from gateway.people.oidc.ticket import TO_MAX, Ticket
from gateway.people.signing import TooEarlyError
from gateway.services import Services

_log = logging.getLogger(__name__)
_refusals = logging.getLogger(f"{__name__}.refusals")
_refusals.addFilter(Seldom(arguments=1))  # of each reason a line; strangers cause some of them

REFUSED: Final = "refused"
"""The parameter of the sign-in page's address that says why nobody is signed in."""
_COUNTED: Final = (Refusal.DECLINED, Refusal.FALSE)
"""What a client may be guilty of itself: after three of these the next try waits. An answer to no
sign-in is not counted: any site's page can have a browser bring it."""
_OF_A_QUERY: Final = re.compile(r"[A-Za-z0-9._~%=&+:/!'()*,-]*")
_OF_A_PATH: Final = re.compile(r"/[A-Za-z0-9._~%/-]*")
_PAGES: Final = re.compile("|".join(re.sub(r"\{\w+\}", "[^/]+", each) for each in PATHS))

router = APIRouter(prefix="/v1/session", tags=["access"])
callback_router = APIRouter(include_in_schema=False)


class Ways(BaseModel):
    """How people sign in here, besides tokens and passwords."""

    issuer: str | None = Field(
        description="name of the issuer, for people; null if the settings name no issuer"
    )


@router.get("/ways")
async def ways(services: AllParts) -> Ways:
    """Return whether people sign in by an OpenID Connect issuer here; nobody need be signed in."""
    return Ways(issuer=services.settings.oidc.shown or None)


@router.get(
    "/issuer",
    status_code=303,
    response_class=Response,
    responses=errors(403, 404, 422, 429) | {303: {"description": "to the issuer's sign-in page"}},
)
async def begin(
    request: Request,
    issuer: IssuerPart,
    to: Annotated[str, Query(description="the page to go to afterwards")] = "/",
) -> Response:
    """Send a browser to the issuer, to sign in there; `to` is a path of a page of ours.

    The issuer sends it back to this gateway, which begins a session as `POST /v1/session` does.
    """
    check_rate(request, None)
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise HTTPException(HTTPStatus.FORBIDDEN, "expected a request of this gateway's own pages")
    ticket = Ticket.new(to if is_page(to) else "/")
    try:
        answer = _sent(await issuer.place(ticket))
    except NotSignedInError as error:
        return _refused(error.why, str(error))
    set_ticket(request, answer, str(ticket))
    return answer


@callback_router.get("/v1/session/callback")
async def callback(request: Request, services: AllParts, issuer: IssuerPart) -> Response:
    """Begin a session for a person whom the issuer has confirmed; send the browser to its page."""
    check_rate(request, None)
    ticket = Ticket.parse(ticket_of(request))
    try:
        answer = await _answered(request, services, issuer, ticket)
    except UnavailableError as error:
        answer = _refused(Refusal.TROUBLE, str(error))
    if _is_answer(ticket, request):  # another one ends no sign-in that is under way
        drop_ticket(request, answer)
    return answer


async def _answered(
    request: Request, services: Services, issuer: IssuerPart, ticket: Ticket | None
) -> Response:
    """Return what the browser is told.

    Raises:
        UnavailableError: Somebody cannot be written down.
    """
    try:
        session_id = await _begun(request, services, issuer, ticket)
    except StrangerError as error:
        services.people.issuer_failed(address_of(request))
        await run_in_threadpool(services.accesses.note_stranger, error.name, address_of(request))
        return _refused(error.why, str(error))
    except NotSignedInError as error:
        if error.why in _COUNTED and _is_answer(ticket, request):
            services.people.issuer_failed(address_of(request))
        return _refused(error.why, str(error))
    except TooEarlyError as error:
        return _refused(Refusal.BUSY, str(error))
    answer = _sent(ticket.to if ticket is not None and is_page(ticket.to) else "/")
    set_session(request, answer, session_id)
    return answer


async def _begun(
    request: Request, services: Services, issuer: IssuerPart, ticket: Ticket | None
) -> str:
    """Return the id of the session that begins.

    Raises:
        NotSignedInError: None does.
        TooEarlyError: There were too many tries from this address.
        UnavailableError: The session cannot be written down.
    """
    people, address = services.people, address_of(request)
    people.check_issuer(address)
    owner, mark = await issuer.person(ticket, _once(request)), mark_of(services.settings.oidc)
    session_id = await run_in_threadpool(people.by_issuer, owner, mark, address)
    if (before := session_id_of(request)) is not None:
        await run_in_threadpool(people.sessions.end, before)
    _log.info("%s signs in by the issuer's word, role %s", owner.name, owner.role)
    return session_id


def _is_answer(ticket: Ticket | None, request: Request) -> bool:
    """Say whether what the browser brings answers its own sign-in."""
    return ticket is not None and ticket.is_answered_by(request.query_params.get("state", ""))


def _once(request: Request) -> Mapping[str, str]:
    """Return the parameters that the browser brings.

    Raises:
        NotSignedInError: One is there twice.
    """
    found = dict(request.query_params)
    if len(found) != len(request.query_params.multi_items()):
        raise NotSignedInError(Refusal.FALSE, "the answer has a parameter twice")
    return found


def is_page(to: str) -> bool:
    """Say whether a text is the path of a page of ours, maybe with a query.

    It is compared as it is: `urlsplit` drops signs at its edges, and browsers drop others.
    """
    path, _, query = to.partition("?")
    return (
        len(to) <= TO_MAX
        and _OF_A_PATH.fullmatch(path) is not None
        and _PAGES.fullmatch(path) is not None
        and _OF_A_QUERY.fullmatch(query) is not None
    )


def _refused(why: Refusal, words: str) -> Response:
    _refusals.warning("nobody is signed in, %s: %s", why, words)
    return _sent(f"/?{REFUSED}={why}")


def _sent(place: str) -> Response:
    return Response(None, HTTPStatus.SEE_OTHER, {"Location": place, "Cache-Control": "no-store"})
