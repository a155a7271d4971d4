"""The application behind CometBFT: executes what the engine orders, and keeps blocks and state.

One height of the engine makes at most one block here: of the batches that are valid, as `solo`
would make it of the same batches. The application's hash is the id of the newest block. The engine
puts it into its next header, which more than two thirds of the voting power sign; so one header
seals the whole chain, state roots included.

CometBFT calls the methods of each of its four connections in order. What only the consensus
connection changes needs no lock.

Source: CometBFT 0.38, ABCI 2.0 specification, "Methods".
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from contracts import validators
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.abci import Method
from contracts.ledger.cometbft.admission import Admission
from contracts.ledger.cometbft.batches import AllowedBatches, CarriedBatches, are_compressed
from contracts.ledger.cometbft.checks import Check, Checks
from contracts.ledger.cometbft.decisions import Code, Decision, Result, code_of
from contracts.ledger.cometbft.executing import Executing
from contracts.ledger.cometbft.founding import (
    BEFORE,
    Founding,
    begun,
    founding_in,
    height_of,
    network_block,
)
from contracts.ledger.cometbft.proposals import PROPOSAL_BYTES, filled, in_order
from contracts.ledger.cometbft.times import check_time, is_time, time_batch
from contracts.ledger.cometbft.updates import validator_updates
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX, StoredBlock
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.engine.governed import Governed
from contracts.ledger.execution import blocktimes
from contracts.ledger.execution.executor import InvalidTransaction
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.obeyed import Obeyed, obeyed_after
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.ledger.state.merkle import Update
from contracts.ledger.state.store import NoRoomError
from contracts.proto.abci_pb2 import (
    ExecTxResult,
    Misbehavior,
    RequestCheckTx,
    RequestFinalizeBlock,
    RequestInfo,
    RequestInitChain,
    RequestPrepareProposal,
    RequestProcessProposal,
    RequestQuery,
    ResponseCheckTx,
    ResponseCommit,
    ResponseFinalizeBlock,
    ResponseInfo,
    ResponseInitChain,
    ResponsePrepareProposal,
    ResponseProcessProposal,
    ResponseQuery,
    ValidatorUpdate,
)
from contracts.proto.sawtooth_pb2 import Block, TransactionReceipt
from contracts.sawtooth.batches import Family
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from contracts.sawtooth.settings import CHAIN_ID

_LOG = logging.getLogger(__name__)

ROOM_RETRY_S: Final = 1.0
"""Pause, seconds, between attempts to write to a full disk."""


@dataclass(slots=True)
class _Height:
    """The results of a height, until it is committed."""

    txs: Sequence[bytes] = ()
    decisions: list[Decision] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    block: Block | None = None
    receipts: list[TransactionReceipt] = field(default_factory=list)
    update: Update | None = None


class Application:
    """Answers CometBFT.

    Args:
        chain: Takes the blocks; nothing else commits to it.
        signer: Signs the batch with the time when this validator proposes.
        families: Rules of the families in this process.
        executing: Executes batches, those of other processes' families too.
        decided: Called after each commit with what it decided, in the consensus thread.
        stopping: Ends waiting for room on the disk.
        joined: Called at the first height after a snapshot; None if this validator takes no
            snapshot.
    """

    def __init__(
        self,
        chain: Chain,
        signer: Signer,
        families: Families,
        executing: Executing,
        decided: Callable[[Sequence[Decision]], None],
        stopping: threading.Event,
        joined: Callable[[], None] | None = None,
    ) -> None:
        self._chain = chain
        self._governed = Governed(chain, obeyed_after, Obeyed())
        self.compressing = Governed(chain, are_compressed, before=False)
        """Whether the network carries batches compressed; for the sender's thread."""
        self._joined = joined
        self._signer = signer
        self._families = families
        self._executing = executing
        self._decided = decided
        self._stopping = stopping
        self._height = _Height()
        self.batches = CarriedBatches()
        self._offered = AllowedBatches(chain, self.batches)  # for the mempool's thread
        self._ordered = AllowedBatches(chain, self.batches)  # for the consensus thread
        self.admission = Admission(chain, executing)
        self.checks = Checks()
        self.founded = threading.Event()
        """Set once there is a genesis block; with a snapshot, once the engine goes on from it."""
        self.trouble: str | None = None
        """Why no block can be written at the moment; None when blocks can be written."""
        self.misbehaved: dict[str, int] = {}
        """How often each validator was seen to sign two different blocks, by its address."""
        if chain.head is not None:
            self.founded.set()

    @property
    def methods(self) -> dict[str, Method]:
        """Return what answers each request, by its name in ABCI."""
        return {
            "info": self.info,
            "init_chain": self.init_chain,
            "query": self.query,
            "check_tx": self.check_tx,
            "prepare_proposal": self.prepare_proposal,
            "process_proposal": self.process_proposal,
            "finalize_block": self.finalize_block,
            "commit": self.commit,
        }

    def info(self, _: RequestInfo) -> ResponseInfo:
        """Say up to where the application has come; the engine replays the rest."""
        head = self._chain.head
        if head is None:
            return ResponseInfo(data="wayseal")
        return ResponseInfo(
            data="wayseal",
            last_block_height=height_of(head),
            last_block_app_hash=bytes.fromhex(head.id),
        )

    def init_chain(self, request: RequestInitChain) -> ResponseInitChain:
        """Commit the genesis block, whose batches the engine's genesis file carries.

        Raises:
            RejectedError: They are invalid, or do not name the validators of that file; or the
                chain is to begin with a snapshot.
        """
        if self._joined is not None:
            raise RejectedError(
                "the engine begins with the first block, expected a snapshot: this validator is "
                "the only one of its network file. Join without --snapshot"
            )
        founding, head = founding_in(request.app_state_bytes), self._chain.head
        if head is None or head.header.previous_block_id != (founding.after or NULL_BLOCK_ID):
            self._found(request, founding)
        self.founded.set()
        return ResponseInitChain(app_hash=self._app_hash())

    def missing(self, batch: VerifiedBatch) -> Family | None:
        """Return a family of a batch that nobody here can execute, if any; any thread."""
        return self._executing.missing(batch)

    def query(self, request: RequestQuery) -> ResponseQuery:
        """Return the value at an address of the state after the newest block."""
        head = self._chain.head
        return ResponseQuery(
            key=request.path.encode(),
            value=self._chain.state.get(request.path) or b"",
            height=0 if head is None else height_of(head),
        )

    def check_tx(self, request: RequestCheckTx) -> ResponseCheckTx:
        """Let a batch into the mempool if its form and signatures hold and it is not early."""
        if request.type:  # again after a block: nothing that was checked can have changed
            return ResponseCheckTx()
        tx = request.tx
        try:
            check = self.admission.admit(self._offered.get(tx), tx)
        except RejectedError as error:
            check = Check(Code.MALFORMED, str(error))
        self.checks.note(tx, check)
        return ResponseCheckTx(code=check.code, log=check.why)

    def prepare_proposal(self, request: RequestPrepareProposal) -> ResponsePrepareProposal:
        """Sort the first batches of the mempool, and put the time first."""
        carried = in_order(list(self._ordered.within(request.txs, 2 * PROPOSAL_BYTES)))
        obeyed, first = self._obeyed(), self._time_tx(request) if carried else []
        chosen = filled(
            carried,
            bytes_max=request.max_tx_bytes - sum(map(len, first)),
            batches_max=_room(obeyed, len(first)),
            size_max=PROPOSAL_BYTES,
        )
        return ResponsePrepareProposal(txs=[*first, *(each.tx for each in chosen)])

    def process_proposal(self, request: RequestProcessProposal) -> ResponseProcessProposal:
        """Accept what an honest validator would propose."""
        try:
            self._check_proposal(request)
        except RejectedError as error:
            _LOG.error(
                "height %d: refused the proposal of validator %s: %s",
                request.height,
                request.proposer_address.hex(),
                error,
            )
            return ResponseProcessProposal(status=ResponseProcessProposal.REJECT)
        return ResponseProcessProposal(status=ResponseProcessProposal.ACCEPT)

    def finalize_block(self, request: RequestFinalizeBlock) -> ResponseFinalizeBlock:
        """Execute a height; nothing is written before `commit`."""
        self._blame(request.misbehavior)
        self._height = self._execute(request)
        block = self._height.block
        return ResponseFinalizeBlock(
            tx_results=[ExecTxResult(code=code) for code in self._height.codes],
            validator_updates=self._validator_updates(),
            app_hash=self._app_hash() if block is None else bytes.fromhex(block.header_signature),
        )

    def commit(self, _: object) -> ResponseCommit:
        """Make the height's block durable, waiting while the disk is full."""
        done, self._height = self._height, _Height()
        if done.block is not None and done.update is not None:
            self._write(done.block, done.receipts, done.update)
        if self._joined is not None:  # the engine has kept where it begins, or it had no height
            self._joined()
            self._joined = None
            self.founded.set()
        self.batches.forget(done.txs)
        self.admission.forget((decision.batch for decision in done.decisions), done.txs)
        self._decided(done.decisions)
        return ResponseCommit()

    def _found(self, request: RequestInitChain, founding: Founding) -> None:
        candidate = begun(self._chain, founding, self._families, request.time.seconds)
        named = validators.validators_in(candidate.read)
        given = {each.pub_key.secp256k1.hex(): each.power for each in request.validators}
        if named != given:
            raise RejectedError(
                f"genesis: expected {validators.SETTING} with the validators of the engine's "
                f"genesis file, {given}, got {named}"
            )
        if (found := validators.chain_id_in(candidate.read)) != request.chain_id:
            raise RejectedError(
                f"genesis: expected {CHAIN_ID} to be {request.chain_id!r}, got {found!r}"
            )
        block, update = network_block(self._chain, candidate, BEFORE)
        self._write(block, candidate.receipts, update)

    def _obeyed(self) -> Obeyed:
        self._head()
        return self._governed.now()

    def _head(self) -> StoredBlock:
        head = self._chain.head
        if head is None:
            raise RejectedError("expected InitChain before any block")
        return head

    def _time_tx(self, request: RequestPrepareProposal) -> list[bytes]:
        """Return the transaction with the time, if the network wants one."""
        if not self._obeyed().injects_times:
            return []
        read, time_s = self._chain.state.get, request.time.seconds
        return [canonical(time_batch(self._signer, self._head(), read, time_s))]

    def _check_proposal(self, request: RequestProcessProposal) -> None:
        carried = list(self._ordered.within(request.txs, BLOCK_BATCH_BYTES_MAX))
        timed = [number for number, each in enumerate(carried) if is_time(each.batch)]
        obeyed = self._obeyed()
        if timed != ([0] if carried and obeyed.injects_times else []):
            raise RejectedError(f"expected the time once and first, got it at {timed}")
        if timed:
            check_time(carried[0].batch, self._head(), request.time.seconds)
        rest, room = carried[len(timed) :], _room(obeyed, len(timed))
        fits = len(timed) + sum(1 for _ in filled(rest, bytes_max=sys.maxsize, batches_max=room))
        if fits < len(request.txs):
            raise RejectedError(f"expected at most {fits} of these batches, got {len(request.txs)}")
        for each in carried:
            if family := self._executing.missing(each.batch):
                raise RejectedError(f"no processor for {family.name} {family.version} here")

    def _execute(self, request: RequestFinalizeBlock) -> _Height:
        obeyed = self._obeyed()
        candidate = Candidate(self._chain, self._chain.state.get, self._families, obeyed)
        height = _Height(request.txs)
        room = _room(obeyed, int(obeyed.injects_times))
        for number, tx in enumerate(request.txs):
            try:
                batch = self._ordered.get(tx)
            except RejectedError:
                height.codes.append(Code.MALFORMED)
                continue
            if number == 0 and obeyed.injects_times and is_time(batch):
                height.codes.append(self._inject(candidate, batch, request.time.seconds))
                continue
            result = self._decide(candidate, batch, room)
            room -= result is None or isinstance(result, InvalidTransaction)
            height.codes.append(code_of(result))
            height.decisions.append(Decision(batch, result))
        if not candidate.is_empty:
            height.receipts = candidate.receipts
            height.block, height.update = network_block(self._chain, candidate, request.height)
        return height

    def _validator_updates(self) -> list[ValidatorUpdate]:
        update = self._height.update
        return [] if update is None else validator_updates(self._chain.state.get, update.changes)

    def _inject(self, candidate: Candidate, batch: VerifiedBatch, time_s: int) -> Code:
        try:
            check_time(batch, self._head(), time_s)
        except RejectedError:
            return Code.INVALID
        refused = candidate.inject(batch, blocktimes.apply)
        return Code.TAKEN if refused is None else Code.INVALID

    def _decide(self, candidate: Candidate, batch: VerifiedBatch, room: int) -> Result:
        if room <= 0 or not candidate.has_room_for(batch):
            return Code.NO_ROOM
        return self._executing.add(candidate, batch)

    def write_unsynced(
        self, block: Block, receipts: Sequence[TransactionReceipt], update: Update
    ) -> None:
        """Commit a block of a snapshot, waiting while the disk is full; the end makes it durable.

        Raises:
            NoRoomError: The disk is full, and the node stops.
            UnavailableError: The disk failed.
        """
        self._write(block, receipts, update, sync=False)

    def _write(
        self,
        block: Block,
        receipts: Sequence[TransactionReceipt],
        update: Update,
        *,
        sync: bool = True,
    ) -> None:
        while True:
            try:
                self._chain.commit(block, receipts, update, sync=sync)
            except NoRoomError as error:
                if self.trouble is None:
                    _LOG.error("waiting for room on the disk: %s", error)
                self.trouble = str(error)
                if self._stopping.wait(ROOM_RETRY_S):
                    raise
            else:
                self.trouble = None
                return

    def _app_hash(self) -> bytes:
        head = self._chain.head
        return b"" if head is None else bytes.fromhex(head.id)

    def _blame(self, misbehaviors: Iterable[Misbehavior]) -> None:
        for each in misbehaviors:
            name = each.validator.address.hex().upper()
            self.misbehaved[name] = self.misbehaved.get(name, 0) + 1
            _LOG.error(
                "validator %s misbehaved at height %d: %s; the evidence is in the engine's chain",
                name,
                each.height,
                Misbehavior.Kind.Name(each.type),
            )


def _room(obeyed: Obeyed, injected: int) -> int:
    """Return how many batches of clients a height may have; the injected ones count too."""
    return max((obeyed.batches_max or sys.maxsize) - injected, 1)
