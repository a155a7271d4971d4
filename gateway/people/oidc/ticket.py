"""What a browser carries while its person is at the issuer: one secret, in a cookie.

State, nonce and PKCE verifier are derived from it, so that the gateway keeps nothing of a sign-in
that is under way, and no flood of them fills it. An answer counts only in the browser that began.

Source: OpenID Connect Core 1.0, 15.5.2; RFC 7636, 4.1; RFC 6749, 10.12.
"""

import base64
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Final, Self

LASTS_MAX_S: Final = 600
"""How long a person may take at the issuer, seconds."""
TO_MAX: Final = 512
"""The longest path to go to after signing in."""
_SECRET_CHARACTERS: Final = 43
_TICKET_MAX: Final = 1024


@dataclass(frozen=True, slots=True)
class Ticket:
    """A sign-in that is under way.

    Attributes:
        secret: Of the browser.
        began_s: When it began, UTC.
        to: The page to go to afterwards, a path of ours.
    """

    secret: str
    began_s: int
    to: str

    @classmethod
    def new(cls, to: str) -> Self:
        """Begin a sign-in."""
        return cls(secrets.token_urlsafe(32), int(time.time()), to)

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """Return the ticket that a cookie has, unless it is malformed or too old."""
        try:
            began, secret, to = (text or "")[:_TICKET_MAX].split(".")
            path = base64.urlsafe_b64decode(to.encode("ascii")).decode("ascii")
            young = -LASTS_MAX_S < time.time() - int(began) < LASTS_MAX_S
        except (ValueError, OverflowError):
            return None
        return (
            cls(secret, int(began), path) if young and len(secret) == _SECRET_CHARACTERS else None
        )

    def __str__(self) -> str:
        """Return what the cookie has."""
        to = base64.urlsafe_b64encode(self.to.encode("ascii")).decode("ascii")
        return f"{self.began_s}.{self.secret}.{to}"

    @property
    def state(self) -> str:
        """Return what the issuer has to send back."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """Return what the ID token has to have."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """Return the PKCE verifier."""
        return self._derived("verifier")

    def is_answered_by(self, state: str) -> bool:
        """Say whether an answer is to this very sign-in."""
        return hmac.compare_digest(self.state.encode(), state.encode())

    def _derived(self, use: str) -> str:
        made = hmac.digest(self.secret.encode(), f"wayseal {use}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(made).decode("ascii").rstrip("=")
