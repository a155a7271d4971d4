"""EVMs as targets: a chain at a URL, or a node of our own for each load."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

from storage.bench.ledger.consensus import Consensus
from storage.bench.ledger.evm.chain import DEPLOY_GAS, Agreement, Chain
from storage.bench.ledger.evm.driver import commit
from storage.bench.ledger.evm.nodes import ANVIL_BLOCK_S, CHAIN_IDS, running
from storage.bench.ledger.evm.reader import EvmReader
from storage.bench.ledger.evm.signing import EvmLoad, Terms, address_of, address_of_first
from storage.bench.ledger.evm.urls import shown
from storage.bench.ledger.guarantees import AS_SET_UP, NOT_SEEN, Guarantee, faults_of
from storage.bench.ledger.ledgers import NODE, Ledger, Pacing, fresh
from storage.bench.ledger.workloads import BatchLoad
from storage.bench.run.volumetarget import VolumeTarget
from storage.bench.trucks.signed import SignedLoad

ENGINE: Final = "evm"
"""Name of the driver, and kind of the targets."""
OWN_PRICE: Final = 10**12
"""Wei for a unit of gas on nodes of our own: no load makes their price rise so far."""
_UNAGREED: Final = "None: one node without consensus, for development."


@dataclass(frozen=True, slots=True)
class EvmNetwork:
    """An existing EVM; its processes are not watched.

    Attributes:
        name: Of the target.
        url: Its JSON-RPC.
        client: What the node calls itself.
        terms: Of transactions there; our contract is deployed.
        payer: Private key of an account that pays; None for an account of the node's own.
        validators: They agree on blocks; None if the node does not name them.
    """

    name: str
    url: str = field(repr=False)
    client: str
    terms: Terms
    payer: bytes | None = field(repr=False)
    validators: Agreement | None

    @property
    def lasting(self) -> bool:
        """See `LedgerTarget.lasting`."""
        return True

    @property
    def described(self) -> Mapping[str, Any]:
        """See `LedgerTarget.described`."""
        known = self.validators
        return {
            "name": self.name,
            "kind": ENGINE,
            "interface": "unknown",
            "url": shown(self.url),
            "client": self.client,
            "chain_id": self.terms.chain_id,
            "contract": self.terms.contract,
            "gas_price_wei": self.terms.gas_price,
            **({"consensus": known.consensus, "validators": known.count} if known else {}),
        }

    @property
    def guarantee(self) -> Guarantee:
        """See `LedgerTarget.guarantee`."""
        known = self.validators
        if known is None:
            return Guarantee(NOT_SEEN, NOT_SEEN, AS_SET_UP)
        finality = f"With its block ({known.consensus}), by the protocol."
        return Guarantee(finality, faults_of(known.count), AS_SET_UP)

    def translated(self, load: BatchLoad) -> SignedLoad:
        """See `LedgerTarget.translated`."""
        return EvmLoad(load, self.terms)

    @contextmanager
    def opened(self, load: BatchLoad, pacing: Pacing | None) -> Iterator[Ledger]:
        """See `LedgerTarget.opened`; a chain is not paced."""
        del pacing
        with closing(Chain.open(self.url)) as chain:
            yield ready(chain, EvmLoad(load, self.terms), self.payer, {})


@dataclass(frozen=True, slots=True)
class EvmNode:
    """A node of our own in its mode for development, with a fresh chain for each load.

    Attributes:
        program: `anvil` or `geth`.
        version: As the program says.
        volume: Holds the chain of geth; anvil keeps it in memory, and has None.
    """

    program: str
    version: str
    volume: VolumeTarget | None

    @property
    def name(self) -> str:
        """See `LedgerTarget.name`."""
        return self.program if self.volume is None else f"{self.volume.name}-{self.program}"

    @property
    def lasting(self) -> bool:
        """See `LedgerTarget.lasting`."""
        return False

    @property
    def described(self) -> Mapping[str, Any]:
        """See `LedgerTarget.described`."""
        where = {"interface": "memory"} if self.volume is None else self.volume.described
        return {
            **where,
            "name": self.name,
            "kind": ENGINE,
            "client": f"{self.program} {self.version}",
            "consensus": "none: one node for development",
            **({"block_interval_s": ANVIL_BLOCK_S} if self.volume is None else {}),
        }

    @property
    def guarantee(self) -> Guarantee:
        """See `LedgerTarget.guarantee`."""
        return Guarantee(
            "With its block, which one node makes.",
            _UNAGREED,
            "Never: anvil keeps the chain in memory."
            if self.volume is None
            else "After it counts: geth does not wait for the disk; a crash may lose new blocks.",
        )

    def translated(self, load: BatchLoad) -> SignedLoad:
        """See `LedgerTarget.translated`."""
        return EvmLoad(load, self._terms)

    @contextmanager
    def opened(self, load: BatchLoad, pacing: Pacing | None) -> Iterator[Ledger]:
        """See `LedgerTarget.opened`; a node for development is not paced."""
        del pacing
        with (
            nullcontext() if self.volume is None else fresh(self.volume) as directory,
            running(self.program, directory) as service,
            closing(Chain.open(service.addresses["rest"])) as chain,
        ):
            create(chain, _CREATOR, None, OWN_PRICE)
            mine = EvmLoad(load, self._terms)
            yield ready(chain, mine, None, {NODE: service.pid})

    @property
    def _terms(self) -> Terms:
        address = address_of_first(address_of(_CREATOR))
        return Terms(CHAIN_IDS[self.program], OWN_PRICE, address)


_CREATOR: Final = hashlib.sha256(b"wayseal bench evm creator").digest()
"""Creates the contract on chains of our own, always at the same address."""


def create(chain: Chain, creator: bytes, payer: bytes | None, gas_price: int) -> str:
    """Pay a new account and let it create our contract; return the contract's address."""
    chain.pay(payer, {address_of(creator): DEPLOY_GAS * gas_price})
    return chain.deploy(creator, gas_price)


def ready(chain: Chain, load: EvmLoad, payer: bytes | None, processes: Mapping[str, int]) -> Ledger:
    """Pay the accounts of a load and commit what it needs; return the ledger.

    Raises:
        RejectedError: Our contract is not there, or the payer has less than the calls may cost.
        UnavailableError: The chain does not answer.
    """
    chain.check_contract(load.terms.contract)
    chain.pay(payer, load.costs())
    asyncio.run(commit(chain.url, load.filling()))
    consensus = Consensus(ENGINE, 0, 0.0)
    return Ledger(chain.url, processes, consensus, None, EvmReader(chain.url), ENGINE)
