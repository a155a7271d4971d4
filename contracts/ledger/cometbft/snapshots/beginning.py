"""The facts that a validator knows of its network before it begins with a snapshot."""

import threading
from dataclasses import dataclass
from pathlib import Path

from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.executing import Executing
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.networkfile import Network, network_time_s, validators_of
from contracts.ledger.cometbft.snapshots.remaking import Remaking, Write
from contracts.ledger.cometbft.snapshots.restoring import Restoring
from contracts.ledger.execution.families import Families


@dataclass(frozen=True, slots=True)
class Beginning:
    """A validator that begins.

    Attributes:
        data: Its data directory.
        network: The network file.
        founding: How the network's ledger begins.
    """

    data: Path
    network: Network
    founding: Founding

    def restoring(
        self,
        chain: Chain,
        families: Families,
        executing: Executing,
        write: Write,
        stopping: threading.Event,
    ) -> Restoring:
        """Return what takes the snapshot.

        Args:
            chain: Empty.
            families: Rules of the families in this process.
            executing: Executes batches, those of other processes' families too.
            write: Commits a block, which need not be durable at once.
            stopping: Ends it.
        """
        began_s = network_time_s(self.network)
        remaking = Remaking(chain, families, executing, self.founding, began_s, write)
        chain_id, first = str(self.network.genesis["chain_id"]), validators_of(self.network)
        return Restoring(self.data, chain_id, first, remaking, chain.sync, stopping)
