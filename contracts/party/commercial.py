"""Price and payment terms: plain in a file of the parties, as salted hashes on the ledger.

All members read the ledger. Without the salt, anyone could test a guessed price
against its hash.
"""

import hashlib
import json
import secrets
from argparse import Namespace
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts import address
from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.party.cli import UsageError, read_document
from contracts.proto.state_pb2 import Delivery
from contracts.runtime.files import OWNER_ONLY, write_file
from contracts.text import is_text

SALT_BYTES: Final = 16
TEXT_CHARS_MAX: Final = 10_000
_FIELDS: Final = ("price", "payment_terms")
_FORM: Final = (
    "`delivery_id`, and `price` or `payment_terms` or both, "
    f"each with `text` and `salt` ({2 * SALT_BYTES} hexadecimal digits)"
)


def commit(text: str, salt: bytes) -> bytes:
    """Return the hash of `text` for the ledger: SHA-256 over salt and UTF-8 text, 32 bytes.

    Args:
        text: The text that both sides agreed on.
        salt: 16 random bytes, used for this text only.
    """
    return hashlib.sha256(salt + text.encode()).digest()


def matches(sha256: bytes, text: str, salt: bytes) -> bool:
    """Say whether `sha256`, from the ledger, is the hash of `text` with `salt`."""
    return len(salt) == SALT_BYTES and commit(text, salt) == sha256


@dataclass(frozen=True, slots=True)
class Commitments:
    """The hashes of a delivery for the ledger; empty where nothing was agreed."""

    price: bytes = b""
    payment_terms: bytes = b""


@dataclass(frozen=True, slots=True)
class _Secret:
    """One text and its salt."""

    text: str
    salt: bytes

    def __post_init__(self) -> None:
        text = self.text
        if not 1 <= len(text) <= TEXT_CHARS_MAX or not is_text(text):
            raise UsageError(
                f"price and payment terms are 1..{TEXT_CHARS_MAX} printable characters, "
                f"got {len(text)}: {text[:40]!r}"
            )

    def plain(self) -> dict[str, str]:
        return {"text": self.text, "salt": self.salt.hex()}


def commitments(
    delivery_id: str, path: Path | None, *, price: str | None, payment_terms: str | None
) -> Commitments:
    """Return the hashes of a delivery's price and payment terms; keep texts and salts in a file.

    A missing file is made, and is durable before anything is signed. An existing file is the one
    that the other side made; the arguments must agree with it.

    Args:
        delivery_id: The delivery.
        path: The file; None when no commercial field was agreed on.
        price: The text; None takes the file's.
        payment_terms: The text; None takes the file's.

    Raises:
        UsageError: File and arguments disagree, or the file is missing or not a commercial file.
        UnavailableError: The file cannot be written.
    """
    given = {"price": price, "payment_terms": payment_terms}
    texts = {name: text for name, text in given.items() if text is not None}
    if path is None:
        if texts:
            raise UsageError(
                "--commercial FILE is needed: without text and salt nothing can be proved"
            )
        return Commitments()
    if path.exists():
        kept = _read(path, delivery_id)
        _compare(path, kept, texts)
    else:
        kept = {
            name: _Secret(text, secrets.token_bytes(SALT_BYTES)) for name, text in texts.items()
        }
        _write(path, delivery_id, kept)
    return Commitments(**{name: commit(each.text, each.salt) for name, each in kept.items()})


def check_commercial(options: Namespace) -> dict[str, object]:
    """Compare a file with the ledger's hashes; return its texts.

    Raises:
        UsageError: The file is missing or is not a commercial file.
        RejectedError: A hash does not match.
        UnavailableError: The ledger did not answer.
    """
    kept = _read(options.commercial, options.id)
    delivery = _delivery(options.ledger, options.id)
    _check("price", delivery.terms.price_sha256, kept)
    _check("payment_terms", delivery.terms.payment_terms_sha256, kept)
    return {
        "matches": True,
        "delivery_id": options.id,
        **{name: each.text for name, each in kept.items()},
        "signed_by": list(delivery.signed_by),
    }


def _check(name: str, expected: bytes, kept: dict[str, _Secret]) -> None:
    secret = kept.get(name)
    if secret is None and not expected:
        return
    if secret is not None and matches(expected, secret.text, secret.salt):
        return
    actual = commit(secret.text, secret.salt).hex() if secret else "no such field"
    raise RejectedError(
        f"{name}: the ledger has {expected.hex() or 'no hash'}, the file gives {actual}"
    )


def _delivery(at: str | LedgerPlace, delivery_id: str) -> Delivery:
    with closing(LedgerClient(at)) as ledger:
        entry = ledger.state(address.delivery(delivery_id))
    if entry is None:
        raise RejectedError(f"delivery {delivery_id[:80]!r} is not on the ledger")
    return Delivery.FromString(entry)


def _compare(path: Path, kept: dict[str, _Secret], texts: dict[str, str]) -> None:
    for name, text in texts.items():
        if name not in kept or kept[name].text != text:
            found = repr(kept[name].text[:80]) if name in kept else "absent"
            raise UsageError(f"{path}: its {name} is {found}, the argument says {text[:80]!r}")


def _write(path: Path, delivery_id: str, kept: dict[str, _Secret]) -> None:
    if not kept:
        raise UsageError(f"{path} is missing: --price or --payment-terms makes it")
    document = {"delivery_id": delivery_id, **{name: each.plain() for name, each in kept.items()}}
    wire = json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"
    write_file(path, wire, temporary=path.with_name(f".{path.name}.new"), mode=OWNER_ONLY)


def _read(path: Path, delivery_id: str) -> dict[str, _Secret]:
    document = read_document(path)
    try:
        found = document.pop("delivery_id")
        kept = {name: _secret(**each) for name, each in document.items()}
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: expected {_FORM}: {error!r:.200}") from error
    if not kept or not kept.keys() <= set(_FIELDS):
        raise UsageError(f"{path}: expected {_FORM}, got {', '.join(kept)[:80]!r}")
    if found != delivery_id:
        raise UsageError(f"{path} is of delivery {found!r:.80}, expected {delivery_id[:80]!r}")
    return kept


def _secret(text: Any, salt: Any) -> _Secret:  # noqa: ANN401 - whatever JSON holds
    made = bytes.fromhex(salt)
    if not isinstance(text, str) or len(made) != SALT_BYTES:
        raise ValueError(salt)
    return _Secret(text, made)
