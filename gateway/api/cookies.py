"""The session's cookie, and whether a request that carries it is one of our own pages.

Source: RFC 6265bis, 4.1.3 (`__Host-`); W3C Fetch Metadata; OWASP, CSRF Prevention Cheat Sheet.
"""

from http import HTTPStatus
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Response

from gateway.people.oidc.ticket import LASTS_MAX_S as TICKET_LASTS_MAX_S
from gateway.people.sessions import LASTS_MAX_S

SECURE_NAME: Final = "__Host-wayseal"
LOOPBACK_NAME: Final = "wayseal"
"""Over plain text on the machine itself, where a browser may refuse a cookie that is Secure."""
_SIGNING_IN: Final = "-signing-in"
"""Ends the name of the cookie of a browser that is at the issuer."""
_SAFE: Final = ("GET", "HEAD", "OPTIONS")


def session_id_of(request: Request) -> str | None:
    """Return the id that a request's cookie has, or None."""
    secure = request.cookies.get(SECURE_NAME)
    plain = None if _has_name(request) else request.cookies.get(LOOPBACK_NAME)
    return secure if secure is not None else plain


def set_session(request: Request, response: Response, session_id: str) -> None:
    """Let the browser keep a session's id where no script reads it."""
    _set(request, response, _name(request), session_id, LASTS_MAX_S)


def drop_session(request: Request, response: Response) -> None:
    """Let the browser forget the session."""
    _drop(request, response, _name(request))


def ticket_of(request: Request) -> str | None:
    """Return what a browser carries that comes back from the issuer, or None."""
    return request.cookies.get(_name(request) + _SIGNING_IN)


def set_ticket(request: Request, response: Response, ticket: str) -> None:
    """Let the browser carry a ticket to the issuer and back: Lax, for it comes from there."""
    _set(request, response, _name(request) + _SIGNING_IN, ticket, TICKET_LASTS_MAX_S)


def drop_ticket(request: Request, response: Response) -> None:
    """Let the browser forget the ticket."""
    _drop(request, response, _name(request) + _SIGNING_IN)


def _set(request: Request, response: Response, name: str, value: str, lasts_s: int) -> None:
    """Set a cookie that no script reads and no other site's request brings along."""
    secure = _is_secure(request)
    response.set_cookie(
        name, value, max_age=lasts_s, path="/", secure=secure, httponly=True, samesite="lax"
    )


def _drop(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(
        name, path="/", secure=_is_secure(request), httponly=True, samesite="lax"
    )


def check_origin(request: Request, *, by_cookie: bool) -> None:
    """Check that no other site makes a browser send a request that changes something.

    Args:
        request: The request.
        by_cookie: Whether only its cookie says whose it is; then it must show where it is from.

    Raises:
        HTTPException: 403: another site's page made it, or nothing says which page did.
    """
    if request.method in _SAFE:
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        own = site == "same-origin"
    elif origin is not None:
        own = urlsplit(origin).netloc == request.headers.get("host", "")
    else:
        own = not by_cookie
    if not own:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "expected a request of this gateway's own pages: one with Sec-Fetch-Site: same-origin, "
            "or with the gateway's Origin; a program sends its token in Authorization",
        )


def _name(request: Request) -> str:
    return SECURE_NAME if _is_secure(request) else LOOPBACK_NAME


def _is_secure(request: Request) -> bool:
    """Say whether the browser comes by TLS, or by a proxy with TLS.

    Without TLS a gateway listens on loopback, or behind a proxy (see gateway/plaintext.py). A
    proxy is told apart by the name that the browser asked for.
    """
    return request.headers.get("origin", "").startswith("https:") or _has_name(request)


def _has_name(request: Request) -> bool:
    """Say whether the browser asked by TLS, or for another machine than its own."""
    if request.url.scheme == "https":
        return True
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    try:
        return not (host == "localhost" or ip_address(host).is_loopback)
    except ValueError:
        return True
