"""Transactions that a ledger put into a block and then did not count, by its validation code."""

import re
from typing import Final

_BEGINS: Final = "validation code "
_CODE: Final = re.compile(_BEGINS + "([A-Z0-9_]+)")


def refused_by(code: str, block: int) -> str:
    """Return the reason of a fate, see `Driver.decided`.

    Args:
        code: Name of the ledger's own, capitals, digits and underscores.
        block: Number of the block that has the transaction.
    """
    return f"{_BEGINS}{code} in block {block}"


def validated(reason: str) -> str:
    """Return the validation code in the reason of a fate; empty for another reason."""
    found = _CODE.match(reason)
    return found[1] if found else ""
