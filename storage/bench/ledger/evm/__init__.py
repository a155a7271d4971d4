"""An EVM as a ledger of the benchmark: by JSON-RPC, with a contract of our own. Extra `evm`."""

import importlib
import sys
from contextlib import suppress
from typing import Final

_DEPTH: Final = sys.getrecursionlimit()
with suppress(ModuleNotFoundError):  # installed without the extra
    # web3 and eth_account import it, and it lets the whole process recurse 100,000 deep: JSON that
    # is nested as deep, where a result should be, would then end the process in place of an error.
    importlib.import_module("py_ecc")
sys.setrecursionlimit(_DEPTH)
