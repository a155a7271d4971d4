"""An issuer: it signs a person in by the browser, and names the person when the browser returns.

The authorization code flow with PKCE. Adapter with `idtoken.py`: the importers of authlib.

Source: OpenID Connect Core 1.0, 3.1; RFC 7636; RFC 9207; RFC 9700.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from contracts.errors import RejectedError
from contracts.runtime.clienttls import ClientFiles, RenewedContext
from contracts.runtime.files import check_private
from gateway.access import Caller
from gateway.oidcsettings import OidcSettings
from gateway.people.oidc.admission import admitted
from gateway.people.oidc.asking import Asking, away
from gateway.people.oidc.documents import Addresses, Documents
from gateway.people.oidc.idtoken import checked
from gateway.people.oidc.refusals import NotSignedInError, Refusal
from gateway.people.oidc.ticket import Ticket

CALLBACK: Final = "/v1/session/callback"
AT_ONCE_MAX: Final = 32
"""Answers of issuers that are looked at at a time."""
_CODE_MAX: Final = 4096
_REFUSALS: Final = range(400, 500)
_SAID: Final = {
    **dict.fromkeys(("server_error", "temporarily_unavailable"), Refusal.AWAY),
    **dict.fromkeys(
        ("invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope"),
        Refusal.OURS,
    ),
}
"""What an error in the browser means, where the person is not at fault (RFC 6749, 4.1.2.1)."""


class OidcIssuer:
    """The issuer that the settings name; for one event loop.

    Args:
        settings: With an issuer.
        address: Where browsers reach the gateway; the issuer sends them back there alone.

    Attributes:
        callback: The address that has to be registered at the issuer.

    Raises:
        RejectedError: The CA file is missing or malformed.
    """

    def __init__(self, settings: OidcSettings, address: str) -> None:
        self._settings = settings
        self.callback = address + CALLBACK
        self._asking = Asking(_trust(settings))
        self.documents = Documents(settings, self._asking)
        self._under_way = 0

    async def place(self, ticket: Ticket) -> str:
        """Return where to send a browser that signs in.

        Raises:
            NotSignedInError: The issuer does not answer.
        """
        addresses = await self.documents.addresses()
        url: str = prepare_grant_uri(
            addresses.authorize,
            self._settings.client_id,
            "code",
            self.callback,
            " ".join(self._settings.scopes),
            ticket.state,
            nonce=ticket.nonce,
            code_challenge=create_s256_code_challenge(ticket.verifier),
            code_challenge_method="S256",
        )
        return url

    async def person(self, ticket: Ticket | None, answer: Mapping[str, str]) -> Caller:
        """Return who has signed in.

        Args:
            ticket: What the browser carries; None: nothing that counts.
            answer: The parameters with which the issuer has sent it back.

        Raises:
            NotSignedInError: Nobody has.
        """
        if ticket is None or not ticket.is_answered_by(answer.get("state", "")):
            raise NotSignedInError(Refusal.LATE, "an answer that belongs to no sign-in here")
        if self._under_way >= AT_ONCE_MAX:
            raise NotSignedInError(Refusal.BUSY, f"{AT_ONCE_MAX} sign-ins are under way")
        self._under_way += 1
        try:
            return await self._person(ticket, answer)
        finally:
            self._under_way -= 1

    async def _person(self, ticket: Ticket, answer: Mapping[str, str]) -> Caller:
        addresses = await self.documents.addresses()
        sent_by = answer.get("iss")
        if sent_by != self._settings.issuer and (sent_by is not None or addresses.names_itself):
            raise NotSignedInError(Refusal.FALSE, "the answer names another issuer")
        if "error" in answer:
            why = _SAID.get(answer["error"], Refusal.DECLINED)
            raise NotSignedInError(why, f"the issuer says {answer['error']!r:.80}")
        code = answer.get("code", "")
        if not 0 < len(code) <= _CODE_MAX:
            raise NotSignedInError(Refusal.FALSE, "the answer has no code")
        tokens = await self._tokens(addresses, code, ticket.verifier)
        claims = await checked(
            tokens,
            self.documents,
            issuer=self._settings.issuer,
            client_id=self._settings.client_id,
            nonce=ticket.nonce,
        )
        return admitted(claims, self._settings)

    async def _tokens(self, addresses: Addresses, code: str, verifier: str) -> Mapping[str, object]:
        """Exchange a code; only the gateway, with its secret and the verifier, can."""
        client, secret = self._settings.client_id, secret_of(self._settings)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.callback,
            "code_verifier": verifier,
        }
        auth = None
        if addresses.by_post:
            form |= {"client_id": client, "client_secret": secret}
        else:  # RFC 6749, 2.3.1: as in a form
            auth = httpx.BasicAuth(quote(client, safe=""), quote(secret, safe=""))
        status, told = await self._asking.post(addresses.token, form, auth)
        if status == httpx.codes.OK:
            return told
        words = f"status {status}, {told.get('error')!r:.80}"
        if status not in _REFUSALS:
            raise away(f"{addresses.token}: {words}")
        ours = told.get("error") in ("invalid_client", "unauthorized_client")
        why = Refusal.OURS if ours else Refusal.DECLINED
        raise NotSignedInError(why, f"the issuer gives no token: {words}")


def _trust(settings: OidcSettings) -> ssl.SSLContext:
    """Return the authorities to trust; an issuer without TLS is on this machine and needs none."""
    if settings.ca is None and not settings.issuer.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return RenewedContext.of(ClientFiles(settings.ca))


def secret_of(settings: OidcSettings) -> str:
    """Read the client's secret, which may have been replaced.

    Raises:
        NotSignedInError: The file is missing, empty, or for others to read.
    """
    path = settings.client_secret_file or Path()
    try:
        check_private("secret file", path)
        secret = path.read_text("utf-8").strip()
    except (OSError, ValueError, RejectedError) as error:
        raise NotSignedInError(Refusal.OURS, f"oidc.client_secret_file {path}: {error}") from error
    if not secret:
        raise NotSignedInError(Refusal.OURS, f"oidc.client_secret_file {path}: it is empty")
    return secret
