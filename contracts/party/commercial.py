"""Price and payment terms in plain, in a file of the parties'; the ledger has their hashes."""

import json
import secrets
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts import address
from contracts.errors import RejectedError
from contracts.files import OWNER_ONLY, write_file
from contracts.ledger import LedgerClient
from contracts.party.command import UsageError
from contracts.party.files import read_document
from contracts.proto.state_pb2 import Delivery
from contracts.records.commercial import SALT_BYTES, commit, matches

TEXT_CHARS_MAX: Final = 10_000
_FIELDS: Final = ("price", "payment_terms")
_FORM: Final = (
    "`delivery_id`, and `price` or `payment_terms` or both, "
    f"each with `text` and `salt` ({2 * SALT_BYTES} hexadecimal digits)"
)


@dataclass(frozen=True, slots=True)
class Commitments:
    """What goes on the ledger for a delivery; empty for what was not agreed on this way."""

    price: bytes = b""
    payment_terms: bytes = b""


@dataclass(frozen=True, slots=True)
class _Secret:
    """One text and the salt that hides it."""

    text: str
    salt: bytes

    def __post_init__(self) -> None:
        text = self.text
        if not 1 <= len(text) <= TEXT_CHARS_MAX or not text.isprintable():
            raise UsageError(
                f"price and payment terms are 1..{TEXT_CHARS_MAX} printable characters, "
                f"got {len(text)}: {text[:40]!r}"
            )

    def plain(self) -> dict[str, str]:
        return {"text": self.text, "salt": self.salt.hex()}


def commitments(
    delivery_id: str, path: Path | None, *, price: str | None, payment_terms: str | None
) -> Commitments:
    """Return the hashes of a delivery's price and payment terms, and keep what they stand for.

    The file is made, durable before anything is signed, when it is not there; else it is the one
    that the other side made, and what the arguments say must be what it says.

    Args:
        delivery_id: The delivery.
        path: The file; None when nothing of the kind was agreed on.
        price: In plain; None takes the file's.
        payment_terms: In plain; None takes the file's.

    Raises:
        UsageError: File and arguments do not fit together, or the file is none.
        UnavailableError: The file cannot be written.
    """
    given = {"price": price, "payment_terms": payment_terms}
    texts = {name: text for name, text in given.items() if text is not None}
    if path is None:
        if texts:
            raise UsageError("--commercial FILE is needed: who loses text and salt can prove none")
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
    """Compare a file with the ledger's hashes; return what it says in plain.

    Raises:
        UsageError: The file is none.
        RejectedError: They do not match; says which, with expected and actual.
        UnavailableError: The ledger did not answer.
    """
    kept = _read(options.commercial, options.id)
    delivery = _delivery(options.ledger, options.id)
    for name, expected in _hashes(delivery).items():
        _check(name, expected, kept.get(name))
    return {
        "matches": True,
        "delivery_id": options.id,
        **{name: each.text for name, each in kept.items()},
        "signed_by": list(delivery.signed_by),
    }


def _hashes(delivery: Delivery) -> dict[str, bytes]:
    terms = delivery.terms
    return {"price": terms.price_sha256, "payment_terms": terms.payment_terms_sha256}


def _check(name: str, expected: bytes, kept: _Secret | None) -> None:
    if kept is None and not expected:
        return
    if kept is not None and matches(expected, kept.text, kept.salt):
        return
    actual = f"makes {commit(kept.text, kept.salt).hex()}" if kept else "has none"
    raise RejectedError(f"{name}: the ledger has {expected.hex() or 'none'}, the file {actual}")


def _delivery(ledger_url: str, delivery_id: str) -> Delivery:
    ledger = LedgerClient(ledger_url)
    try:
        entry = ledger.state(address.delivery(delivery_id))
    finally:
        ledger.close()
    if entry is None:
        raise RejectedError(f"delivery {delivery_id[:80]!r} is not on the ledger")
    return Delivery.FromString(entry)


def _compare(path: Path, kept: dict[str, _Secret], texts: dict[str, str]) -> None:
    for name, text in texts.items():
        if name not in kept or kept[name].text != text:
            found = repr(kept[name].text[:80]) if name in kept else "none"
            raise UsageError(f"{path}: its {name} is {found}, the argument says {text[:80]!r}")


def _write(path: Path, delivery_id: str, kept: dict[str, _Secret]) -> None:
    if not kept:
        raise UsageError(f"{path} is not there: --price or --payment-terms makes it")
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
