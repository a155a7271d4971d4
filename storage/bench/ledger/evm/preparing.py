"""EVMs made ready before anything is measured: keys read, chains asked, the contract created."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from storage.bench.ledger.evm.chain import Chain
from storage.bench.ledger.evm.nodes import found
from storage.bench.ledger.evm.signing import Terms, checked
from storage.bench.ledger.evm.targets import EvmNetwork, EvmNode, create
from storage.bench.ledger.evm.urls import shown
from storage.bench.run.volumetarget import VolumeTarget

ABOVE: Final = 4
"""Times the price that the node proposes: a load fills blocks, and the price rises with them."""
_ADDRESS: Final = re.compile("0x[0-9a-fA-F]{40}")


def network(
    name: str,
    url: str,
    seed: int,
    *,
    key_file: str | None = None,
    contract: str | None = None,
    chain_id: str | None = None,
) -> EvmNetwork:
    """Return the EVM at a URL, with our contract on it.

    Args:
        name: Of the target.
        url: Of its JSON-RPC.
        seed: Of this run.
        key_file: Has the private key of an account that pays; None for one of the node's own.
        contract: Where our contract is; None to create it.
        chain_id: That the chain must have; None for any.

    Raises:
        RejectedError: The server is not an EVM, the chain is another one or has another contract,
            or the account has less than the calls may cost.
        UnavailableError: The node does not answer.
    """
    payer = None if key_file is None else _read_key(Path(key_file))
    if contract is not None and not _ADDRESS.fullmatch(contract):
        raise RejectedError(f"--evm-contract: expected 0x and 40 hex digits, got {contract!r}")
    with closing(Chain.open(url)) as chain:
        if chain_id is not None and str(chain.chain_id) != chain_id:
            raise RejectedError(
                f"{shown(url)}: expected chain {chain_id}, got chain {chain.chain_id}"
            )
        price = chain.gas_price * ABOVE
        if contract is None:
            creator = hashlib.sha256(f"wayseal bench evm creator {name} {seed}".encode()).digest()
            contract = create(chain, creator, payer, price)
        else:
            chain.check_contract(contract)
        terms = Terms(chain.chain_id, price, checked(contract))
        return EvmNetwork(name, url, chain.client, terms, payer, chain.validators())


def nodes(program: str, volumes: Sequence[VolumeTarget]) -> Iterator[EvmNode]:
    """Yield nodes of our own: anvil keeps its chain in memory, geth on each volume.

    Raises:
        RejectedError: The program is missing.
        UnavailableError: It does not run.
    """
    version = found(program)
    for volume in volumes if program == "geth" else (None,):
        yield EvmNode(program, version, volume)


def _read_key(path: Path) -> bytes:
    try:
        digits = path.read_text("ascii").strip().removeprefix("0x")
        Signer.from_hex(digits)  # Ethereum's keys are of the same curve as Sawtooth's
    except (OSError, UnicodeDecodeError, RejectedError) as error:
        raise RejectedError(f"--evm-key {path}: {error}") from error
    return bytes.fromhex(digits)
