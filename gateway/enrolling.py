"""Admits devices: checks their keys on the ledger, keeps their tokens, signs their certificates."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.hazmat.primitives.serialization.pkcs7 import serialize_certificates

from contracts import address
from contracts.encoding import parse
from contracts.enrolment import Enrolment
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.proto.state_pb2 import Key
from gateway.access import Tokens
from gateway.mosquitto.folder import write as write_mosquitto
from gateway.pki.authority import Authority
from gateway.pki.certificates import requested
from gateway.pki.claims import ClaimCodes, Guesses, WrongClaimError
from gateway.pki.register import RevokedError, is_revoked
from gateway.pki.revoked import revoked_serials
from gateway.pki.unregistered import Unregistered
from gateway.settings import Settings

_log = logging.getLogger(__name__)


class NoAuthorityError(RejectedError):
    """This gateway has no certificate authority."""


class TooManyGuessesError(UnavailableError):
    """Too many wrong claim codes came lately."""


class Enrolling:
    """Enrols devices over the network, several at once.

    Args:
        settings: Of the gateway.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._claims = ClaimCodes(settings.claims_file)
        self._guesses = Guesses(time.monotonic)
        self._lock = threading.Lock()

    def authorities(self) -> bytes:
        """Return the authority's certificate, PKCS #7, DER.

        Raises:
            NoAuthorityError: It is not at this gateway.
        """
        return serialize_certificates([self._authority().certificate], Encoding.DER)

    def enrol(
        self, device_id: str, code: str, request: bytes, enrolment: Enrolment | None
    ) -> bytes:
        """Sign a device's first certificate and, with an enrolment, admit its token.

        Args:
            device_id: The device.
            code: Its claim code.
            request: PKCS #10, DER.
            enrolment: For this site, signed by the device's key on the ledger.

        Returns:
            The certificate, PKCS #7, DER.

        Raises:
            WrongClaimError: The code is wrong.
            TooManyGuessesError: Too many codes were wrong lately.
            NoAuthorityError: The authority is not at this gateway.
            RejectedError: Request or enrolment is invalid, or the ledger has another key.
            UnavailableError: The ledger does not answer, or a file cannot be written.
        """
        authority = self._authority()
        with self._spending(device_id, code):
            signed = self._admit(authority, device_id, request, enrolment)
        _log.info("device %s is enrolled with a certificate", device_id)
        return signed

    def begin(
        self, device_id: str, code: str, request: bytes, enrolment: Enrolment
    ) -> tuple[bytes, bool]:
        """Sign a new truck's certificate, and admit it if the ledger has its key already.

        Returns:
            The certificate, PKCS #7, DER, and whether the truck is admitted.

        Raises:
            WrongClaimError: See `enrol`, also for the others.
            TooManyGuessesError: Too many codes were wrong lately.
            NoAuthorityError: The authority is not at this gateway.
            RejectedError: Request or enrolment is invalid.
            UnavailableError: The ledger does not answer, or a file cannot be written.
        """
        authority = self._authority()
        with self._spending(device_id, code):
            self._check_ours(device_id, enrolment)
            signed = _signed(authority, device_id, request)
            admitted = self.admit(device_id, enrolment)
        _log.info("device %s is enrolled with a certificate", device_id)
        return signed, admitted

    def admit(self, device_id: str, enrolment: Enrolment, shown: int | None = None) -> bool:
        """Admit a device that has proved its id, if the ledger has its key; say whether it has.

        Args:
            device_id: The device.
            enrolment: For this site, signed by the device's key.
            shown: Serial number of the certificate by which it asks; None: it has a claim code.

        Raises:
            RejectedError: The enrolment is another device's, or for another site.
            RevokedError: The certificate is revoked; the device's token counts no more.
            UnavailableError: The ledger does not answer, or a file cannot be read or written.
        """
        self._check_ours(device_id, enrolment)
        self._check_holds(device_id, shown)
        admitted = self._admit_by_key(device_id, enrolment)
        try:
            # A revocation writes the list first and drops the token then. So a token that was
            # kept after that meets the list here.
            self._check_holds(device_id, shown)
        except WaysealError:
            tokens = Tokens(self._settings.tokens_file)
            if admitted and tokens.has(enrolment):
                with suppress(RejectedError):  # the revocation was faster
                    tokens.revoke([device_id])
                self._tell_mosquitto(device_id)
            raise
        return admitted

    def _admit_by_key(self, device_id: str, enrolment: Enrolment) -> bool:
        tokens = Tokens(self._settings.tokens_file)
        waiting = Unregistered(self._settings.waiting_file)
        if tokens.has(enrolment):
            return True
        try:
            check_keys([enrolment], self._settings.ledger.place)
        except RejectedError as error:
            waiting.add(device_id, enrolment.public_key)
            _log.warning("device %s is not admitted yet: %s", device_id, error)
            return False
        tokens.enrol([enrolment])
        waiting.forget(device_id)
        self._tell_mosquitto(device_id)
        _log.info("device %s is admitted", device_id)
        return True

    @contextmanager
    def _spending(self, device_id: str, code: str) -> Iterator[None]:
        """Use a claim code up with the block; wrong ones are counted."""
        with self._lock:  # so that many connections at once do not get more guesses
            if self._guesses.are_too_many():
                raise TooManyGuessesError("too many wrong claim codes; try again in a minute")
            try:
                with self._claims.spending(device_id, code):
                    yield
            except WrongClaimError:
                self._guesses.note()
                _log.warning("a wrong claim code came for device %s", device_id)
                raise

    def _check_ours(self, device_id: str, enrolment: Enrolment) -> None:
        if (enrolment.device_id, enrolment.site_id) != (device_id, self._settings.site_id):
            raise RejectedError(
                f"expected the enrolment of {device_id} for site {self._settings.site_id}, got "
                f"that of {enrolment.device_id} for {enrolment.site_id}"
            )

    def renew(self, device_id: str, request: bytes, shown: int) -> bytes:
        """Sign another certificate for a device that has shown one; see `enrol`.

        Raises:
            RevokedError: The one with that serial number is revoked.
        """
        return _signed(self._authority(), device_id, request, shown)

    def _check_holds(self, device_id: str, shown: int | None) -> None:
        """Check that a certificate is not revoked at this moment.

        REST looks at its revocation list only every few seconds. In that time a stolen truck must
        not get what outlives the list: a token here, or another certificate.
        """
        if shown is None:
            return
        crl = self._settings.tls.crl
        try:
            is_gone = crl is not None and shown in revoked_serials(crl)
            if not is_gone and has_authority(self._settings):
                is_gone = is_revoked(self._authority().entries(), shown)
        except RejectedError as error:
            _log.warning("nobody is admitted by certificate: %s", error)
            raise UnavailableError(
                "the gateway cannot read which certificates are revoked; see its log"
            ) from error
        if is_gone:
            raise RevokedError(device_id)

    def _admit(
        self, authority: Authority, device_id: str, request: bytes, enrolment: Enrolment | None
    ) -> bytes:
        if enrolment is not None:
            self._check_ours(device_id, enrolment)
            check_keys([enrolment], self._settings.ledger.place)
        signed = _signed(authority, device_id, request)
        if enrolment is not None:
            Tokens(self._settings.tokens_file).enrol([enrolment])
            self._tell_mosquitto(device_id)
        return signed

    def _tell_mosquitto(self, device_id: str) -> None:
        if self._settings.mosquitto.folder is None:
            return
        try:
            write_mosquitto(self._settings)
        except WaysealError as error:
            _log.warning(
                "mosquitto does not know device %s yet (%s): run `wayseal-gateway mosquitto` as "
                "root",
                device_id,
                error,
            )

    def _authority(self) -> Authority:
        if not has_authority(self._settings):
            raise NoAuthorityError("the certificate authority is not at this gateway")
        return Authority(self._settings.pki_dir)


def has_authority(settings: Settings) -> bool:
    """Say whether the network's certificate authority is at this gateway."""
    return (settings.pki_dir / "ca.key").exists()


def check_keys(enrolments: Sequence[Enrolment], at: LedgerPlace) -> None:
    """Check that the ledger has each key as that device's today.

    Args:
        enrolments: Of devices.
        at: The ledger.

    Raises:
        RejectedError: It does not.
        UnavailableError: The ledger does not answer.
    """
    with closing(LedgerClient(at)) as ledger:
        for each in enrolments:
            wire = ledger.state(address.key(each.public_key))
            key = parse(Key, wire) if wire else Key()
            owner = key.owner == Key.DEVICE and key.owner_id == each.device_id
            if not owner or key.revoked:
                raise RejectedError(
                    f"enrolment of {each.device_id}: expected a key that the ledger has as that "
                    f"device's, got {each.public_key}"
                    + (", which is revoked" if owner else "; register the device first")
                )


def _signed(
    authority: Authority, device_id: str, request: bytes, shown: int | None = None
) -> bytes:
    key, asked = requested(request)
    if asked != device_id:
        raise RejectedError(
            f"certificate request: expected the common name {device_id}, got {asked}"
        )
    return serialize_certificates([authority.sign(key, device_id, shown)], Encoding.DER)
