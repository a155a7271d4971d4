"""The roles that endpoints ask for. A bearer token is checked before the body is read."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from contracts.errors import RejectedError, UnavailableError
from contracts.ids import DEVICE_URN
from contracts.runtime.seldom import Seldom
from contracts.runtime.serving.tls import PEER, Peer
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
        check_certificate(request, caller)
        if caller.role not in roles:
            wanted = " or ".join(roles)
            raise HTTPException(
                HTTPStatus.FORBIDDEN, f"{caller.name} has role {caller.role}, {wanted} may do this"
            )
        return caller

    return check


def check_certificate(request: Request, caller: Caller) -> None:
    """Check that a device comes with its own certificate, and nobody else with a device's.

    Raises:
        HTTPException: 403: it does not.
    """
    device_id, tls = device_of(request), request.app.state.services.settings.tls
    if device_id is not None and device_id != caller.name:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            f"expected the certificate and the token of one device, got the certificate of "
            f"{device_id} and the token of {caller.name}",
        )
    needed = tls.ca is not None and tls.device_certificates
    if device_id is None and caller.role is Role.DEVICE and needed:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            f"expected the certificate of {caller.name} beside its token, got none: "
            f"`wayseal-device enrol` gets one",
        )


def device_of(request: Request) -> str | None:
    """Return the device whose certificate the client of a request has shown, if any."""
    peer: Peer | None = request.scope.get("extensions", {}).get(PEER)
    named = () if peer is None else peer.uris
    return next((uri[len(DEVICE_URN) :] for uri in named if uri.startswith(DEVICE_URN)), None)


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
