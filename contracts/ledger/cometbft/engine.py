"""The engine of a network, put together: the application, CometBFT beside it, and the sender."""

import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.abci import AbciServer
from contracts.ledger.cometbft.application import Application
from contracts.ledger.cometbft.decisions import Decision
from contracts.ledger.cometbft.executing import Executing
from contracts.ledger.cometbft.process import Process
from contracts.ledger.cometbft.rpc import Rpc
from contracts.ledger.cometbft.seals import EngineSeals
from contracts.ledger.cometbft.sender import Sender
from contracts.ledger.cometbft.snapshots.beginning import Beginning
from contracts.ledger.cometbft.snapshots.offering import Offering
from contracts.ledger.cometbft.snapshots.wish import fulfil_wish
from contracts.ledger.engine.running import Ask
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.jobs import NoProcessors, Processors
from contracts.sawtooth.batches import Family

_LOG = logging.getLogger(__name__)

FOUND_S: Final = 60.0
"""How long, seconds, CometBFT may take to begin with an empty chain."""
LOOK_S: Final = 0.05
"""How often, seconds, to look whether it has."""


@dataclass(frozen=True, slots=True)
class Program:
    """CometBFT on this machine.

    Attributes:
        path: The program.
        home: Its files, in the data directory.
        beginning: How this validator begins with a snapshot; None: without one, or it has begun.
    """

    path: Path
    home: Path
    beginning: Beginning | None = None


class CometBft:
    """Implements `Engine`.

    Args:
        chain: Takes the blocks; nothing else commits to it.
        signer: Signs the time when this validator proposes.
        families: Rules of the families in this process.
        program: CometBFT.
        report: Called with the outcome of every height, in any thread.
        failed: Called if no more blocks can be made, in any thread.
        processors: Execute transactions of families that are not in this process.
    """

    def __init__(
        self,
        chain: Chain,
        signer: Signer,
        families: Families,
        program: Program,
        report: Callable[[Outcome], None],
        failed: Callable[[Exception], None],
        processors: Processors | None = None,
    ) -> None:
        self._stopping = threading.Event()
        self._failed = failed
        self._cause: Exception | None = None
        # A path below the data directory may be too long for a socket.
        self._sockets = Path(tempfile.mkdtemp(prefix="wayseal-node-"))
        executing = Executing(families, processors or NoProcessors(), self._stopping)
        self._beginning = beginning = program.beginning
        joined = None if beginning is None else self._joined
        self._application = Application(
            chain, signer, families, executing, self._decided, self._stopping, joined
        )
        at, rpc = self._sockets / "abci", self._sockets / "rpc"
        self._listens = rpc
        self._seals = EngineSeals(chain, Rpc(rpc), program.home.parent)
        self._given = EngineSeals(chain, Rpc(rpc), program.home.parent)
        methods = self._application.methods | Offering(chain, self._given).methods
        self._restoring = None
        if beginning is not None:
            write = self._application.write_unsynced
            self._restoring = beginning.restoring(chain, families, executing, write, self._stopping)
            methods |= self._restoring.methods
        self._server = AbciServer(at, methods, self._fail)
        self._serving = threading.Thread(target=self._server.serve_forever, name="abci")
        self._process = Process(program.path, program.home, at, rpc, self._fail)
        self._rpc = Rpc(rpc)
        self._sender = Sender(self._application, self._rpc, report)
        self._light = Rpc(rpc)

    @property
    def trouble(self) -> str | None:
        """See `Engine.trouble`."""
        return self._application.trouble or self._sender.trouble

    @property
    def sealer(self) -> EngineSeals:
        """See `Engine.sealer`."""
        return self._seals

    @property
    def light(self) -> Ask:
        """See `Engine.light`."""
        return self._light.ask

    def start(self) -> None:
        """See `Engine.start`; a snapshot may take hours."""
        self._serving.start()
        self._process.start()
        until_s = time.monotonic() + FOUND_S
        while not (self._application.founded.is_set() and self._listens.exists()):
            if self._stopping.wait(LOOK_S) or self._cause is not None:
                raise self._cause or UnavailableError("stopped before CometBFT had begun")
            if time.monotonic() > until_s:
                if self._restoring is None:
                    raise UnavailableError(f"CometBFT did not begin within {FOUND_S:.0f} s")
                _LOG.info("waiting for the snapshot: %s", self._restoring.words)
                until_s += FOUND_S
        self._sender.start()

    def submit(self, submission: Submission) -> None:
        """See `Engine.submit`."""
        self._sender.submit(submission)

    def registered(self, family: Family) -> None:
        """See `Engine.registered`."""
        self._sender.registered(family)

    def stop(self) -> None:
        """See `Engine.stop`."""
        self._stopping.set()
        self._sender.stop()
        self._process.stop()
        if self._serving.ident:
            self._server.shutdown()
            self._serving.join()
        self._server.server_close()
        self._rpc.close()
        for each in (self._seals, self._given, self._light):
            each.close()
        shutil.rmtree(self._sockets, ignore_errors=True)

    def _joined(self) -> None:
        """Note that the engine goes on from the snapshot: this validator is whole."""
        if self._beginning is not None:
            fulfil_wish(self._beginning.data)

    def _decided(self, decisions: Sequence[Decision]) -> None:
        self._sender.decided(decisions)

    def _fail(self, error: Exception) -> None:
        """Report the first error, and none that follows from it."""
        if self._cause is None and not self._stopping.is_set():
            self._cause = error
            _LOG.error("%s", error)
            self._failed(error)
