"""Transaction processors and the transactions that they execute.

Processors of one family take turns. Each gets as many transactions at once as
it asks for. When one is lost, the next processor executes its transactions
from the beginning.

The validator repeats a transaction after an internal error at once and without
end. Here the tries are limited: after the last one the transaction is invalid,
with the last error. It may be submitted again then.

Source: Sawtooth 1.2 architecture guide, "Transaction Processor Registration";
`processor.proto`.
"""

import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from contracts.ledger.component.connections import Connections
from contracts.ledger.execution.executor import (
    MESSAGE_CHARS_MAX,
    InvalidTransaction,
    TransactionContext,
)
from contracts.ledger.execution.jobs import Job, Lost
from contracts.proto.component_pb2 import (
    Message,
    TpProcessRequest,
    TpProcessResponse,
    TpRegisterRequest,
    TpRegisterResponse,
)
from contracts.sawtooth.batches import Family

_LOG = logging.getLogger(__name__)

DEFAULT_OCCUPANCY: Final = 10
PROTOCOL_VERSION: Final = 1
REGISTRATIONS_MAX: Final = 100
"""Families of one connection."""
FAMILY_CHARS_MAX: Final = 128
INTERNAL_ERROR_BACK_OFF_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Waits, seconds, after internal errors; after the next one the transaction is invalid."""
PROCESS_TIMEOUT_S: Final = 60.0
"""A processor that holds a transaction longer, seconds, counts as lost."""
EXTENDED_DATA_BYTES_MAX: Final = 4 << 10


@dataclass(eq=False, slots=True)
class Processor:
    """One family at one connection.

    Attributes:
        identity: The connection.
        occupancy_max: Transactions at once.
        raw: Whether it wants headers as signed bytes.
        occupancy: Transactions now.
    """

    identity: bytes
    occupancy_max: int
    raw: bool
    occupancy: int = 0


@dataclass(eq=False, slots=True)
class _Run:
    """One transaction with all its tries.

    Attributes:
        job: The transaction.
        failures: Tries that failed, by an internal error or without an answer.
        processor: The processor that has it now.
        context: The state as this try sees it.
        name: This try's, the correlation id of its request and the context id in requests about
            state.
        due_s: Latest time, on the monotonic clock, for an answer.
    """

    job: Job
    failures: int = 0
    processor: Processor | None = None
    context: TransactionContext | None = None
    name: str = ""
    due_s: float = 0.0


@dataclass(slots=True)
class _Turns:
    """The processors of one family, the next first, and the transactions that wait."""

    processors: deque[Processor] = field(default_factory=deque)
    waiting: deque[_Run] = field(default_factory=deque)


class Registry:
    """Keeps all processors; for the port's thread where not stated otherwise.

    Args:
        connections: Sends messages.
        own: Families in this process; no processor may register for them, in any version.
        registered: Called with a family when it gets another processor.
    """

    def __init__(
        self, connections: Connections, own: Iterable[Family], registered: Callable[[Family], None]
    ) -> None:
        self._connections = connections
        self._own = {family.name for family in own}
        self._registered = registered
        self._families: dict[Family, _Turns] = {}
        self._by_identity: dict[bytes, set[Family]] = {}
        self._runs: dict[str, _Run] = {}
        self._retries: list[tuple[float, _Run]] = []

    def has(self, family: Family) -> bool:
        """Say whether there is a processor for `family`; any thread."""
        turns = self._families.get(family)
        return turns is not None and bool(turns.processors)

    def _refusal(self, identity: bytes, request: TpRegisterRequest) -> str | None:
        """Return why a connection may not register; None if it may."""
        family = Family(request.family, request.version)
        if request.protocol_version > PROTOCOL_VERSION:
            return f"protocol version {request.protocol_version}, at most {PROTOCOL_VERSION}"
        if family.name in self._own:
            return f"family {family.name} is built into this node"
        if max(len(family.name), len(family.version)) > FAMILY_CHARS_MAX:
            return f"a family of more than {FAMILY_CHARS_MAX} characters"
        if len(self._by_identity.get(identity, ())) >= REGISTRATIONS_MAX:
            return f"more than {REGISTRATIONS_MAX} registrations"
        if not self._connections.admit(identity):
            return "too many processors and subscribers already"
        return None

    def register(self, identity: bytes, correlation_id: str, request: TpRegisterRequest) -> None:
        """Register a processor, or refuse it."""
        family = Family(request.family, request.version)
        version = min(request.protocol_version, PROTOCOL_VERSION)
        refusal = self._refusal(identity, request)
        status = TpRegisterResponse.OK if refusal is None else TpRegisterResponse.ERROR
        answer = TpRegisterResponse(status=status, protocol_version=version)
        sent = self._connections.send(
            identity, Message.TP_REGISTER_RESPONSE, answer, correlation_id
        )
        if refusal is not None:
            _LOG.warning("registration refused: %s", refusal)
            return
        self._forget(identity, family)
        self._by_identity.setdefault(identity, set()).add(family)
        if not sent:
            self.gone(identity)
            return
        raw = request.request_header_style == TpRegisterRequest.RAW
        processor = Processor(identity, request.max_occupancy or DEFAULT_OCCUPANCY, raw)
        self._families.setdefault(family, _Turns()).processors.append(processor)
        _LOG.info("registered a processor for %s %s", family.name[:80], family.version[:80])
        self._registered(family)
        self._dispatch(family)

    def unregister(self, identity: bytes) -> None:
        """Give a connection no more transactions; it may finish those that it has."""
        for family in self._by_identity.pop(identity, ()):
            self._forget(identity, family)
            self._dispatch(family)

    def gone(self, identity: bytes) -> None:
        """Forget a lost connection; other processors get its transactions."""
        lost = [run for run in self._runs.values() if _identity(run) == identity]
        for run in reversed(lost):
            self._take_back(run)
            self._turns(run).waiting.appendleft(run)
        families = {run.job.family for run in lost}
        for family in self._by_identity.pop(identity, ()):
            self._forget(identity, family)
            families.add(family)
        if families:
            _LOG.info("lost a processor with %d transactions", len(lost))
        for family in families:
            self._dispatch(family)

    def start(self, job: Job) -> None:
        """Queue a transaction for a processor."""
        run = _Run(job)
        self._turns(run).waiting.append(run)
        self._dispatch(job.family)

    def answered(self, identity: bytes, correlation_id: str, answer: TpProcessResponse) -> None:
        """Handle a processor's answer; one without a request is ignored."""
        run = self._runs.get(correlation_id)
        if run is None or run.context is None or _identity(run) != identity:
            return
        context = run.context
        self._take_back(run)
        if context.refusal is not None:
            run.job.done(_verdict(run, context.refusal, b""))
        elif answer.status == TpProcessResponse.OK:
            run.job.done(context)
        elif answer.status == TpProcessResponse.INTERNAL_ERROR:
            self._failed(run, answer.message or "internal error of the processor")
        else:
            run.job.done(_verdict(run, answer.message, answer.extended_data))
        self._dispatch(run.job.family)

    def context(self, identity: bytes, context_id: str) -> TransactionContext | None:
        """Return the context of a transaction that a connection executes."""
        run = self._runs.get(context_id)
        return None if run is None or _identity(run) != identity else run.context

    def tick(self) -> float | None:
        """Do what is due; return in how many seconds the next thing is due, if any."""
        now = time.monotonic()
        for run in [run for run in self._runs.values() if run.due_s <= now]:
            identity = _identity(run)
            # The loss of its processor, just before, may have given it to the next one.
            if identity is not None and run.due_s <= now:
                _LOG.warning("no answer in %s s: the processor counts as lost", PROCESS_TIMEOUT_S)
                self._take_back(run)
                self._failed(run, f"no answer in {PROCESS_TIMEOUT_S:.0f} s")
                self._connections.hang_up(identity)
                self.gone(identity)
        due = [run for due_s, run in self._retries if due_s <= now]
        self._retries = [retry for retry in self._retries if retry[0] > now]
        for run in due:
            self._turns(run).waiting.appendleft(run)
            self._dispatch(run.job.family)
        moments = [due_s for due_s, _ in self._retries]
        moments += [run.due_s for run in self._runs.values()]
        return max(min(moments) - now, 0) if moments else None

    def _dispatch(self, family: Family) -> None:
        """Give waiting transactions to processors with room."""
        turns = self._families.get(family)
        while turns is not None and turns.waiting:
            if not turns.processors:
                for run in turns.waiting:
                    run.job.done(Lost())
                turns.waiting.clear()
            elif (processor := _next(turns.processors)) is None:
                return
            elif not self._send(turns.waiting[0], processor):
                self.gone(processor.identity)
            else:
                turns.waiting.popleft()
        if turns is not None and not turns.processors:
            del self._families[family]

    def _send(self, run: _Run, processor: Processor) -> bool:
        """Ask a processor to execute a transaction; return False if it cannot be reached."""
        context = TransactionContext(run.job.header, run.job.read, run.job.room)
        name = uuid.uuid4().hex
        transaction = run.job.transaction
        request = TpProcessRequest(
            header=None if processor.raw else run.job.header,
            header_bytes=transaction.header if processor.raw else b"",
            payload=transaction.payload,
            signature=transaction.header_signature,
            context_id=name,
        )
        if not self._connections.send(
            processor.identity, Message.TP_PROCESS_REQUEST, request, name
        ):
            return False
        processor.occupancy += 1
        run.processor, run.context, run.name = processor, context, name
        run.due_s = time.monotonic() + PROCESS_TIMEOUT_S
        self._runs[name] = run
        return True

    def _take_back(self, run: _Run) -> None:
        """End a try."""
        del self._runs[run.name]
        if run.processor is not None:
            run.processor.occupancy -= 1
        run.processor = run.context = None

    def _failed(self, run: _Run, message: str) -> None:
        """Try again later; after the last try, the transaction is invalid."""
        if run.failures == len(INTERNAL_ERROR_BACK_OFF_S):
            run.job.done(_verdict(run, message, b""))
            return
        wait_s = INTERNAL_ERROR_BACK_OFF_S[run.failures]
        run.failures += 1
        self._retries.append((time.monotonic() + wait_s, run))

    def _turns(self, run: _Run) -> _Turns:
        return self._families.setdefault(run.job.family, _Turns())

    def _forget(self, identity: bytes, family: Family) -> None:
        turns = self._families.get(family)
        if turns is not None:
            kept = (each for each in turns.processors if each.identity != identity)
            turns.processors = deque(kept)


def _next(processors: deque[Processor]) -> Processor | None:
    """Return the next processor with room, if any."""
    for _ in range(len(processors)):
        processor = processors[0]
        processors.rotate(-1)
        if processor.occupancy < processor.occupancy_max:
            return processor
    return None


def _identity(run: _Run) -> bytes | None:
    return None if run.processor is None else run.processor.identity


def _verdict(run: _Run, message: str, extended_data: bytes) -> InvalidTransaction:
    if len(extended_data) > EXTENDED_DATA_BYTES_MAX:
        _LOG.warning("dropping extended data of %d bytes", len(extended_data))
        extended_data = b""
    name = run.job.transaction.header_signature
    return InvalidTransaction(name, message[:MESSAGE_CHARS_MAX], extended_data)
