"""What an issuer publishes of itself: its addresses, and the keys that sign its ID tokens.

Both are kept for an hour. A token that names an unknown key has the keys fetched again: issuers
change them without notice. A failure is kept for a moment, so that an issuer that is away costs
each person no more than one sentence.

Source: OpenID Connect Discovery 1.0, 3 and 4; RFC 7517.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, KeySet, RSAKey, import_key

from gateway.oidcsettings import OidcSettings, is_safe
from gateway.people.oidc.asking import Asking, away
from gateway.people.oidc.refusals import NotSignedInError

KEPT_S: Final = 3600.0
FAILURE_KEPT_S: Final = 5.0
KEYS_AGAIN_S: Final = 30.0
"""Unknown keys have the keys fetched again no more often."""
KEYS_MAX: Final = 64
_RSA_BITS_LEAST: Final = 2048
_PATH: Final = "/.well-known/openid-configuration"

_FoundT = TypeVar("_FoundT")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where an issuer does what.

    Attributes:
        authorize: Where a person signs in.
        token: Where a code becomes tokens.
        keys: Where its keys are.
        by_post: Whether the client's secret goes into the form, not into a header.
        names_itself: Whether its answer in the browser has `iss` (RFC 9207).
    """

    authorize: str
    token: str
    keys: str
    by_post: bool
    names_itself: bool


class _Kept(Generic[_FoundT]):
    """What was fetched last, or why it could not be; fetched by one at a time."""

    def __init__(
        self, fetch: Callable[[], Awaitable[_FoundT]], clock_s: Callable[[], float]
    ) -> None:
        self._fetch = fetch
        self._clock_s = clock_s
        self._lock = asyncio.Lock()
        self._found: _FoundT | None = None
        self._failure: NotSignedInError | None = None
        self._at_s = 0.0

    async def get(self, lasts_s: float = KEPT_S) -> _FoundT:
        """Return what was found within that time, seconds, or fetch it."""
        async with self._lock:
            age_s = self._clock_s() - self._at_s
            if self._failure is not None and age_s < FAILURE_KEPT_S:
                raise NotSignedInError(self._failure.why, str(self._failure))
            if self._found is None or age_s >= lasts_s:
                self._found = None
                try:
                    self._found = await self._fetch()
                    self._failure = None
                except NotSignedInError as error:
                    self._failure = error
                    raise
                finally:
                    self._at_s = self._clock_s()
            return self._found


class Documents:
    """The documents of one issuer; for one event loop.

    Args:
        settings: The issuer.
        asking: How it is asked.
        clock_s: A clock that never goes back, seconds.
    """

    def __init__(
        self,
        settings: OidcSettings,
        asking: Asking,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._asking = asking
        self._addresses = _Kept(self._fetch_addresses, clock_s)
        self._keys = _Kept(self._fetch_keys, clock_s)

    async def addresses(self) -> Addresses:
        """Return the issuer's addresses.

        Raises:
            NotSignedInError: It does not answer, or says that it is another issuer.
        """
        return await self._addresses.get()

    async def keys(self) -> KeySet:
        """Return the keys that sign its tokens, at least one.

        Raises:
            NotSignedInError: It does not answer, or has no key that counts.
        """
        return await self._keys.get()

    async def key(self, kid: str | None) -> Key | None:
        """Return the key that a token names; None if the issuer does not publish that key.

        Before that answer the keys are fetched again, since the issuer may have changed them.

        Args:
            kid: As the token names it; None: it names none, so there must be one key alone.

        Raises:
            NotSignedInError: The issuer does not answer.
        """
        found = _chosen(await self.keys(), kid)
        return found or _chosen(await self._keys.get(KEYS_AGAIN_S), kid)

    async def _fetch_addresses(self) -> Addresses:
        issuer = self._settings.issuer
        told = await self._asking.get(issuer.rstrip("/") + _PATH)
        if told.get("issuer") != issuer:
            raise away(f"expected the issuer {issuer}, it says {str(told.get('issuer'))[:120]!r}")
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        authorize, token, keys = (_address(told, name, issuer) for name in names)
        ways = told.get("token_endpoint_auth_methods_supported")
        by_post = (
            isinstance(ways, list)
            and "client_secret_basic" not in ways
            and ("client_secret_post" in ways)
        )
        names_itself = told.get("authorization_response_iss_parameter_supported") is True
        return Addresses(authorize, token, keys, by_post, names_itself)

    async def _fetch_keys(self) -> KeySet:
        addresses = await self.addresses()
        told = (await self._asking.get(addresses.keys)).get("keys")
        if not isinstance(told, list) or len(told) > KEYS_MAX:
            raise away(f"{addresses.keys}: expected 1 to {KEYS_MAX} keys")
        found = [key for each in told if (key := _public(each)) is not None]
        if not found:
            raise away(f"{addresses.keys}: expected RSA or EC keys that sign, got none")
        return KeySet(found)


def _address(told: dict[str, Any], name: str, issuer: str) -> str:
    """Return an address; plain HTTP, on this machine, is for an issuer that is there itself."""
    url = told.get(name)
    if (
        not isinstance(url, str)
        or not url.isprintable()
        or not is_safe(url)
        or (issuer.startswith("https:") and not url.startswith("https:"))
    ):
        raise away(f"{name}: expected an https:// URL, got {str(url)[:120]!r}")
    return url


def _public(told: object) -> Key | None:
    """Return a key that may sign ID tokens; of another kind, or too short, it is left out."""
    if not isinstance(told, dict) or told.get("use", "sig") != "sig":
        return None
    if told.get("kty") not in ("RSA", "EC"):
        return None  # above all no shared secret: it would be published here
    try:
        key = import_key(told)
        long_enough = not isinstance(key, RSAKey) or key.public_key.key_size >= _RSA_BITS_LEAST
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return key if long_enough and isinstance(key, RSAKey | ECKey) else None


def _chosen(keys: KeySet, kid: str | None) -> Key | None:
    if kid is None:
        return keys.keys[0] if len(keys.keys) == 1 else None
    return next((each for each in keys if each.kid == kid), None)
