"""The compared ledgers: a wayseal-node with its chain on a volume, or a Sawtooth at a URL."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, Self

from contracts import address
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import MAX_BATCHES_PER_BLOCK, propose
from storage.bench.ledger.committing import commit
from storage.bench.ledger.consensus import Consensus, read_consensus
from storage.bench.ledger.guarantees import SOLO, Guarantee
from storage.bench.ledger.reader import LedgerReader, SawtoothReader
from storage.bench.ledger.workloads import BatchLoad, before
from storage.bench.run.volumetarget import VolumeTarget
from storage.bench.servers.checkpoint import node
from storage.bench.servers.processes import Service, serving
from storage.bench.trucks.fleet import Load, key
from storage.bench.trucks.signed import SignedLoad

NODE: Final = "node"
PROCESSOR: Final = "processor"
EXECUTIONS: Final = "executions"


@dataclass(frozen=True, slots=True)
class Pacing:
    """The pace of blocks, as a consensus sets it.

    Attributes:
        batches_per_block: At most.
        interval_s: From block to block, at least.
    """

    batches_per_block: int
    interval_s: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """A running ledger that is ready for a load.

    Attributes:
        url: Where it is driven, and read back.
        processes: Process ids by name, of the processes on this machine.
        executions: File in which the processor of `wayseal_bench` notes executions; None without
            a processor.
        reader: Of its blocks.
        engine: Name of the driver, see `loader.ENGINES`.
        codes: Validation codes that a result always counts, also when no transaction got them.
    """

    url: str
    processes: Mapping[str, int]
    consensus: Consensus
    executions: Path | None
    reader: LedgerReader
    engine: str = "sawtooth"
    codes: tuple[str, ...] = ()

    @classmethod
    def of_sawtooth(
        cls, url: str, processes: Mapping[str, int], consensus: Consensus, executions: Path | None
    ) -> Self:
        """Return a ledger that speaks Sawtooth's REST API."""
        return cls(url, processes, consensus, executions, SawtoothReader(url))


class LedgerTarget(Protocol):
    """A ledger that can be measured."""

    @property
    def name(self) -> str:
        """Return the target's name."""
        ...

    @property
    def lasting(self) -> bool:
        """Say whether batches stay on the ledger, so that each load must be new to it."""
        ...

    @property
    def described(self) -> Mapping[str, Any]:
        """Return the ledger as a result describes it."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """Return what a committed transaction is sure of."""
        ...

    def translated(self, load: BatchLoad) -> SignedLoad:
        """Return a load in the form that this ledger takes."""
        ...

    def opened(self, load: BatchLoad, pacing: Pacing | None) -> AbstractContextManager["Ledger"]:
        """Run the ledger, with everything committed that a load needs.

        Raises:
            RejectedError: The ledger refuses the registrations.
            UnavailableError: The ledger does not start or does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class NodeOnVolume:
    """A `wayseal-node` of our own, with a fresh chain on a volume for each load."""

    volume: VolumeTarget

    @property
    def name(self) -> str:
        """See `LedgerTarget.name`."""
        return self.volume.name

    @property
    def lasting(self) -> bool:
        """See `LedgerTarget.lasting`."""
        return False

    @property
    def described(self) -> Mapping[str, Any]:
        """See `LedgerTarget.described`."""
        return self.volume.described

    @property
    def guarantee(self) -> Guarantee:
        """See `LedgerTarget.guarantee`."""
        return SOLO

    def translated(self, load: BatchLoad) -> SignedLoad:
        """See `LedgerTarget.translated`; a load is made of Sawtooth's batches."""
        return load

    @contextmanager
    def opened(self, load: BatchLoad, pacing: Pacing | None) -> Iterator[Ledger]:
        """See `LedgerTarget.opened`."""
        with fresh(self.volume) as directory:
            if pacing is None:
                with self.running(directory, load) as ledger:
                    commit(ledger.url, before(load, known=False))
                    yield ledger
                return
            with self.running(directory, load) as ledger:
                commit(ledger.url, [*before(load, known=False), _limit(pacing)])
            paced = ("--block-interval", f"{pacing.interval_s:g}")
            with self.running(directory, load, paced, pacing.interval_s) as ledger:
                yield ledger

    @contextmanager
    def running(
        self,
        directory: Path,
        load: BatchLoad,
        options: Sequence[str] = (),
        interval_s: float = 0.0,
        group: Path | None = None,
    ) -> Iterator[Ledger]:
        """Run a node on the chain in a directory.

        Args:
            directory: Of the chain.
            load: Its transactions.
            options: Further options of the node.
            interval_s: Between blocks, at least.
            group: Of the control group that the node joins, and its processor does not.
        """
        with ExitStack() as stack:
            stranger = not isinstance(load, Load)
            component = ("--component", "tcp://127.0.0.1:0") if stranger else ()
            service = stack.enter_context(
                node(directory, options=(*options, *component), group=group)
            )
            processes, executions = {NODE: service.pid}, None
            if stranger:
                executions = directory / EXECUTIONS
                endpoint = service.addresses["component"]
                processor = stack.enter_context(processing(endpoint, executions))
                processes[PROCESSOR] = processor.pid
            url = service.addresses["rest"]
            yield Ledger.of_sawtooth(url, processes, consensus_at(url, interval_s), executions)


@dataclass(frozen=True, slots=True)
class Sawtooth:
    """An existing Sawtooth network; its processes are not watched.

    Attributes:
        name: Of the target.
        url: Its REST API.
        consensus: From its settings.
        executions: See `Ledger.executions`.
    """

    name: str
    url: str
    consensus: Consensus
    executions: Path | None

    @property
    def lasting(self) -> bool:
        """See `LedgerTarget.lasting`."""
        return True

    @property
    def described(self) -> Mapping[str, Any]:
        """See `LedgerTarget.described`."""
        return {
            "name": self.name,
            "kind": "sawtooth",
            "interface": "unknown",
            "url": self.url,
            "consensus": self.consensus.algorithm,
            "batches_per_block": self.consensus.batches_per_block,
            "block_interval_s": self.consensus.interval_s,
        }

    @property
    def guarantee(self) -> Guarantee:
        """See `LedgerTarget.guarantee`."""
        return Guarantee.of_sawtooth(self.consensus)

    def translated(self, load: BatchLoad) -> SignedLoad:
        """See `LedgerTarget.translated`; a load is made of Sawtooth's batches."""
        return load

    @contextmanager
    def opened(self, load: BatchLoad, pacing: Pacing | None) -> Iterator[Ledger]:
        """See `LedgerTarget.opened`; an existing network is not paced."""
        del pacing
        commit(self.url, before(load, known=has_fleet(self.url)))
        yield Ledger.of_sawtooth(self.url, {}, self.consensus, self.executions)


@contextmanager
def fresh(volume: VolumeTarget) -> Iterator[Path]:
    """Yield a directory for a new chain on a volume; it does not exist before, nor afterwards."""
    directory = volume.work / "ledger"
    shutil.rmtree(directory, ignore_errors=True)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def processing(endpoint: str, executions: Path) -> Iterator[Service]:
    """Run the processor of `wayseal_bench`, registered at a component port."""
    command = ("python", "-m", "storage.bench.ledger.processor", "--connect", endpoint)
    log = executions.with_suffix(".log")
    with serving((*command, "--executions", executions), log) as processor:
        yield processor


def consensus_at(url: str, interval_s: float | None = None) -> Consensus:
    """Return the consensus of a ledger; see `read_consensus`."""
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        return read_consensus(ledger.setting, interval_s)


def has_fleet(url: str) -> bool:
    """Say whether the parties of the benchmark's fleet are registered."""
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        return ledger.state(address.party("carrier")) is not None


def _limit(pacing: Pacing) -> Batch:
    """Return the batch that limits a block of our node, which begins with its own batch."""
    admin = key("admin")
    proposal = propose(admin, MAX_BATCHES_PER_BLOCK, str(pacing.batches_per_block + 1))
    return build_batch(admin, [proposal])
