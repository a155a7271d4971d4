"""The manifest of a backup: what it is of, and every file with its SHA-256.

    {"format": 1, "sha256": of the manifest as canonical JSON, "manifest": {…}}

So a manifest that rotted is found too. Canonical JSON has sorted keys and no spaces.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from contracts.errors import RejectedError
from contracts.runtime.files import disk_errors

FORMAT: Final = 1
FILE: Final = "manifest.json"
MANIFEST_BYTES_MAX: Final = 1 << 30
PERMISSIONS: Final = 0o777


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of a backup.

    Attributes:
        path: Where it is in the backup, with slashes.
        target: Where it belongs: below the data directory, or an absolute path.
        offset: Where its bytes begin in the target, which may be stored in several files.
        size: Bytes.
        sha256: Of its bytes, 64 hexadecimal digits.
        mode: Permissions of the target.
    """

    path: str
    target: str
    offset: int
    size: int
    sha256: str
    mode: int

    @property
    def is_elsewhere(self) -> bool:
        """Say whether it belongs outside the data directory."""
        return self.target.startswith("/")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup is of, and its files.

    Attributes:
        of: `gateway` or `node`.
        name: Of the gateway its site, of the node its public key.
        host: The machine's name.
        data: Its data directory.
        version: Of the program that made the backup.
        made_ms: When it was begun, UTC.
        keys: Public keys of the private keys in it, by file.
        ledger: What is known of the ledger, such as the newest block.
        files: All files but the manifest.
        left_out: Files that a restore will lack, each with the reason.
    """

    of: str
    name: str
    host: str
    data: str
    version: str
    made_ms: int
    keys: Mapping[str, str]
    ledger: Mapping[str, Any]
    files: tuple[StoredFile, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the bytes of all files together."""
        return sum(each.size for each in self.files)

    def encode(self) -> bytes:
        """Return the content of the manifest's file."""
        body = asdict(self)
        document = {"format": FORMAT, "sha256": _digest(body), "manifest": body}
        return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"

    @classmethod
    def read(cls, backup: Path) -> Self:
        """Read the manifest of a backup.

        Raises:
            RejectedError: It is missing, damaged, or of a newer format.
            UnavailableError: The medium failed.
        """
        path = backup / FILE
        if not path.is_file():
            raise RejectedError(f"expected a backup in {backup}, got no {FILE} there")
        with disk_errors("read", path), path.open("rb") as file:
            wire = file.read(MANIFEST_BYTES_MAX)
        try:
            document = json.loads(wire)
            if document["format"] != FORMAT:
                raise RejectedError(
                    f"{path}: expected format {FORMAT}, got {str(document['format'])[:20]}: a "
                    "newer program wrote it"
                )
            body = document["manifest"]
            if _digest(body) != document["sha256"]:
                raise RejectedError(f"{path}: its bytes do not match their SHA-256: it is damaged")
            files = tuple(StoredFile(**each) for each in body.pop("files"))
            made = cls(**body, files=files)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise RejectedError(f"{path} is damaged: {error!r}") from error
        for each in files:
            _check_paths(path, each)
        return made


def _check_paths(manifest: Path, file: StoredFile) -> None:
    """Check that a restore stays in its directories."""
    inside = [PurePosixPath(file.path)]
    if not file.is_elsewhere:
        inside.append(PurePosixPath(file.target))
    for path in inside:
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise RejectedError(f"{manifest}: expected a path within the backup, got {str(path)!r}")


def _digest(body: object) -> str:
    wire = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(wire).hexdigest()
