"""The register of an authority: each certificate that it has issued, and which are revoked.

A revocation list is made of the register, so a lost register would admit revoked devices again. It
is therefore never made again by itself.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.files import OWNER_ONLY, write_file

KEPT_AFTER_END: Final = timedelta(days=30)
"""How long an expired certificate stays in the register."""
RENEW_AT: Final = 2 / 3
"""The part of its lifetime after which a certificate is renewed."""


class RevokedError(RejectedError):
    """The certificate that a device shows is revoked."""

    def __init__(self, device_id: str) -> None:
        """Name the device."""
        super().__init__(f"{device_id}: expected a certificate that is not revoked")


class Kind(StrEnum):
    """Whose certificate it is."""

    SERVER = "server"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Entry:
    """One certificate.

    Attributes:
        serial: Its serial number, hexadecimal.
        name: Its common name: a device id or the name of a server.
        kind: Whose it is.
        begins: From when on it holds, UTC.
        expires: Until when, UTC.
        sans: Further names of a server.
        files: Path of its files without their suffix; None if its key was made elsewhere.
        revoked: When it was revoked, UTC; None if it was not.
    """

    serial: str
    name: str
    kind: Kind
    begins: datetime
    expires: datetime
    sans: tuple[str, ...] = ()
    files: Path | None = None
    revoked: datetime | None = None

    def holds(self, now: datetime) -> bool:
        """Say whether it is neither revoked nor expired."""
        return self.revoked is None and now < self.expires

    def is_due(self, now: datetime) -> bool:
        """Say whether it is time to renew it."""
        return now >= self.begins + (self.expires - self.begins) * RENEW_AT

    def days_left(self, now: datetime) -> int:
        """Return the whole days until it expires; below 0 afterwards."""
        return (self.expires - now).days


class Register:
    """The register in one file; the caller holds the authority's lock while it changes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[Entry]:
        """Return all entries, in the order in which they were issued.

        Raises:
            RejectedError: The file is missing or damaged.
        """
        try:
            return [_entry(each) for each in json.loads(self._path.read_text("utf-8"))]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise RejectedError(
                f"register of certificates {self._path}: {error!r}; restore it from the backup: "
                f"without it nobody knows which certificates are revoked"
            ) from error

    def write(self, entries: Iterable[Entry], now: datetime) -> None:
        """Write all entries but those that expired long ago.

        Raises:
            UnavailableError: The file cannot be written; it is unchanged.
        """
        kept = [_document(each) for each in entries if now < each.expires + KEPT_AFTER_END]
        text = "[\n" + ",\n".join(map(json.dumps, kept)) + "\n]\n"
        draft = self._path.with_suffix(".new")
        write_file(self._path, text.encode(), temporary=draft, mode=OWNER_ONLY)


def is_revoked(entries: Iterable[Entry], serial: int | None) -> bool:
    """Say whether the certificate with a serial number is revoked."""
    return any(each.revoked and int(each.serial, 16) == serial for each in entries)


def revoke(entries: Iterable[Entry], serials: set[str], now: datetime) -> list[Entry]:
    """Return the entries, those with these serial numbers revoked."""
    return [
        replace(each, revoked=now) if each.serial in serials and each.revoked is None else each
        for each in entries
    ]


def _document(entry: Entry) -> dict[str, object]:
    times = {
        key: value.isoformat() if value else None
        for key, value in (
            ("begins", entry.begins),
            ("expires", entry.expires),
            ("revoked", entry.revoked),
        )
    }
    return asdict(entry) | times | {"files": str(entry.files) if entry.files else None}


def _entry(document: dict[str, str]) -> Entry:
    files, revoked = document["files"], document["revoked"]
    int(document["serial"], 16)
    return Entry(
        document["serial"],
        document["name"],
        Kind(document["kind"]),
        _time(document["begins"]),
        _time(document["expires"]),
        tuple(document["sans"]),
        Path(files) if files else None,
        _time(revoked) if revoked else None,
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
