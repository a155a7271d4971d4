"""Ends of automatic holds: a gateway signs who let go of held video, and why.

Each end names the previous one by the SHA-256 of its canonical bytes. So an end shows
whether an earlier one was left out or changed later.
"""

from collections.abc import Collection
from typing import Final

from contracts.keys import SigningKey
from contracts.proto.hold_end_pb2 import HoldEnd, HoldEndBody
from contracts.statement import StatementKind

HELD_FOR_MAX: Final = 100
"""Reasons that one end names in words; it counts all of them."""
WHY_MAX: Final = 1000
"""Characters of the reason for an end."""
_HOLD_END: Final = StatementKind("hold end", HoldEnd, HoldEndBody, b"wayseal hold end 1\n")


def sign_hold_end(signer: SigningKey, body: HoldEndBody) -> HoldEnd:
    """Return `body` under the gateway's signature."""
    return _HOLD_END.sign(signer, body)


def open_hold_end(end: HoldEnd, trusted_keys: Collection[str]) -> HoldEndBody:
    """Check the signature of an end and return its body; see `StatementKind.open`."""
    return _HOLD_END.open(end, trusted_keys)
