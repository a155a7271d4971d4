"""The key of receipts in a PKCS#11 token: it signs there, and nobody can copy it.

Adapter: the only importer of `pkcs11`, which the extra `hsm` brings.

Source: PKCS#11 2.40, CKM_ECDSA; SEC 2, 2.4.1 (secp256k1).
"""

import hashlib
import threading
from contextlib import suppress
from typing import Any, Final

import pkcs11
from pkcs11 import exceptions

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import compressed, low_s, verify
from contracts.runtime.files import check_private
from gateway.tlssettings import HsmSettings

SECP256K1: Final = bytes.fromhex("06052b8104000a")
"""The object identifier 1.3.132.0.10, DER."""
_OCTET_STRING: Final = b"\x04\x41"
"""Begins the DER of a point; some tokens leave it out."""
_POINT_BYTES: Final = 65
_BY_HAND: Final = (
    exceptions.PinIncorrect,
    exceptions.PinInvalid,
    exceptions.PinLenRange,
    exceptions.PinExpired,
    exceptions.PinLocked,
    exceptions.UserPinNotInitialized,
)
"""A token counts wrong PINs and locks itself, so that none is sent twice."""


class TokenKey:
    """A key pair in a token; implements `contracts.keys.SigningKey`.

    A session that was lost is opened again, once for each signature.

    Args:
        settings: Module, token, label and PIN file, all given.

    Attributes:
        public_key: See `SigningKey`.

    Raises:
        RejectedError: The module, PIN or key is invalid.
        UnavailableError: The token does not answer.
    """

    def __init__(self, settings: HsmSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._session: Any = None
        self._private: Any = None
        self._refused: RejectedError | None = None
        self.public_key = ""
        with self._lock:
            self._open()

    def __str__(self) -> str:
        return f"key {self._settings.key} of token {self._settings.token}"

    def sign(self, message: bytes) -> str:
        """See `SigningKey.sign`."""
        digest = hashlib.sha256(message).digest()
        with self._lock:
            try:
                made = self._sign(digest)
            except pkcs11.PKCS11Error:
                self._close()
                try:
                    self._open()
                    made = self._sign(digest)
                except pkcs11.PKCS11Error as error:
                    raise UnavailableError(f"{self} does not sign: {error!r}") from error
        signature = low_s(made)
        if not verify(self.public_key, signature, message):
            raise UnavailableError(f"{self} made a signature that does not match its public half")
        return signature

    def _sign(self, digest: bytes) -> bytes:
        if self._private is None:
            self._open()
        return bytes(self._private.sign(digest, mechanism=pkcs11.Mechanism.ECDSA))

    def _open(self) -> None:
        """Log in and find the key pair."""
        if self._refused is not None:
            raise self._refused
        pin = _pin(self._settings)
        try:
            self._session = self._logged_in(pin)
            self._private = self._find(pkcs11.ObjectClass.PRIVATE_KEY)
            public = self._public_key()
        except _BY_HAND as error:
            self._refused = RejectedError(
                f"token {self._settings.token} refuses the PIN of {self._settings.pin_file}: "
                f"{error!r}; mend it and start again"
            )
            raise self._refused from error
        except (exceptions.NoSuchToken, exceptions.TokenNotPresent) as error:
            raise UnavailableError(f"token {self._settings.token} is not there") from error
        except WaysealError:
            self._close()
            raise
        except pkcs11.PKCS11Error as error:
            self._close()
            raise UnavailableError(f"{self} does not answer: {error!r}") from error
        if self.public_key not in {"", public}:
            self._close()
            raise RejectedError(f"{self}: expected public half {self.public_key}, got {public}")
        self.public_key = public

    def _logged_in(self, pin: str) -> Any:  # noqa: ANN401  # the library has no types here
        try:
            library = pkcs11.lib(str(self._settings.module))
        except (pkcs11.PKCS11Error, RuntimeError) as error:
            raise RejectedError(f"hsm.module {self._settings.module}: {error}") from error
        token = library.get_token(token_label=self._settings.token)
        try:
            return token.open(user_pin=pin)
        except exceptions.UserAlreadyLoggedIn:  # a login is the process's, not the session's
            return token.open()

    def _find(self, kind: pkcs11.ObjectClass) -> Any:  # noqa: ANN401  # the library has no types here
        name = "private" if kind is pkcs11.ObjectClass.PRIVATE_KEY else "public"
        try:
            return self._session.get_key(object_class=kind, label=self._settings.key)
        except (exceptions.NoSuchKey, exceptions.MultipleObjectsReturned) as error:
            raise RejectedError(
                f"token {self._settings.token}: expected one {name} key with label "
                f"{self._settings.key!r}, got {error!r}"
            ) from error

    def _public_key(self) -> str:
        found = self._find(pkcs11.ObjectClass.PUBLIC_KEY)
        curve = bytes(found[pkcs11.Attribute.EC_PARAMS])
        if curve != SECP256K1:
            raise RejectedError(
                f"{self}: expected a key on secp256k1 ({SECP256K1.hex()}), got {curve[:32].hex()}"
            )
        point = bytes(found[pkcs11.Attribute.EC_POINT])
        return compressed(
            point if len(point) == _POINT_BYTES else point.removeprefix(_OCTET_STRING)
        )

    def _close(self) -> None:
        session, self._session, self._private = self._session, None, None
        if session is not None:
            with suppress(pkcs11.PKCS11Error):
                session.close()


def _pin(settings: HsmSettings) -> str:
    """Read the PIN.

    Raises:
        RejectedError: The file is missing, empty, or for others to read.
    """
    path = settings.pin_file
    try:
        if path is None:
            raise RejectedError("hsm.pin_file: expected a file, got none")
        check_private("PIN file", path)
        pin = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise RejectedError(f"hsm.pin_file {path}: {error}") from error
    if not pin:
        raise RejectedError(f"hsm.pin_file {path}: expected a PIN, got an empty file")
    return pin
