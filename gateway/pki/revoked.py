"""Which certificates a revocation list names; and until when the list may be used."""

from datetime import datetime
from pathlib import Path

from cryptography import x509

from contracts.errors import RejectedError
from gateway.pki.certificates import revoked_name


def revoked_serials(path: Path) -> frozenset[int]:
    """Return the serial numbers in a revocation list.

    Raises:
        RejectedError: It cannot be read.
    """
    return frozenset(each.serial_number for each in _list(path))


def revoked_names(path: Path) -> dict[int, str]:
    """Return the common names in a revocation list by serial number; empty where it tells none.

    Raises:
        RejectedError: It cannot be read.
    """
    return {each.serial_number: revoked_name(each) for each in _list(path)}


def next_update(path: Path) -> datetime | None:
    """Return until when a revocation list may be used, UTC; None: for ever.

    Raises:
        RejectedError: It cannot be read.
    """
    return _list(path).next_update_utc


def _list(path: Path) -> x509.CertificateRevocationList:
    try:
        return x509.load_pem_x509_crl(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RejectedError(f"revocation list {path}: {error}") from error
