"""One session with a gateway: offer, send what it lacks, wait for its receipts.

    device: offer (all open batch ids, recordings with their digests)
    gateway: held (of that session: what it has)
    device: records (the rest), uploads beside it
    gateway: held (after its fsync), receipt (after commit) -> the device deletes

No step has to happen exactly once: batches are named by content, and asking again repairs
any loss.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import NOT_OF_A_DEVICE
from contracts.proto.wire_pb2 import Held
from contracts.text import counted
from contracts.wire import Topic, pack_records, parse_message
from device.backoff import Backoff
from device.journal.outbox import Outbox
from device.journal.trip import Recording
from device.offload.ledger import PinnedLedger
from device.offload.mqtt import MqttConnection
from device.offload.offers import Question, questions
from device.offload.progress import Progress
from device.offload.receipts import accept
from device.offload.report import OffloadReport
from device.offload.upload import check_site
from device.offload.uploads import Uploads
from device.settings import GatewaySettings
from device.stop import Stop

ANSWER_TRIES: Final = 6
"""How often one offer is sent before the gateway counts as gone; the waiting time doubles."""
NUDGE_FIRST_S: Final = 2.0
"""Silence after which the device asks again, seconds; doubles up to the gateway's timeout."""
REGISTER: Final = (
    "; register this device (`wayseal-party register-device`), let the gateway's operator release "
    "its batches (POST /v1/quarantine/BATCH/release for each one in GET /v1/quarantine, page after "
    "page, in that order), then offload again"
)
_POLL_S: Final = 0.2
_SHOWN: Final = 200
_log: Final = logging.getLogger(__name__)


class HeldError(UnavailableError):
    """The gateway holds everything, but gave no receipt in time: the ledger takes longer."""


@dataclass(slots=True)
class Session:
    """Runs over one connection until everything is offloaded.

    Attributes:
        connection: The connection to the gateway.
        outbox: Everything that waits.
        uploads: The running uploads.
        progress: Notes whenever something moves.
        gateway: Its keys, the policy, and how long an answer may take.
        device_id: This device.
        videos: Folder of the recordings.
        patience_s: Longest time without any progress, seconds.
        stop: Ends the session early.
        report: Tells people how far it is.
        ledger: The one that receipts must name.
        goes: Says whether a recording goes over this link.
        kept_back: Trips with a recording that does not.
        remark: The gateway's last message that is about no single batch.
        false_receipt: Why a receipt did not count; empty if none was refused.
    """

    connection: MqttConnection
    outbox: Outbox
    uploads: Uploads
    progress: Progress
    gateway: GatewaySettings
    device_id: str
    videos: Path
    patience_s: float
    stop: Stop
    report: OffloadReport
    ledger: PinnedLedger
    goes: Callable[[Recording], bool] = field(default=lambda _: True)
    kept_back: set[str] = field(default_factory=set, init=False)
    remark: str = field(default="", init=False)
    false_receipt: str = field(default="", init=False)

    def run(self) -> None:
        """Offload until every trip has a receipt, final or provisional.

        Raises:
            RejectedError: The gateway refuses something for good; it is kept.
            HeldError: Nothing moved for too long, but the gateway holds everything.
            UnavailableError: Nothing moved for too long, or the connection was lost.
        """
        nudge = Backoff(self.gateway.timeout_s, NUDGE_FIRST_S)
        while True:
            self._ask()
            self._upload()
            self._send_missing()
            if self._settled(nudge.next_s()):
                return self._judge()

    def _upload(self) -> None:
        """Queue the recordings that go over this link, marked ones first; keep the others back."""
        there = [item.recording for item in self.outbox.announced()]
        self.uploads.add(each for each in there if self.goes(each))
        self.kept_back = {each.trip_id for each in there if not self.goes(each)}

    def _ask(self) -> None:
        """Ask about everything, and note the answers."""
        committed = asked = 0
        for question in questions(self.outbox):
            backoff = Backoff(self.gateway.timeout_s)
            for _ in range(ANSWER_TRIES):
                self.connection.publish(Topic.OFFERS, question.message.SerializeToString())
                answer = self._answered(question, backoff.next_s())
                if answer is not None:
                    committed += answer.committed
                    asked += len(question.batch_ids)
                    break
            else:
                raise UnavailableError(
                    f"no answer to {ANSWER_TRIES} offers of {len(question.batch_ids)} batches"
                    + self._remarked()
                )
        if self.progress.note_committed(committed):
            _log.info("%d of %d batches are committed", committed, asked)

    def _answered(self, question: Question, wait_s: float) -> Held | None:
        deadline_s = time.monotonic() + wait_s
        while (left_s := deadline_s - time.monotonic()) > 0:
            self._check_stop()
            answer = self.connection.receive(min(left_s, _POLL_S))
            held = self._take(answer, question) if answer else None
            if held is not None and held.session == question.message.session:
                return held
        return None

    def _send_missing(self) -> None:
        for message in pack_records(self.outbox.wires(self.outbox.unsent())):
            self._check_stop()
            self.report.tell(self.outbox.unheld_count)
            self.connection.publish(Topic.RECORDS, message)
            while (answer := self.connection.receive(0)) is not None:
                self._take(answer)

    def _settled(self, quiet_s: float) -> bool:
        """Take answers until nothing is left (True) or no answer came for `quiet_s` (False).

        Once nothing moves any more, a trip with a provisional receipt counts as done: it is
        held and committed, and stays here for the next gateway.
        """
        quiet_since_s = time.monotonic()
        while self._is_waiting():
            self._check_stop()
            self.report.tell(self.outbox.unheld_count)
            answer = self.connection.receive(_POLL_S)
            if answer is not None:
                self._take(answer)
                quiet_since_s = time.monotonic()
            elif self.progress.idle_s > self.patience_s:
                if self.outbox.is_unanswered():
                    raise self._given_up()
                _log.warning("no final receipt yet: %s", self._standstill())
                return True
            elif time.monotonic() - quiet_since_s > quiet_s:
                return False
        return True

    def _is_waiting(self) -> bool:
        if self.kept_back and not self.uploads.is_idle:
            return True
        trips = set(self.outbox.awaiting_receipt()) - self.uploads.failures.keys()
        if self.kept_back:  # the digest of an unsent recording is not held either
            return bool(trips - self.kept_back or self.outbox.unsent())
        return bool(trips) or self.outbox.unheld_count() > 0

    def _take(self, answer: tuple[Topic, bytes], question: Question | None = None) -> Held | None:
        """Note one message of the gateway; return it if it is a `held`."""
        kind, wire = answer
        try:
            if kind is Topic.RECEIPTS:
                self._take_receipt(wire)
            elif kind is Topic.HELD:
                held = parse_message(Held, wire)
                self._note(held, question)
                return held
        except RejectedError as error:
            _log.warning("%s ignored: %s", kind, error)
            if kind is Topic.RECEIPTS:
                self.false_receipt = str(error)
        return None

    def _take_receipt(self, wire: bytes) -> None:
        self.ledger.follow(wire)
        if accept(
            wire,
            self.outbox,
            device_id=self.device_id,
            trusted_keys=self.gateway.public_keys,
            policy=self.gateway.policy,
            genesis_block_id=self.ledger.genesis_block_id,
            site_id=self.gateway.site_id,
            videos=self.videos,
        ):
            self.progress.note_receipt()

    def _note(self, held: Held, question: Question | None) -> None:
        # Only the answer to an offer also says what is not held.
        answers = question is not None and held.session == question.message.session
        refused = {item.id: item.reason for item in held.refused if item.id and not item.retry}
        for item in held.refused:
            if item.retry or not item.id:
                self.remark = item.reason
        if held.first:
            self.outbox.mark(held.first)
        if self.outbox.note(
            held.batch_ids, refused, question.batch_ids if question and answers else ()
        ):
            self.progress.note()

    def _judge(self) -> None:
        """Check that the gateway refused nothing.

        Raises:
            RejectedError: Names what it refused; all of it is kept.
        """
        refusals = [f"batch {key[:16]}…: {why}" for key, why in self.outbox.refusals().items()]
        problems = refusals + [str(error) for error in self.uploads.failures.values()]
        if problems:
            raise RejectedError(
                f"the gateway refused {len(problems)} batches or recordings, all kept here: "
                + "; ".join(problems[:3])
                + (REGISTER if any(NOT_OF_A_DEVICE in each for each in problems) else "")
            )

    def _given_up(self) -> UnavailableError:
        """Return the error of an offload in which nothing moves any more."""
        problems = self.outbox.unheld_count() or self.outbox.refusals() or self.uploads.failures
        if problems or self.uploads.left or self.false_receipt:
            return UnavailableError(self._standstill())
        return HeldError(
            f"the gateway holds everything, and has committed {self.progress.committed} of the "
            f"batches here; {self._standstill()}{self._without()}"
        )

    def _without(self) -> str:
        """Say what the gateway does without now, such as its ledger; empty if it does not say."""
        try:
            out = check_site(self.gateway).get("out")
        except WaysealError:
            return ""
        if not isinstance(out, list) or not out:
            return ""
        return f"; the gateway is without: {', '.join(map(str, out))[:_SHOWN]}"

    def _standstill(self) -> str:
        trips = counted(len(self.outbox.awaiting_receipt()), "trip has", "trips have")
        problem = self.uploads.last_problem
        return (
            f"nothing moved for {self.patience_s:.0f} s: {self.outbox.unheld_count()} batches are "
            f"not held, {trips} no final receipt"
            + (f"; last upload problem: {problem}" if problem else "")
            + (f"; a receipt did not count: {self.false_receipt}" if self.false_receipt else "")
            + self._remarked()
        )

    def _remarked(self) -> str:
        return f"; the gateway says: {self.remark}" if self.remark else ""

    def _check_stop(self) -> None:
        if self.stop.requested:
            raise UnavailableError("stopped; the same command continues where this one ended")
