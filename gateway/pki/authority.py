"""An authority in its folder: its key, its certificate, its register and its revocation list."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.runtime.files import (
    OWNER_ONLY,
    check_private,
    in_turn,
    make_directory,
    write_file,
)
from gateway.pki.certificates import (
    Issuer,
    PublicKey,
    SigningKey,
    check_san,
    fingerprint,
    new_key,
    utc_now,
)
from gateway.pki.register import (
    Entry,
    Kind,
    Register,
    RevokedError,
    is_revoked,
    revoke,
)

CRL_EVERY: Final = timedelta(days=1)
"""Age at which the revocation list is made again."""
_READABLE: Final = 0o644


@dataclass(frozen=True, slots=True)
class Paths:
    """The files of an authority in its folder."""

    folder: Path

    @property
    def key(self) -> Path:
        """The authority's own key."""
        return self.folder / "ca.key"

    @property
    def certificate(self) -> Path:
        """Its certificate, which all others trust."""
        return self.folder / "ca.crt"

    @property
    def crl(self) -> Path:
        """Its revocation list."""
        return self.folder / "crl.pem"

    @property
    def register(self) -> Path:
        """What it has issued."""
        return self.folder / "register.json"

    @property
    def lock(self) -> Path:
        """Held while anything is issued or revoked."""
        return self.folder / "lock"


class Authority:
    """Issues, renews and revokes certificates; several processes may do so in turn."""

    def __init__(self, folder: Path) -> None:
        """Open the authority in `folder`.

        Raises:
            RejectedError: It is missing, its key is for another certificate, or others may read it.
        """
        self.paths = Paths(folder)
        if not self.paths.key.exists():
            raise RejectedError(
                f"no certificate authority in {folder}: expected {self.paths.key.name}; "
                f"`wayseal-gateway pki init` makes one"
            )
        self._issuer = load_issuer(self.paths.certificate, self.paths.key)
        self._register = Register(self.paths.register)

    @classmethod
    def make(cls, folder: Path, issuer: Issuer, chain: bytes = b"") -> Self:
        """Make the folder of a new authority, with its first revocation list.

        The key is written last: without it the folder is not an authority, and the next call makes
        one.

        Args:
            folder: Where; it must not have an authority.
            issuer: The authority.
            chain: Certificates of the authorities above it, PEM.

        Raises:
            RejectedError: There is an authority already.
            UnavailableError: A file cannot be written.
        """
        paths, now = Paths(folder), utc_now()
        make_directory(folder)
        with in_turn(paths.lock):
            if paths.key.exists():
                raise RejectedError(
                    f"{paths.key} exists and is not overwritten: every certificate would have to "
                    f"be made again; for another authority use another folder"
                )
            own = issuer.certificate.public_bytes(Encoding.PEM)
            _write(paths.certificate, own + chain, _READABLE)
            Register(paths.register).write([], now)
            crl = issuer.revocations([], None, now)
            _write(paths.crl, crl.public_bytes(Encoding.PEM), _READABLE)
            _write(paths.key, pem_of(issuer.key), OWNER_ONLY)
        return cls(folder)

    @property
    def certificate(self) -> x509.Certificate:
        """The authority's certificate."""
        return self._issuer.certificate

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of its certificate, 64 hexadecimal digits."""
        return fingerprint(self._issuer.certificate)

    def entries(self) -> list[Entry]:
        """Return what was issued.

        Raises:
            RejectedError: The register is missing or damaged.
        """
        return self._register.read()

    def server(self, name: str, sans: Sequence[str], out: Path) -> Entry:
        """Make key and certificate of a server.

        Args:
            name: The common name, also its first host name or address.
            sans: Further host names and addresses.
            out: Where to write NAME.crt, NAME.key, and NAME.pem with both, as Cassandra wants it.

        Raises:
            RejectedError: A name is malformed, or has a certificate, or the files exist.
            UnavailableError: A file cannot be written.
        """
        check_id("server", name)
        names = [check_san(text) for text in (name, *sans)]
        return self._make(name, Kind.SERVER, tuple(names[1:]), out)

    def device(self, device_id: str, out: Path) -> Entry:
        """Make key and certificate of a device here; `sign` is for a key that its device made.

        Raises:
            RejectedError: The id is malformed, or has a certificate, or the files exist.
            UnavailableError: A file cannot be written.
        """
        return self._make(check_id("device", device_id), Kind.DEVICE, (), out)

    def sign(
        self, public_key: PublicKey, device_id: str, shown: int | None = None
    ) -> x509.Certificate:
        """Issue a certificate for a device that has the private key; earlier ones hold on.

        Args:
            public_key: The device's.
            device_id: The device.
            shown: Serial number of the certificate by which it asks; None: it asks by another way.

        Raises:
            RejectedError: A server has that name.
            RevokedError: The certificate that it shows was revoked, perhaps this very moment.
            UnavailableError: The register cannot be written; nothing was issued.
        """
        now = utc_now()
        with self._changing(now) as entries:
            _check_kind(entries, device_id, Kind.DEVICE)
            if is_revoked(entries, shown):
                raise RevokedError(device_id)
            certificate = self._issuer.device(public_key, device_id, now)
            entries.append(_entry_of(certificate, device_id, Kind.DEVICE, (), None))
        return certificate

    def renew(self, entry: Entry) -> Entry:
        """Issue a certificate like `entry` for the same key, in place of its file.

        Raises:
            RejectedError: The key is elsewhere, or the entry was revoked.
            UnavailableError: A file cannot be written.
        """
        if entry.revoked:
            raise RejectedError(f"{entry.name}: expected a certificate that is not revoked")
        if entry.files is None:
            raise RejectedError(f"{entry.name}: its key is on the device, which renews it itself")
        key = load_key(_suffixed(entry.files, "key"))
        now = utc_now()
        with self._changing(now) as entries:
            certificate = self._leaf(key.public_key(), entry.name, entry.kind, entry.sans, now)
            made = _entry_of(certificate, entry.name, entry.kind, entry.sans, entry.files)
            # The old one holds until it expires, but is nobody's to renew.
            entries[:] = [
                replace(each, files=None) if each.files == entry.files else each for each in entries
            ]
            entries.append(made)
        _write_leaf(entry.files, certificate, key)
        return made

    def revoke(self, names: Sequence[str]) -> list[Entry]:
        """Revoke every certificate of these names that holds, and write the revocation list.

        A repeat after a cut revokes nothing more, and writes the list that the cut kept back.

        Returns:
            What it revoked, as it was before; of a name that was revoked earlier, what was.

        Raises:
            RejectedError: A name has no certificate of either kind; nothing is revoked.
            UnavailableError: A file cannot be written.
        """
        now = utc_now()
        found: list[Entry] = []
        with self._changing(now) as entries:
            for name in dict.fromkeys(names):
                own = [each for each in entries if each.name == name]
                holding = [each for each in own if each.holds(now)]
                gone = holding or [each for each in own if each.revoked]
                found += gone
                if not gone:
                    raise RejectedError(
                        f"no certificate of {name} holds; `wayseal-gateway pki list` shows them"
                    )
            entries[:] = revoke(entries, {each.serial for each in found}, now)
        self.write_crl()
        return found

    def write_crl(self) -> x509.CertificateRevocationList:
        """Write a new revocation list.

        Raises:
            RejectedError: The register is missing or damaged.
            UnavailableError: The list cannot be written; the file is the old one.
        """
        now = utc_now()
        with in_turn(self.paths.lock):
            revoked = [
                (int(each.serial, 16), each.revoked, each.name)
                for each in self._register.read()
                if each.revoked and now < each.expires
            ]
            crl = self._issuer.revocations(revoked, self._crl(), now)
            _write(self.paths.crl, crl.public_bytes(Encoding.PEM), _READABLE)
        return crl

    def crl_is_due(self, now: datetime) -> bool:
        """Say whether the revocation list is missing, damaged, or a day old."""
        crl = self._crl()
        return crl is None or now - crl.last_update_utc >= CRL_EVERY

    def _make(self, name: str, kind: Kind, sans: tuple[str, ...], out: Path) -> Entry:
        now, stem = utc_now(), out.absolute() / name
        with self._changing(now) as entries:
            _check_kind(entries, name, kind)
            if any(each.name == name and each.holds(now) for each in entries):
                raise RejectedError(
                    f"{name} has a certificate that holds: renew it (wayseal-gateway pki renew "
                    f"{name}), or revoke it first"
                )
            key_file = _suffixed(stem, "key")
            if key_file.exists():
                raise RejectedError(f"{key_file} exists and is not overwritten")
            key = new_key()
            _write(key_file, pem_of(key), OWNER_ONLY)
            certificate = self._leaf(key.public_key(), name, kind, sans, now)
            made = _entry_of(certificate, name, kind, sans, stem)
            entries.append(made)
        _write_leaf(stem, certificate, key)  # nothing is in use that the register does not know
        return made

    def _leaf(
        self, key: PublicKey, name: str, kind: Kind, sans: Sequence[str], now: datetime
    ) -> x509.Certificate:
        if kind is Kind.SERVER:
            return self._issuer.server(key, name, sans, now)
        return self._issuer.device(key, name, now)

    def _crl(self) -> x509.CertificateRevocationList | None:
        try:
            return x509.load_pem_x509_crl(self.paths.crl.read_bytes())
        except (OSError, ValueError):
            return None  # the register has all that it said

    @contextmanager
    def _changing(self, now: datetime) -> Iterator[list[Entry]]:
        """Yield the entries to be changed, and write them after the block."""
        with in_turn(self.paths.lock):
            entries = self._register.read()
            yield entries
            self._register.write(entries, now)


def load_issuer(certificate: Path, key: Path) -> Issuer:
    """Read an authority's certificate and key.

    Raises:
        RejectedError: A file is unreadable or malformed, they do not belong together, it is the
            certificate of no authority, or others may read the key.
    """
    signing = load_key(key)
    try:
        found = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
        is_ca = found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (OSError, ValueError, x509.ExtensionNotFound) as error:
        raise RejectedError(
            f"certificate authority {certificate}: expected its certificate, PEM, got {error}"
        ) from error
    if not is_ca:
        raise RejectedError(f"{certificate}: expected the certificate of an authority (CA:TRUE)")
    if found.public_key() != signing.public_key():
        raise RejectedError(f"{key} is not the key of {certificate}")
    return Issuer(signing, found)


def load_key(path: Path) -> SigningKey:
    """Read an EC or RSA key without password, PEM.

    Raises:
        RejectedError: It is missing, malformed, of another kind, or others may read it.
    """
    try:
        check_private("key", path)
        key = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise RejectedError(f"key {path}: {error}") from error
    if not isinstance(key, (ec.EllipticCurvePrivateKey, rsa.RSAPrivateKey)):
        raise RejectedError(f"key {path}: expected an EC or RSA key, got another kind")
    return key


def pem_of(key: SigningKey) -> bytes:
    """Return a key in PKCS #8 form, PEM, without password."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _check_kind(entries: Sequence[Entry], name: str, kind: Kind) -> None:
    """Check that no device takes the name of a server, nor the other way round.

    Brokers and gateways go by the name, and a server could speak for the device.
    """
    for each in entries:
        if each.name == name and each.kind is not kind and each.revoked is None:
            raise RejectedError(
                f"{name} is the name of a {each.kind}: expected a {kind} with another name, or "
                f"revoke that certificate first"
            )


def _entry_of(
    certificate: x509.Certificate, name: str, kind: Kind, sans: tuple[str, ...], files: Path | None
) -> Entry:
    return Entry(
        f"{certificate.serial_number:x}",
        name,
        kind,
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
        sans,
        files,
    )


def _write_leaf(stem: Path, certificate: x509.Certificate, key: SigningKey) -> None:
    """Write a certificate, alone and in one file with its key."""
    pem = certificate.public_bytes(Encoding.PEM)
    _write(_suffixed(stem, "pem"), pem_of(key) + pem, OWNER_ONLY)
    _write(_suffixed(stem, "crt"), pem, _READABLE)


def _suffixed(stem: Path, suffix: str) -> Path:
    """Return a path with a suffix; names of servers have dots of their own."""
    return stem.with_name(f"{stem.name}.{suffix}")


def _write(path: Path, data: bytes, mode: int) -> None:
    write_file(path, data, temporary=path.with_name(path.name + ".new"), mode=mode)
