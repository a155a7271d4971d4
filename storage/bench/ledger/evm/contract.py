"""Our contract as its compiler gave it: contract.json, which `scripts/contract build` makes."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Contract:
    """A compiled contract. Its source: web/contract/Bench.sol.

    Attributes:
        abi: Its functions, for web3.
        code: What creates it, `0x` and digits.
        deployed: Its code on a chain, likewise.
    """

    abi: list[dict[str, Any]]
    code: str
    deployed: str


@cache
def read_contract() -> Contract:
    """Return the contract of the benchmark."""
    return Contract(**json.loads(files(__package__).joinpath("contract.json").read_text("utf-8")))
