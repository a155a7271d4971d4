"""An EVM as a ledger of the benchmark: by JSON-RPC, with a contract of our own. Extra `evm`."""

import sys
from typing import Final

_DEPTH: Final = sys.getrecursionlimit()


def restore_depth() -> None:
    """Undo what the libraries of the extra do to the whole process; call it once they are imported.

    web3 and eth_account import py_ecc, which lets the process recurse 100,000 deep: JSON that is
    nested as deep, where a result should be, would then end the process in place of an error.
    """
    sys.setrecursionlimit(_DEPTH)
