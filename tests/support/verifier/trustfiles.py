"""Trust files at the edges of their form: both verifiers read the same ones."""

import json
from collections.abc import Iterator
from typing import Any, Final

from contracts.validators import CHAIN_ID_MAX, POWER_MAX

_KEY: Final = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
_OTHER: Final = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
_NO_POINT: Final = f"02{5:064x}"
_ID: Final = "ab" * 64
_LAST_NUMBER: Final = (1 << 53) - 1
_EARLIER: Final[dict[str, Any]] = {
    "genesis_block_id": _ID,
    "block_num": 4711,
    "block_id": "cd" * 64,
    "block_signers": [_KEY],
}
_SIGNED: Final[dict[str, Any]] = {
    "genesis_block_id": _ID,
    "block_signers": [_KEY],
    "admin_keys": [_KEY],
}
_NETWORK: Final[dict[str, Any]] = {
    "genesis_block_id": _ID,
    "network": {"chain_id": "net", "validators": {_KEY: 1}},
    "admin_keys": [_KEY],
}


def trust_files() -> Iterator[dict[str, Any]]:
    """Yield rows: what it is, its bytes in hexadecimal, and whether it is read."""
    for is_read, files in ((True, _read()), (False, _refused())):
        for what, content in files:
            wire = content if isinstance(content, bytes) else content.encode()
            yield {"what": what, "hex": wire.hex(), "read": is_read}


def _signed(**changes: object) -> str:
    return json.dumps(_SIGNED | changes)


def _network(chain_id: object = "net", validators: object = None) -> str:
    named = {_KEY: 1} if validators is None else validators
    return json.dumps(_NETWORK | {"network": {"chain_id": chain_id, "validators": named}})


def _earlier(**changes: object) -> str:
    return _signed(predecessors=[_EARLIER | changes])


def _read() -> Iterator[tuple[str, str | bytes]]:
    yield "one signer", _signed()
    yield "indented", json.dumps(_SIGNED, indent=2) + "\n"
    yield "with a byte order mark", b"\xef\xbb\xbf" + _signed().encode()
    yield "a member's name with an escape", _signed().replace("admin_keys", r"admin\u005fkeys")
    yield "a block signer that is no point of the curve", _signed(block_signers=[_NO_POINT])
    yield "a block signer twice", _signed(block_signers=[_KEY, _KEY])
    yield "no predecessors", _signed(predecessors=[])
    yield "a predecessor", _earlier()
    yield "the last number of a block", _earlier(block_num=_LAST_NUMBER)
    yield "a network", _network()
    yield "a network with a predecessor", json.dumps(_NETWORK | {"predecessors": [_EARLIER]})
    yield "the highest power", _network(validators={_KEY: POWER_MAX, _OTHER: 1})
    yield "the longest chain id", _network("n" * CHAIN_ID_MAX)
    yield "the longest chain id, beyond 16 bits", _network("😀" * CHAIN_ID_MAX)


def _refused() -> Iterator[tuple[str, str | bytes]]:
    yield from _no_json()
    yield from _other_members()
    yield from _other_values()


def _no_json() -> Iterator[tuple[str, str | bytes]]:
    yield "nothing", ""
    yield "UTF-16", _signed().encode("utf-16")
    yield "no UTF-8", _network().encode().replace(b"net", b"n\xfft")
    yield "text behind the object", _signed() + "{}"
    yield "a comma behind the last member", _signed().replace("]}", "],}")
    yield "a comment", "// keys\n" + _signed()
    yield "NaN in place of a list", _signed(predecessors=float("nan"))
    yield "a list", f"[{_signed()}]"


def _other_members() -> Iterator[tuple[str, str | bytes]]:
    twice = f'"admin_keys": ["{_OTHER}"], "admin_keys"'
    yield "a member twice", _signed().replace('"admin_keys"', twice)
    escaped = twice.replace("_", r"\u005f", 1)
    yield "a member twice, once with an escape", _signed().replace('"admin_keys"', escaped)
    yield "a validator twice", _network().replace(f'"{_KEY}": 1', f'"{_KEY}": 1, "{_KEY}": 1')
    yield (
        "a predecessor's member twice",
        _earlier().replace('"block_num": 4711', '"block_num": 4711, "block_num": 4711'),
    )
    yield "another member", _signed(chain_id="net")
    yield "a signer and a network", json.dumps(_SIGNED | _NETWORK)
    yield "neither a signer nor a network", json.dumps({"genesis_block_id": _ID, "admin_keys": []})
    yield "another member of a network", _network().replace('"chain_id"', '"at": 1, "chain_id"')
    yield "another member of a predecessor", _earlier(at=1)
    short = {name: value for name, value in _EARLIER.items() if name != "block_num"}
    yield "a predecessor without a number", _signed(predecessors=[short])
    yield "a predecessor as pairs", _signed(predecessors=[list(_EARLIER.items())])
    yield "predecessors that are null", _signed(predecessors=None)
    yield "predecessors that are an object", _signed(predecessors=_EARLIER)


def _other_values() -> Iterator[tuple[str, str | bytes]]:
    yield "a short id", _signed(genesis_block_id=_ID[:-1])
    yield "an id and a line's end", _signed(genesis_block_id=_ID + "\n")
    yield "an id in capitals", _signed(genesis_block_id=_ID.upper())
    yield "no block signer", _signed(block_signers=[])
    yield "no administrator", _signed(admin_keys=[])
    yield "an administrator's key of another form", _signed(admin_keys=["04" + _KEY[2:]])
    yield "a key that is a number", _signed(admin_keys=[2])
    yield "keys as one text", _signed(admin_keys=_KEY)
    yield "a predecessor's signers as an object", _earlier(block_signers={_KEY: 1})
    yield "a predecessor without a signer", _earlier(block_signers=[])
    for number in (-1, _LAST_NUMBER + 1, 4711.0, "4711", True, None):
        yield f"a block's number {number!r}", _earlier(block_num=number)
    yield "a block's number in tens", _earlier().replace("4711", "47e2")
    for power in (0, -1, POWER_MAX + 1, 1.0, "1", True, None):
        yield f"a power of {power!r}", _network(validators={_KEY: power})
    yield "a power in tens", _network(validators={_KEY: 1}).replace(": 1}", ": 1e0}")
    yield "no validator", _network(validators={})
    yield "a validator that is no point of the curve", _network(validators={_NO_POINT: 1})
    yield "a chain id of nothing", _network("")
    yield "a chain id that is too long", _network("n" * (CHAIN_ID_MAX + 1))
    yield "a chain id that is a number", _network(1)
