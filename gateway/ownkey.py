"""The gateway's own key, compared with what it signed before it signs anything.

One changed digit makes another valid key, and no truck accepts its receipts. So the public half is
kept beside it, in `gateway.pub`; where that differs or is missing, kept receipts and deletions tell
the key.
"""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.keys import Signer, SigningKey, is_point
from contracts.runtime.files import disk_errors, write_file
from gateway.settings import Settings
from storage.checked.damage import DamageNotes

PUBLIC_MODE: Final = 0o644
DATABASES: Final = ("inbox.db", "uploads.db", "deletions.db", "retention.db", "scrub.db")
"""What a gateway that has worked before has beside its key, besides `recordings`."""
_RESTORE: Final = "restore the key file"

_log: Final = logging.getLogger(__name__)


def load_key(settings: Settings) -> SigningKey:
    """Return the key that signs this gateway's receipts, from its file or its token.

    Raises:
        RejectedError: It is missing or invalid.
        UnavailableError: The token does not answer, or the medium failed.
    """
    if settings.hsm.module is None:
        return Signer.load(settings.key_file)
    try:
        # Imported late: only an installation with the extra has the library.
        from gateway.hsm import TokenKey  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise RejectedError(
            f"setting hsm.module: expected the extra hsm to be installed, {error.name} is missing"
        ) from error
    return TokenKey(settings.hsm)


def has_begun(settings: Settings) -> bool:
    """Say whether this gateway has had its key.

    Raises:
        UnavailableError: The medium failed.
    """
    token = settings.hsm.module is not None
    return _exists(public_file(settings) if token else settings.key_file)


def own_key(settings: Settings) -> SigningKey:
    """Return the key that signs this gateway's receipts; make it for a new gateway.

    Whether it is the same as before is for `check_key` to say, before anything is signed.

    Raises:
        RejectedError: The key file is invalid, or it is missing and trucks know the lost key.
        UnavailableError: The key file cannot be written, or the medium failed.
    """
    if settings.hsm.module is not None:
        return load_key(settings)
    if _exists(settings.data / "inbox.db") and not _exists(settings.key_file):
        raise RejectedError(
            f"key file {settings.key_file} is missing, but this gateway has worked before: restore "
            f"it, because trucks accept no receipt by another key"
        )
    return Signer.load_or_create(settings.key_file)


def shown_key(settings: Settings) -> SigningKey:
    """Return the key as `own_key` does, to show it to people.

    Raises:
        RejectedError: As by `own_key`, or the key's public half is another than the one kept.
        UnavailableError: The key file cannot be written.
    """
    signer = own_key(settings)
    known = kept_public_key(settings)
    if known not in {None, signer.public_key}:
        raise _another(
            settings,
            signer,
            f"{public_file(settings)} has {known}: start the gateway, which looks at what was "
            f"signed, or restore the file that is wrong",
        )
    return signer


def accept_key(settings: Settings) -> SigningKey:
    """Take the key in the key file or token as the gateway's own from now on, and return it.

    Raises:
        RejectedError: The key is missing or invalid.
        UnavailableError: The public half cannot be written, or the token does not answer.
    """
    signer = load_key(settings)
    _write(settings, signer)
    return signer


def check_key(
    settings: Settings, signer: SigningKey, signed_by: Callable[[], Iterable[str]]
) -> None:
    """Check that the key signed what is kept here, and keep its public half.

    Args:
        settings: The gateway's.
        signer: Its key.
        signed_by: Returns public keys of kept receipts and deletions; called only if they decide.

    Raises:
        RejectedError: Only other keys have signed them, or the kept public half is another one and
            they do not show that it is wrong.
        UnavailableError: The public half cannot be written.
    """
    known = kept_public_key(settings)
    if known == signer.public_key:
        return
    keys, path = set(signed_by()), public_file(settings)
    if keys and signer.public_key not in keys:
        signers = ", ".join(sorted(keys))
        raise _another(settings, signer, f"what is kept here was signed by {signers}: {_RESTORE}")
    if known in keys:  # the old key is back after a new one was accepted
        but = f"{path} has {known}, which signed what is kept here too: {_RESTORE}"
        raise _another(settings, signer, but)
    if known and not keys:
        but = f"{path} has {known}, and nothing is kept that was signed: restore the file that is"
        raise _another(settings, signer, f"{but} wrong, or delete {path.name} if that is it")
    if known:
        _log.warning(
            "%s had %s and is written again: %s signed what is kept here",
            path,
            known,
            _place(settings),
        )
    _write(settings, signer)


def note_missing(settings: Settings, damage: DamageNotes) -> None:
    """Note what is missing in the data directory of a gateway that has worked before.

    Raises:
        UnavailableError: The medium failed.
    """
    missing, is_new = _missing(settings)
    told = f"{', '.join(missing)} in {settings.data} begin empty beside a key that was there before"
    if missing and not is_new:
        damage.doubt(f"{told}: if they were not removed on purpose, a part of the data is lost")
    elif missing and _exists(settings.key_file):
        _log.warning("%s; that is right for a new gateway alone", told)


def lost_parts(settings: Settings) -> list[str]:
    """Return the names that are missing in the data directory of a gateway that worked before.

    Raises:
        UnavailableError: The medium failed.
    """
    missing, is_new = _missing(settings)
    return [] if is_new else missing


def _missing(settings: Settings) -> tuple[list[str], bool]:
    """Return what is missing in the data directory, and whether the gateway may be new."""
    names = (*DATABASES, "recordings")
    missing = [name for name in names if not _exists(settings.data / name)]
    return missing, len(missing) == len(names) and not _exists(public_file(settings))


def public_file(settings: Settings) -> Path:
    """Return the file with the public half of the key that the gateway last served with."""
    return settings.data / "gateway.pub"


def kept_public_key(settings: Settings) -> str | None:
    """Return the kept public key; None if it is missing or is not a public key."""
    try:
        text = public_file(settings).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if is_point(text) else None


def _exists(path: Path) -> bool:
    with disk_errors("look at", path):
        return path.exists()


def _write(settings: Settings, signer: SigningKey) -> None:
    path = public_file(settings)
    line = f"{signer.public_key}\n".encode("ascii")
    write_file(path, line, temporary=path.with_suffix(".new"), mode=PUBLIC_MODE)


def _place(settings: Settings) -> str:
    hsm = settings.hsm
    return f"key file {settings.key_file}" if hsm.module is None else f"token {hsm.token}"


def _another(settings: Settings, signer: SigningKey, but: str) -> RejectedError:
    return RejectedError(
        f"{_place(settings)} has the key with public half {signer.public_key}, but {but}"
        f"; trucks accept no receipt by another key; for a new key on purpose, run "
        f"wayseal-gateway key --accept"
    )
