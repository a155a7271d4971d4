"""Transaction processors, and the transactions that they execute.

Processors of one family take turns, each with as many transactions at once as
it wants. When one is lost, what it had goes to the next, from its beginning.

Source: Sawtooth 1.2 architecture guide, "Transaction Processor Registration";
`processor.proto`. The validator repeats a transaction that meets an internal
error at once and without end; here the tries are counted, and it becomes
invalid with the last error. It may be submitted again then.
"""

import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Final

from contracts.node.component.link import Link
from contracts.node.execution.executor import MESSAGE_CHARS_MAX, TransactionContext, Verdict
from contracts.node.execution.jobs import Job, Lost
from contracts.proto.component_pb2 import (
    Message,
    TpProcessRequest,
    TpProcessResponse,
    TpRegisterRequest,
    TpRegisterResponse,
)
from contracts.sawtooth.transactions import Family

_LOG = logging.getLogger(__name__)

DEFAULT_OCCUPANCY: Final = 10
PROTOCOL_VERSION: Final = 1
REGISTRATIONS_MAX: Final = 100
"""Families of one connection."""
FAMILY_CHARS_MAX: Final = 128
INTERNAL_ERROR_BACK_OFF_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Waits, seconds, after an internal error; then the transaction is invalid."""
PROCESS_TIMEOUT_S: Final = 60.0
"""A processor that holds a transaction longer, seconds, is taken for lost."""
EXTENDED_DATA_BYTES_MAX: Final = 4 << 10


@dataclass(eq=False, slots=True)
class Processor:
    """One family at one connection.

    Attributes:
        identity: The connection.
        occupancy_max: Transactions at once.
        raw: Whether it wants headers as they were signed.
        occupancy: Transactions now.
    """

    identity: bytes
    occupancy_max: int
    raw: bool
    occupancy: int = 0


@dataclass(eq=False, slots=True)
class _Run:
    """One transaction, try after try.

    Attributes:
        job: The transaction.
        failures: Tries that came to nothing by an internal error or by silence.
        processor: Who has it.
        context: The state as it sees it, of this try.
        correlation_id: Of the request; its answer carries it too.
        context_id: What requests for state carry.
        due_s: When, on the monotonic clock, it is too late for an answer.
    """

    job: Job
    failures: int = 0
    processor: Processor | None = None
    context: TransactionContext | None = None
    correlation_id: str = ""
    context_id: str = ""
    due_s: float = 0.0


@dataclass(slots=True)
class _Turns:
    """The processors of one family, the next first, and what waits for one."""

    processors: deque[Processor] = field(default_factory=deque)
    waiting: deque[_Run] = field(default_factory=deque)


class Registry:
    """Knows all processors; used by the port's thread unless said otherwise.

    Args:
        link: Sends messages.
        own: Families in this process, for which nobody else may register.
        registered: Called with a family once it has a processor more.
    """

    def __init__(
        self, link: Link, own: Container[Family], registered: Callable[[Family], None]
    ) -> None:
        self._link = link
        self._own = own
        self._registered = registered
        self._families: dict[Family, _Turns] = {}
        self._by_identity: dict[bytes, dict[Family, Processor]] = {}
        self._runs: dict[str, _Run] = {}
        self._contexts: dict[str, _Run] = {}
        self._retries: list[tuple[float, _Run]] = []

    def has(self, family: Family) -> bool:
        """Say whether there is a processor for `family`; any thread."""
        turns = self._families.get(family)
        return turns is not None and bool(turns.processors)

    def _refusal(self, identity: bytes, request: TpRegisterRequest) -> str | None:
        """Say why a connection may not register, or None."""
        family = Family(request.family, request.version)
        if request.protocol_version > PROTOCOL_VERSION:
            return f"protocol version {request.protocol_version}, at most {PROTOCOL_VERSION}"
        if family in self._own:
            return f"family {family.name} version {family.version} is built into this node"
        if max(len(family.name), len(family.version)) > FAMILY_CHARS_MAX:
            return f"a family of more than {FAMILY_CHARS_MAX} characters"
        if len(self._by_identity.get(identity, ())) >= REGISTRATIONS_MAX:
            return f"more than {REGISTRATIONS_MAX} registrations"
        return None

    def register(self, identity: bytes, correlation_id: str, request: TpRegisterRequest) -> None:
        """Take a processor, or say that it is not."""
        family = Family(request.family, request.version)
        version = min(request.protocol_version, PROTOCOL_VERSION)
        refusal = self._refusal(identity, request)
        status = TpRegisterResponse.OK if refusal is None else TpRegisterResponse.ERROR
        answer = TpRegisterResponse(status=status, protocol_version=version)
        if refusal is not None:
            _LOG.warning("registration refused: %s", refusal)
            self._link.send(identity, Message.TP_REGISTER_RESPONSE, answer, correlation_id)
            return
        self._forget(identity, family)
        raw = request.request_header_style == TpRegisterRequest.RAW
        processor = Processor(identity, request.max_occupancy or DEFAULT_OCCUPANCY, raw)
        self._by_identity.setdefault(identity, {})[family] = processor
        if not self._link.send(identity, Message.TP_REGISTER_RESPONSE, answer, correlation_id):
            self.gone(identity)
            return
        self._families.setdefault(family, _Turns()).processors.append(processor)
        _LOG.info("registered a processor for %s %s", family.name[:80], family.version[:80])
        self._registered(family)
        self._dispatch(family)

    def unregister(self, identity: bytes) -> None:
        """Give a connection no more transactions; those that it has it may finish."""
        for family in self._by_identity.pop(identity, {}):
            self._forget(identity, family)
            self._dispatch(family)

    def gone(self, identity: bytes) -> None:
        """Take note that a connection is lost: what it had goes to others."""
        lost = [run for run in self._runs.values() if _identity(run) == identity]
        for run in reversed(lost):
            self._take_back(run)
            self._turns(run).waiting.appendleft(run)
        families = {run.job.family for run in lost}
        for family in self._by_identity.pop(identity, {}):
            self._forget(identity, family)
            families.add(family)
        if families:
            _LOG.info("lost a processor with %d transactions", len(lost))
        for family in families:
            self._dispatch(family)

    def start(self, job: Job) -> None:
        """Have a transaction executed."""
        run = _Run(job)
        self._turns(run).waiting.append(run)
        self._dispatch(job.family)

    def answered(self, identity: bytes, correlation_id: str, answer: TpProcessResponse) -> None:
        """Take a processor's answer; one that nobody asked for means nothing."""
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
        run = self._contexts.get(context_id)
        return None if run is None or _identity(run) != identity else run.context

    def tick(self) -> float | None:
        """Do what is due; return after how many seconds something will be, if anything."""
        now = time.monotonic()
        for run in [run for run in self._runs.values() if run.due_s <= now]:
            identity = _identity(run)
            if run.correlation_id in self._runs and identity is not None:
                _LOG.warning("no answer in %s s, taking the processor for lost", PROCESS_TIMEOUT_S)
                self._take_back(run)
                self._failed(run, f"no answer in {PROCESS_TIMEOUT_S:.0f} s")
                self._link.hang_up(identity)
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
        """Give what waits to processors that have room."""
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
        """Ask a processor to execute a transaction; return False when it cannot be reached."""
        context = TransactionContext(run.job.header, run.job.read, run.job.room)
        correlation_id, context_id = uuid.uuid4().hex, uuid.uuid4().hex
        transaction = run.job.transaction
        request = TpProcessRequest(
            header=None if processor.raw else run.job.header,
            header_bytes=transaction.header if processor.raw else b"",
            payload=transaction.payload,
            signature=transaction.header_signature,
            context_id=context_id,
        )
        if not self._link.send(
            processor.identity, Message.TP_PROCESS_REQUEST, request, correlation_id
        ):
            return False
        processor.occupancy += 1
        run.processor, run.context = processor, context
        run.correlation_id, run.context_id = correlation_id, context_id
        run.due_s = time.monotonic() + PROCESS_TIMEOUT_S
        self._runs[correlation_id] = self._contexts[context_id] = run
        return True

    def _take_back(self, run: _Run) -> None:
        """End a try."""
        del self._runs[run.correlation_id]
        del self._contexts[run.context_id]
        if run.processor is not None:
            run.processor.occupancy -= 1
        run.processor = run.context = None

    def _failed(self, run: _Run, message: str) -> None:
        """Try again later, or no more."""
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
    """Return whose turn it is among those that have room, if any."""
    for _ in range(len(processors)):
        processor = processors[0]
        processors.rotate(-1)
        if processor.occupancy < processor.occupancy_max:
            return processor
    return None


def _identity(run: _Run) -> bytes | None:
    return None if run.processor is None else run.processor.identity


def _verdict(run: _Run, message: str, extended_data: bytes) -> Verdict:
    if len(extended_data) > EXTENDED_DATA_BYTES_MAX:
        _LOG.warning("extended data of %d bytes is dropped", len(extended_data))
        extended_data = b""
    name = run.job.transaction.header_signature
    return Verdict(name, message[:MESSAGE_CHARS_MAX], extended_data)
