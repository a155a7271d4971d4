"""The roles that endpoints ask for. A bearer token is checked before the body is read."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.seldom import Seldom
from gateway.access import Caller, Role, Tokens

_log = logging.getLogger(__name__)
_log.addFilter(Seldom())  # a line for each request, until the file is mended

_BEARER = HTTPBearer(auto_error=False, description="an API token of this gateway")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


def _require(*roles: Role) -> Callable[..., Caller]:
    """Return a dependency that lets callers of these roles pass, and returns the caller."""

    def check(request: Request, credentials: Credentials) -> Caller:
        caller = _caller(request.app.state.tokens, credentials) if credentials else None
        if caller is None:
            raise HTTPException(
                HTTPStatus.UNAUTHORIZED,
                "expected a known token in the header Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )
        if caller.role not in roles:
            wanted = " or ".join(roles)
            raise HTTPException(
                HTTPStatus.FORBIDDEN, f"{caller.name} has role {caller.role}, {wanted} may do this"
            )
        return caller

    return check


def _caller(tokens: Tokens, credentials: HTTPAuthorizationCredentials) -> Caller | None:
    """Return who asks; what is wrong with the token file is not for strangers to read."""
    try:
        return tokens.caller(credentials.credentials)
    except RejectedError as error:
        _log.warning("nobody may enter: %s", error)
        raise UnavailableError("the gateway cannot read its tokens; see its log") from error


may_read: Final = _require(Role.AUDITOR, Role.OPERATOR)
may_operate: Final = _require(Role.OPERATOR)
may_upload: Final = _require(Role.DEVICE, Role.OPERATOR)
