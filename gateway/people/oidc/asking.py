"""Asks an issuer: every answer is bounded in bytes and in time, and no redirect is followed."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from typing import Any, Final

import httpx

from gateway.oidcsettings import is_safe
from gateway.people.oidc.refusals import NotSignedInError, Refusal

ANSWER_MAX_S: Final = 8.0
"""Time for one whole answer, from looking up the name to the last byte."""
ANSWER_BYTES_MAX: Final = 262_144
_SHOWN: Final = 120
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Asking:
    """Asks by HTTPS; on this machine alone by HTTP.

    Args:
        trust: Whose certificates count.
    """

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._trust = trust

    async def get(self, url: str) -> dict[str, Any]:
        """Return the JSON object at a URL.

        Raises:
            NotSignedInError: Nothing of that form came in time.
        """
        status, found = await self._ask("GET", url, None, None)
        if status != httpx.codes.OK:
            raise away(f"{url}: expected status 200, got {status}")
        return found

    async def post(
        self, url: str, form: Mapping[str, str], auth: httpx.Auth | None
    ) -> tuple[int, dict[str, Any]]:
        """Send a form and return status and JSON object of the answer.

        Raises:
            NotSignedInError: Nothing of that form came in time.
        """
        return await self._ask("POST", url, form, auth)

    async def _ask(
        self, method: str, url: str, form: Mapping[str, str] | None, auth: httpx.Auth | None
    ) -> tuple[int, dict[str, Any]]:
        if not is_safe(url):
            raise away(f"expected https://, got {url[:_SHOWN]}")
        try:
            async with (
                asyncio.timeout(ANSWER_MAX_S),
                httpx.AsyncClient(
                    verify=self._trust, trust_env=False, timeout=ANSWER_MAX_S, headers=_HEADERS
                ) as client,
                client.stream(method, url, data=form, auth=auth) as answer,
            ):
                body = await _body(url, answer)
        except TimeoutError as error:
            raise away(f"{url}: no whole answer within {ANSWER_MAX_S:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise away(f"{url}: {type(error).__name__}: {error}") from error
        return answer.status_code, _document(url, answer.status_code, body)


async def _body(url: str, answer: httpx.Response) -> bytes:
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise away(f"{url}: expected an answer as it is, got a compressed one")
    body = bytearray()
    async for part in answer.aiter_raw():
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            raise away(f"{url}: expected at most {ANSWER_BYTES_MAX} bytes, got more")
    return bytes(body)


def _document(url: str, status: int, body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise away(
            f"{url}: expected JSON, got status {status} and {len(body)} other bytes"
        ) from error
    if not isinstance(found, dict):
        raise away(f"{url}: expected a JSON object, got status {status}, {type(found).__name__}")
    return found


def away(words: str) -> NotSignedInError:
    """Return the error of an issuer that does not answer as it should."""
    return NotSignedInError(Refusal.AWAY, f"the issuer does not answer: {words}")
