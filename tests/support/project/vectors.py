"""What the rules and the verifier answer under this interpreter, to be compared with another one.

Run as `python -m support.project.vectors`; needs only coincurve and protobuf, as the rules do.
"""

import io
import json
import lzma
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.memory import MemoryHost
from contracts.evidence.report import as_json
from contracts.evidence.verify import verify_evidence
from contracts.evidence.words import as_text
from contracts.proto.payload_pb2 import DisputeDelivery, OpenDelivery, RegisterParty
from contracts.proto.sawtooth_pb2 import Batch, Setting, TransactionHeader
from contracts.rules.version import RulesVersion
from contracts.text import is_gs1, is_text, is_unit_1_0
from support.evidence.chain import evidence_of, trust_in
from support.evidence.telling import recorded
from support.network.world import TERMS, Trip, handovers, key, one, reading, registrations

RECORDED: Final = Path(__file__).parents[2] / "golden"
NAMES: Final = (
    "A\u0020B",
    "Käse & Söhne",
    "\u6771\u4eac\U000e0100",  # with a variant of a character
    "\u0645\u06cc\u200c\u062e",  # with a joiner that Persian needs
    "\U0001fae8",  # came with Unicode 15, Python 3.12
    "\U0001fae9",  # came with Unicode 16, Python 3.14
    "\u0378",  # not assigned
    "tab\t",
    "line\u2028",
    "right\u202eleft",
    "no\u00a0break",
    "zero\u200bwidth",
    "private\ue000",
    "none\ufffe",
    "tag\U000e0041",
)
LOTS: Final = ("L42", "L-42/A", "L 42", "\u041b42", "L42\uff0f", "L~")
UNITS: Final = (
    "C62",
    "KGM",
    "4K",
    "kg",
    "K",
    "\uff2b\uff27\uff2d",
    "\u00bd",
    "\u20ac",
    "K-G",
    "\u0e51",
)


def vectors() -> dict[str, Any]:
    """Return everything that must be equal under each interpreter."""
    return {
        "text": {
            name: _digest(bytes(holds(chr(code)) for code in range(sys.maxunicode + 1)))
            for name, holds in (("text", is_text), ("gs1", is_gs1), ("unit 1.0", is_unit_1_0))
        },
        "names": _answers(NAMES, lambda text: RegisterParty(party_id="p", name=text)),
        "lots": _answers(LOTS, _lot),
        "units": _answers(UNITS, lambda text: _terms(unit=text)),
        "recorded 1.0": _recorded("rules-1.0"),
        "recorded 1.1": _recorded("rules-1.1"),
        "evidence": _evidence(),
        "evidence with remarks": {name: _digest(content) for name, content in recorded().items()},
    }


def _terms(**changed: str) -> OpenDelivery:
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    for name, value in changed.items():
        setattr(terms, name, value)
    return terms


def _lot(text: str) -> OpenDelivery:
    terms = _terms()
    terms.lots[0].lot = text
    return terms


def _answers(texts: tuple[str, ...], action_of: Any) -> dict[str, dict[str, str]]:  # noqa: ANN401  # any action
    """Return the state after an action with each text, or that it is refused, by version."""
    return {
        version.family_version: {ascii(text): _answer(action_of(text), version) for text in texts}
        for version in RulesVersion
    }


def _answer(action: Any, version: RulesVersion) -> str:  # noqa: ANN401  # any action
    host = _host()
    signer = "admin" if isinstance(action, RegisterParty) else "seller"
    batches = [] if signer == "admin" else registrations(version)[:-2]
    for batch in batches:
        _apply(host, batch)
    try:
        _apply(host, one(key(signer), action, version=version))
    except RejectedError:
        return "refused"
    return _state(host)


def _recorded(version: str) -> str:
    """Return a digest of the outcome of each recorded transaction of an earlier version."""
    said = sha256()
    for line in lzma.decompress((RECORDED / version / "runs.jsonl.xz").read_bytes()).splitlines():
        run, host = json.loads(line), MemoryHost()
        for step in [{"set": run["state"]}, *run["steps"]]:
            if "set" in step:
                host.state = {at: bytes.fromhex(value) for at, value in step["set"].items()}
                continue
            header = TransactionHeader.FromString(bytes.fromhex(step["header"]))
            try:
                host.apply(header, bytes.fromhex(step["payload"]), step["id"])
            except RejectedError:
                said.update(b"refused")
            said.update(_state(host).encode())
    return said.hexdigest()


def _evidence() -> dict[str, str]:
    """Return the verdict on a trip whose parties have all the names that are text."""
    trip = Trip()
    batches = [
        *_named(),
        *trip.whole([reading(number, 9000) for number in range(12)], (), 4),
        *handovers(trip.trip_id),
        one(key("buyer"), DisputeDelivery(delivery_id="delivery-1", reason="".join(_texts()))),
    ]
    evidence = evidence_of([[batch] for batch in batches], [trip.trip_id])
    verdict = verify_evidence(io.BytesIO(evidence.wire()), trust_in(evidence.heads), [])
    shown = replace(verdict, problems=[*verdict.problems, *NAMES])
    return {
        "verdict": json.dumps(as_json(verdict), sort_keys=True),
        "words": as_text(shown),
        "file": _digest(evidence.wire()),
    }


def _named() -> Iterator[Batch]:
    """Yield the registrations, with one more party for each name."""
    yield from registrations()
    for number, text in enumerate(_texts()):
        yield one(key("admin"), RegisterParty(party_id=f"p{number}", name=text))


def _texts() -> list[str]:
    return [text for text in NAMES if is_text(text)]


def _host() -> MemoryHost:
    """Return a ledger whose administrator's key has whitespace around it."""
    host = MemoryHost()
    entry = Setting.Entry(key=ADMIN_KEYS_SETTING, value=f"\u2003{key('admin').public_key} ")
    host.state[address.setting(ADMIN_KEYS_SETTING)] = canonical(Setting(entries=[entry]))
    return host


def _apply(host: MemoryHost, batch: Batch) -> None:
    for each in batch.transactions:
        header = TransactionHeader.FromString(each.header)
        host.apply(header, each.payload, each.header_signature)


def _state(host: MemoryHost) -> str:
    pairs = sorted(host.state.items())
    return _digest(
        b"".join(at.encode() + len(value).to_bytes(4, "big") + value for at, value in pairs)
    )


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


if __name__ == "__main__":
    json.dump(vectors(), sys.stdout, indent=1)
