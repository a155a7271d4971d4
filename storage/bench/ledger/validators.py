"""A network of validators as a target: `wayseal-node` with CometBFT, all on this machine."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from contracts.errors import UnavailableError
from storage.bench.ledger.committing import commit
from storage.bench.ledger.guarantees import Guarantee
from storage.bench.ledger.ledgers import (
    EXECUTIONS,
    NODE,
    PROCESSOR,
    Ledger,
    Pacing,
    consensus_at,
    fresh,
    processing,
)
from storage.bench.ledger.workloads import BatchLoad, before
from storage.bench.run.volumetarget import VolumeTarget
from storage.bench.servers.processes import Service, ask, serving
from storage.bench.trucks.fleet import Load, key
from storage.bench.trucks.signed import SignedLoad

ENGINE: Final = "cometbft"
"""Of the nodes; also the name of the process beside each."""
MOST: Final = 16
"""As `wayseal-node init` makes at once."""


@dataclass(frozen=True, slots=True)
class Validators:
    """Validators on one volume of one machine, a fresh network for each load.

    The load goes to the first one. Its CPU and writes are told, those of its CometBFT too; the
    others do the same work at the same time on the same cores.

    Attributes:
        volume: Holds the chains of all.
        count: How many.
    """

    volume: VolumeTarget
    count: int

    @property
    def name(self) -> str:
        """See `LedgerTarget.name`."""
        return f"{self.volume.name}-{ENGINE}-{self.count}"

    @property
    def lasting(self) -> bool:
        """See `LedgerTarget.lasting`."""
        return False

    @property
    def described(self) -> Mapping[str, Any]:
        """See `LedgerTarget.described`."""
        return {
            **self.volume.described,
            "name": self.name,
            "kind": ENGINE,
            "validators": self.count,
            "may_fail": (self.count - 1) // 3,
        }

    @property
    def guarantee(self) -> Guarantee:
        """See `LedgerTarget.guarantee`."""
        return Guarantee.of_validators(self.count)

    def translated(self, load: BatchLoad) -> SignedLoad:
        """See `LedgerTarget.translated`; a load is made of Sawtooth's batches."""
        return load

    @contextmanager
    def opened(self, load: BatchLoad, pacing: Pacing | None) -> Iterator[Ledger]:
        """See `LedgerTarget.opened`; a network is not paced."""
        del pacing
        with fresh(self.volume) as directory, self._running(directory, load) as ledger:
            commit(ledger.url, before(load, known=False))
            yield ledger

    @contextmanager
    def _running(self, directory: Path, load: BatchLoad) -> Iterator[Ledger]:
        stranger = not isinstance(load, Load)
        component = ("--component", "tcp://127.0.0.1:0") if stranger else ()
        with ExitStack() as stack:
            nodes = stack.enter_context(testnet(directory, self.count, *component))
            first = nodes[0]
            processes = {NODE: first.pid, ENGINE: engine_of(first)}
            notes = [directory / f"{EXECUTIONS}{number}" for number in range(self.count)]
            for each, noted in zip(nodes if stranger else (), notes, strict=False):
                processor = stack.enter_context(processing(each.addresses["component"], noted))
                processes.setdefault(PROCESSOR, processor.pid)
            url = first.addresses["rest"]
            executions = notes[0] if stranger else None
            yield Ledger.of_sawtooth(url, processes, consensus_at(url, 0.0), executions)


@contextmanager
def testnet(directory: Path, count: int, *options: str) -> Iterator[Sequence[Service]]:
    """Make a new network of validators in a directory that does not exist yet, and run it.

    Args:
        directory: For the data of all.
        count: How many validators.
        options: Further options of each node.
    """
    size = ("--validators", str(count), "--p2p-port", "0")
    admin = ("--chain-id", "bench", "--admin", key("admin").public_key)
    ask(["wayseal-node", "init", *size, *admin, "--out", str(directory)])
    with ExitStack() as stack:
        yield [
            stack.enter_context(validator(directory / f"node{number}", *options))
            for number in range(count)
        ]


def validator(data: Path, *options: str) -> AbstractContextManager[Service]:
    """Run a validator; see `serving`."""
    command: list[str | Path] = ["wayseal-node", "--data", data, "--rest", "127.0.0.1:0"]
    return serving([*command, "--engine", ENGINE, *options], data.with_suffix(".log"))


def engine_of(service: Service) -> int:
    """Return the process id of a validator's CometBFT.

    Raises:
        UnavailableError: It does not run.
    """
    for child in psutil.Process(service.pid).children(recursive=True):
        if ENGINE in child.name():
            pid: int = child.pid
            return pid
    raise UnavailableError(f"process {service.pid} runs no {ENGINE}")
