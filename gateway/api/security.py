"""Who may ask: bearer tokens, checked before any byte of a body is read."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from gateway.access import Caller, Role, Tokens

_BEARER = HTTPBearer(auto_error=False, description="an API token of this gateway")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


def require(tokens: Tokens, *roles: Role) -> Callable[..., Caller]:
    """Return a dependency that lets callers of these roles pass, and names the caller."""

    def check(credentials: Credentials) -> Caller:
        caller = tokens.caller(credentials.credentials) if credentials else None
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
