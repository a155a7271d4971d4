"""Networks of CometBFT's validators for tests: laid out, and run as real processes."""

import base64
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from contracts.keys import Signer
from contracts.ledger.cometbft import home as homes
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.network import join, make_validator
from contracts.ledger.cometbft.networkfile import Card, Network
from contracts.ledger.cometbft.process import PROGRAM, find_program
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.proto.sawtooth_pb2 import Batch
from contracts.runtime.ports import free_port
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import CARRIED, CHAIN_ID, ZSTD, propose
from contracts.validators import SETTING, encode
from support.ledgers.nodes import INTKEY_NODE, Node, running, whole_state
from support.machine.waiting import wait_until

CHAIN: Final = "test"
AT: Final = "2026-01-01T00:00:00Z"
ENGINE: Final = ("--engine", "cometbft")


def lay_out(
    out: Path,
    count: int,
    first: Sequence[Batch],
    founder: Signer,
    hosts: Sequence[str] = (),
    told: Callable[[str], str] = str,
    *,
    compressed: bool = True,
) -> list[Path]:
    """Write the data directories of a network whose genesis block holds some batches.

    Args:
        out: Gets node0, node1, …
        count: How many validators.
        first: The batches, before one that names the validators.
        founder: May change settings.
        hosts: Where each listens to the others; 127.0.0.1 by default.
        told: What the others are told of an address; the same by default.
        compressed: Whether it carries batches compressed, as one that `wayseal-node init` founds.
    """
    program = find_program(None)
    places = [out / f"node{number}" for number in range(count)]
    cards: list[Card] = []
    for place, host in zip(places, hosts or ["127.0.0.1"] * count, strict=True):
        at = f"{host}:{free_port()}"
        cards.append(make_validator(program, place, at, told(at)))
    powers = {card.public_key: card.power for card in cards}
    named = [propose(founder, SETTING, encode(powers)), propose(founder, CHAIN_ID, CHAIN)]
    if compressed:
        named.append(propose(founder, CARRIED, ZSTD))
    founding = Founding([*first, build_batch(founder, named)])
    genesis = homes.genesis(CHAIN, powers, founding, at=AT)
    network = Network(tuple(cards), genesis, many_on_one_host=True)
    for place in places:
        join(place, network)
    return places


@dataclass
class Validators:
    """A network that runs; each validator can be stopped and started again.

    Attributes:
        places: Their data directories.
        nodes: Those that run, by number.
        prefixes: How the command of some of them begins, by number.
        more: Further options of some of them.
    """

    places: list[Path]
    script: Path = INTKEY_NODE
    nodes: dict[int, Node] = field(default_factory=dict)
    prefixes: dict[int, Sequence[str]] = field(default_factory=dict)
    more: dict[int, Sequence[str]] = field(default_factory=dict)
    _stacks: dict[int, ExitStack] = field(default_factory=dict)

    def start(self, number: int, *options: str) -> Node:
        """Start a validator; return once it serves."""
        stack = ExitStack()
        node = stack.enter_context(
            running(
                self.places[number],
                *ENGINE,
                *self.more.get(number, ()),
                *options,
                script=self.script,
                prefix=self.prefixes.get(number, ()),
            )
        )
        self.nodes[number], self._stacks[number] = node, stack
        return node

    def kill(self, number: int) -> None:
        """Kill a validator, as a power cut would."""
        self.nodes.pop(number).process.kill()
        self._stacks.pop(number).close()

    def stop(self, number: int) -> int:
        """Ask a validator to end; return its exit status."""
        status = self.nodes.pop(number).stop()
        self._stacks.pop(number).close()
        return status

    def close(self) -> None:
        """Kill all that runs."""
        for number in list(self.nodes):
            self.kill(number)


@contextmanager
def network(
    out: Path,
    count: int,
    first: Sequence[Batch],
    founder: Signer,
    script: Path = INTKEY_NODE,
    *,
    compressed: bool = True,
) -> Iterator[Validators]:
    """Run a network of validators."""
    made = Validators(lay_out(out, count, first, founder, compressed=compressed), script)
    try:
        for number in range(count):
            made.start(number)
        yield made
    finally:
        made.close()


def head(node: Node) -> str:
    """Return the id of the newest block of a validator."""
    found: str = node.client.get("/blocks?limit=1").json()["head"]
    return found


def has(node: Node, *batches: Batch) -> bool:
    """Say whether a validator has committed some batches."""
    return all(
        node.client.get(f"/batches/{batch.header_signature}").status_code == 200
        for batch in batches
    )


def agree(validators: Validators) -> None:
    """Wait until all validators that run have the same head, then compare all of their state."""
    nodes = list(validators.nodes.values())
    states: list[tuple[str, dict[str, bytes]]] = []

    def rested() -> bool:
        """Read all states, and say whether nothing was committed meanwhile."""
        heads = {head(node) for node in nodes}
        states[:] = [whole_state(node.client) for node in nodes]
        return len(heads) == 1 and heads == {head(node) for node in nodes}

    wait_until(rested)
    assert all(state == states[0] for state in states)


def seals_of(node: Node, block_id: str) -> list[SealedHeader]:
    """Return what the validators signed about a block, once they have."""
    found: list[SealedHeader] = []

    def signed() -> bool:
        answer = node.client.get(f"/blocks/{block_id}/seals").json()["data"]
        found[:] = [SealedHeader.FromString(base64.b64decode(text)) for text in answer]
        return bool(found)

    wait_until(signed)
    return found


def need_cometbft() -> None:
    """Skip the test where CometBFT is not installed; `make test` installs it where Go is."""
    if shutil.which(PROGRAM) is None:
        pytest.skip("CometBFT is not installed, and Go to build it is missing")
