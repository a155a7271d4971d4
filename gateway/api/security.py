"""The roles that endpoints ask for. A token or a session is checked before the body is read."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.seldom import Seldom
from contracts.runtime.serving.connections import network_of
from contracts.runtime.serving.tls import PEER, Peer
from contracts.text import quoted
from gateway.access import Caller, Role
from gateway.api.cookies import check_origin, session_id_of
from gateway.grants import Grants
from gateway.people.signing import People

_log = logging.getLogger(__name__)
_log.addFilter(Seldom())  # a line for each request, until the file is mended

GRANTS_SHOWN: Final = 5
_BEARER = HTTPBearer(auto_error=False, description="an API token of this gateway")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


def _require(*roles: Role, whole: bool = False) -> Callable[..., Caller]:
    """Return a dependency that lets callers of these roles pass, and returns the caller.

    Args:
        roles: Who may pass.
        whole: Only callers who may see everything.
    """

    def check(request: Request, credentials: Credentials) -> Caller:
        people: People = request.app.state.services.people
        caller = _caller(request, people, credentials)
        check_rate(request, caller)
        if caller is None:
            raise HTTPException(
                HTTPStatus.UNAUTHORIZED,
                "expected a known token in the header Authorization: Bearer TOKEN, or a session",
                {"WWW-Authenticate": "Bearer"},
            )
        check_certificate(request, caller)
        if caller.role not in roles:
            wanted = " or ".join(roles)
            raise HTTPException(
                HTTPStatus.FORBIDDEN, f"{caller.name} has role {caller.role}, {wanted} may do this"
            )
        if whole and caller.grants is not None:
            raise HTTPException(
                HTTPStatus.FORBIDDEN, f"{caller.name} may see {_words(caller.grants)} alone"
            )
        request.state.caller = caller
        return caller

    return check


def _words(grants: Grants) -> str:
    shown = sorted(map(str, grants))[:GRANTS_SHOWN]
    return quoted(", ".join(shown), 400) + "…" * (len(grants) > len(shown))


def address_of(request: Request) -> str:
    """Return what counts as one client: its IPv4 address, or its IPv6 network."""
    return network_of(request.client.host) if request.client is not None else ""


def check_rate(request: Request, caller: Caller | None) -> None:
    """Count a request, except of a device: its uploads have limits of their own.

    Raises:
        HTTPException: 429: there were too many of this caller, or of strangers at its address.
    """
    if caller is not None and caller.role is Role.DEVICE:
        return
    client = f"address {address_of(request)}" if caller is None else f"name {caller.name}"
    if wait_s := request.app.state.rates.wait_s(client):
        seconds = str(int(wait_s) + 1)
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"too many requests: ask again in {seconds} s",
            {"Retry-After": seconds},
        )


def check_certificate(request: Request, caller: Caller) -> None:
    """Check that a device comes with its own certificate, and nobody else with a device's.

    Raises:
        HTTPException: 403: it does not.
    """
    shown, tls = device_of(request), request.app.state.services.settings.tls
    device_id = None if shown is None else shown[0]
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


def device_of(request: Request) -> tuple[str, int] | None:
    """Return the device whose certificate the client of a request has shown, if any.

    Returns:
        Device id, and the certificate's serial number.
    """
    peer: Peer | None = request.scope.get("extensions", {}).get(PEER)
    if peer is None or peer.device_id is None:
        return None
    return peer.device_id, peer.serial


def _caller(
    request: Request, people: People, credentials: HTTPAuthorizationCredentials | None
) -> Caller | None:
    """Return the caller; a fault of the file of tokens is not for strangers to read."""
    try:
        if "authorization" in request.headers:
            return people.tokens.caller(credentials.credentials) if credentials else None
        session_id = session_id_of(request)
        session = None if session_id is None else people.of_session(session_id)
    except RejectedError as error:
        _log.warning("nobody may enter: %s", error)
        raise UnavailableError("the gateway cannot read its tokens; see its log") from error
    if session is None:
        return None
    check_origin(request, by_cookie=True)
    return session.owner


may_read: Final = _require(Role.AUDITOR, Role.OPERATOR)
may_read_all: Final = _require(Role.AUDITOR, Role.OPERATOR, whole=True)
may_operate: Final = _require(Role.OPERATOR)
may_upload: Final = _require(Role.DEVICE, Role.OPERATOR)
