"""Sessions of browsers: a token, or a name and a password, for a cookie that no script reads."""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.security import HTTPAuthorizationCredentials
from pydantic import BaseModel, Field, SecretStr
from pydantic.config import JsonDict

from contracts.records.clock import moment
from gateway.access import Caller, Role
from gateway.api.cookies import check_origin, drop_session, session_id_of, set_session
from gateway.api.models import Page
from gateway.api.parts import PeoplePart
from gateway.api.placed import PlacedPaging, since
from gateway.api.problems import Answers, errors
from gateway.api.security import Credentials, address_of, may_read
from gateway.moments import Moment
from gateway.people.sessions import Session, SessionKind
from gateway.people.signing import People, SignInError, TooEarlyError

_NAME_MAX: Final = 64
_PASSWORD_CHARACTERS: Final = 200
_EXAMPLE: Final[JsonDict] = {"name": "inspector", "password": "a long sentence of one's own"}
_REFUSED: Final[Answers] = errors(401, 403, 422, 429, 503)


class SignIn(BaseModel):
    """A person's name and password."""

    model_config = {"json_schema_extra": {"examples": [_EXAMPLE]}, "extra": "forbid"}

    name: str = Field(min_length=1, max_length=_NAME_MAX)
    password: SecretStr = Field(min_length=1, max_length=_PASSWORD_CHARACTERS)


class Reader(BaseModel):
    """Whose requests these are."""

    name: str
    role: Role
    grants: list[str] | None = Field(
        description="what may be seen, such as party:dairy; null: everything"
    )
    session_ends: Moment | None = Field(
        description="when the session ends without a further request; null for a bearer token"
    )


class OpenSession(BaseModel):
    """A session that is under way."""

    kind: SessionKind
    name: str
    role: Role
    began: Moment
    seen: Moment = Field(description="when it was used last, up to a minute ago")
    ends: Moment = Field(description="when it ends without a further request")


router = APIRouter(prefix="/v1/session", tags=["access"])
list_router = APIRouter(prefix="/v1/sessions", tags=["access"])


@router.post("", status_code=201, responses=_REFUSED)
def sign_in(
    request: Request,
    response: Response,
    people: PeoplePart,
    credentials: Credentials,
    typed: SignIn | None = None,
) -> Reader:
    """Begin a session: with a token in Authorization, or with a name and a password as JSON.

    The answer sets a cookie. A session that the request came with ends. After three failures each
    further one makes the next try wait longer, up to 15 minutes, by address and by name.
    """
    check_origin(request, by_cookie=False)
    try:
        session_id = _begun(people, credentials, typed, address_of(request))
    except SignInError as error:
        status = HTTPStatus.FORBIDDEN if error.is_device else HTTPStatus.UNAUTHORIZED
        raise HTTPException(status, str(error), {"WWW-Authenticate": "Bearer"}) from error
    except TooEarlyError as error:
        again = {"Retry-After": str(error.wait_s)}
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, str(error), again) from error
    if (before := session_id_of(request)) is not None:
        people.sessions.end(before)
    set_session(request, response, session_id)
    found = people.of_session(session_id)
    if found is None:  # revoked in this very moment
        raise HTTPException(HTTPStatus.UNAUTHORIZED, "the token or the person is gone")
    return _reader(found.owner, found)


def _begun(
    people: People,
    credentials: HTTPAuthorizationCredentials | None,
    typed: SignIn | None,
    address: str,
) -> str:
    if credentials is not None:
        return people.by_token(credentials.credentials, address)
    if typed is None:
        raise SignInError("expected a token in Authorization, or a name and a password")
    return people.by_password(typed.name, typed.password.get_secret_value(), address)


@router.get("", responses=errors(401, 403))
def who(
    request: Request, people: PeoplePart, caller: Annotated[Caller, Depends(may_read)]
) -> Reader:
    """Return whose requests these are, by session or by token."""
    session_id = session_id_of(request)
    by_token = "authorization" in request.headers or session_id is None
    return _reader(caller, None if by_token else people.of_session(session_id or ""))


@router.delete(
    "",
    status_code=204,
    response_class=Response,
    dependencies=[Depends(may_read)],
    responses=errors(401, 403),
)
def sign_out(request: Request, response: Response, people: PeoplePart) -> None:
    """End the session that the request's cookie names."""
    session_id = session_id_of(request)
    if session_id is not None:
        people.sessions.end(session_id)
    drop_session(request, response)


@list_router.get("", name="list_sessions")
def every(people: PeoplePart, window: PlacedPaging) -> Page[OpenSession]:
    """List the sessions under way, the newest first."""
    part, following = window.part(
        people.sessions.all(),
        lambda each: since(each.began_ms, each.id_sha256.hex()),
        newest_first=True,
    )
    return Page(items=list(map(_view, part)), next_cursor=following)


@list_router.delete("/{name:path}", status_code=204, response_class=Response)
def end_of(people: PeoplePart, name: str) -> None:
    """End all sessions of a person or a token's owner; they may sign in again."""
    people.sessions.end_of(name)


def _view(session: Session) -> OpenSession:
    return OpenSession(
        kind=session.kind,
        name=session.name,
        role=session.owner.role,
        began=moment(session.began_ms),
        seen=moment(session.seen_ms),
        ends=moment(session.ends_ms),
    )


def _reader(caller: Caller, session: Session | None) -> Reader:
    return Reader(
        name=caller.name,
        role=caller.role,
        grants=None if caller.grants is None else sorted(map(str, caller.grants)),
        session_ends=None if session is None else moment(session.ends_ms),
    )
