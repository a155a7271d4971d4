"""What must hold at the end of each day, and what must have been found of each fault."""

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.keys import Signer
from contracts.proto.payload_pb2 import RecordReading
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.records.reading import digest
from contracts.sawtooth.batches import check_batch
from device.journal.database import Database
from device.journal.trip import TripState
from device.settings import Settings
from device.station import JOURNAL_NAME
from support.life import drivers, site
from support.life.site import Ledger, serials
from support.network.world import link_of
from support.trucks.truck import records_in

if TYPE_CHECKING:
    from support.life.walk import Plan

CLOCK_RULES: Final = {"clock-back", "clock-jump", "rebooted"}
WORDS: Final = {
    "full": r"recording is paused: .*disk is full",
    "presence": r"whether a site is near cannot be told: the Wi-Fi driver does not answer",
    **{
        name: rf"^sensor cargo {words}"
        for name, words in {
            "unplugged": "is lost: cargo is unplugged",
            "raises": "is lost: its driver failed: ZeroDivisionError",
            "lies": "gives a value that is not recorded",
            "nonsense": "gives a value that is not recorded",
            "hangs": "hangs",
        }.items()
    },
}
"""How a fault on the road is found, in the log."""
OF_CARGO: Final = r"^sensor cargo (is lost|gives a|hangs)"


class Checks:
    """Holds the truck, its journal and the ledger to each other.

    Attributes:
        durable: The numbers of the readings that were surely durable.
    """

    def __init__(self, settings: Settings, signer: Signer, ledger: Ledger) -> None:
        self._settings = settings
        self._signer = signer
        self._ledger = ledger
        self._faults: Counter[str] = Counter()
        self._boots = 0
        self.durable: set[int] = set()

    def summary(self) -> str:
        """Return what happened, in words."""
        readings = sum(serials(self._ledger).values())
        trips = len(self._ledger.seals)
        faults = ", ".join(f"{count} {name}" for name, count in sorted(self._faults.items()))
        return f"{trips} trips with {readings} readings, {self._boots} power cuts; {faults}"

    def leaves(self, fault: str) -> None:
        if fault:
            self._faults[fault] += 1

    def rebooted(self) -> None:
        self._boots += 1

    def arrived(self, plan: "Plan", said: list[str]) -> None:
        """Check that the fault of a leg that began was found, and nothing else."""
        found = [line for line in said if re.search(OF_CARGO, line)]
        began = plan.at < -1 and plan.fault in WORDS
        if plan.fault in drivers.FAULTS and began:
            assert len(found) <= 1, found
            assert all(re.search(WORDS[plan.fault], line) for line in found), found
            # One that hangs for a moment is slow: its value is not too old yet.
            assert found or plan.fault == "hangs", said
        else:
            assert not found, found
        if plan.fault in ("full", "presence") and began:
            lines = {line for line in said if re.search(WORDS[plan.fault], line)}
            assert len(lines) <= 1, lines
        assert not [line for line in said if "failed unexpectedly" in line], said

    def waiting(self) -> int:
        """Return how many trips wait for a receipt."""
        return sum(state != TripState.RECEIPTED for _, state, *_ in self._trips())

    def visited(self, fault: str, before: int, said: list[str]) -> None:
        """Check that what a site did wrong was said."""
        if fault:
            self._faults[fault] += 1
        lines = [line for line in said if re.search(site.FAULTS.get(fault, "^$"), line)]
        if fault and fault != "cut-off" and before:
            assert 1 <= len(set(lines)) <= before + 1, (fault, said)  # one for each trip
            if fault in site.FALSE_RECEIPTS:
                assert re.search(site.FAULTS[fault], said[-1]), said  # the last word says why

    def nothing_waits(self) -> None:
        """Check that all trips are receipted."""
        assert self.waiting() == 0, self._trips()

    def all_is_well(self) -> None:
        """Check that nothing is lost, nothing doubled, and everything in order."""
        on_ledger = serials(self._ledger)
        assert set(on_ledger.values()) <= {1}, on_ledger.most_common(3)
        here: dict[str, list[RecordReading]] = {}
        for trip_id, state, readings, seal_id in self._trips():
            if state == TripState.RECEIPTED:
                self._receipted(trip_id, readings, seal_id)
            else:
                here[trip_id] = self._records(trip_id)
                assert len(here[trip_id]) == readings
        kept = {each.position.latitude_e7 for of in here.values() for each in of}
        lost = self.durable - set(on_ledger) - kept
        assert not lost, sorted(lost)[:5]
        for trip_id, records in [*self._ledger.records.items(), *here.items()]:
            self._in_order(trip_id, records)
        for trip_id, records in here.items():
            for there, ours in zip(self._ledger.records.get(trip_id, []), records, strict=False):
                assert there == ours
        self._found_on_ledger()

    def _found_on_ledger(self) -> None:
        """Check that the ledger has one finding for each reboot and each step back of a clock."""
        found = {rule: len(each) for rule, each in self._ledger.found.items()}
        assert found.keys() <= CLOCK_RULES, found
        lives = [
            [self._ledger.starts[trip_id].clock, *(each.clock for each in records)]
            for trip_id, records in self._ledger.records.items()
        ]
        clocks = [pair for each in lives for pair in pairwise(each)]
        reboots = sum(before.boot_id != after.boot_id for before, after in clocks)
        back = sum(before.utc_ms > after.utc_ms for before, after in clocks)
        assert (found.get("rebooted", 0), found.get("clock-back", 0)) == (reboots, back), found

    def _receipted(self, trip_id: str, readings: int, seal_id: str) -> None:
        committed_id, seal = self._ledger.seals[trip_id]
        records = self._ledger.records.get(trip_id, [])
        assert (committed_id, seal.reading_count, len(records)) == (seal_id, readings, readings)
        assert seal.head_sha256 == (digest(records[-1]) if records else b"")

    @staticmethod
    def _in_order(trip_id: str, records: list[RecordReading]) -> None:
        measured = [each for each in records if each.HasField("position")]
        said_last = records[len(measured) :]  # before the seal
        assert [*measured, *said_last] == records, trip_id
        assert all(each.remarks for each in said_last), trip_id
        numbers = [each.position.latitude_e7 for each in measured]
        assert numbers == sorted(set(numbers)), trip_id
        for before, after in pairwise(records):
            assert link_of(after) == link_of(before).after(before)
        assert [each.sequence for each in records] == list(range(len(records)))

    def _trips(self) -> list[tuple[Any, ...]]:
        with self._journal() as journal:
            return journal.query(
                "SELECT trip_id, state, readings, seal_transaction_id FROM trips ORDER BY number"
            )

    def _records(self, trip_id: str) -> list[RecordReading]:
        """Return the readings of a trip that the journal still has, signed ones first."""
        with self._journal() as journal:
            batches = journal.query(
                "SELECT wire FROM batches WHERE trip_id = ? ORDER BY number", trip_id
            )
            pending = journal.query(
                "SELECT wire FROM pending WHERE trip_id = ? ORDER BY number", trip_id
            )
            waiting = journal.query(
                "SELECT record FROM waiting WHERE trip_id = ? ORDER BY number", trip_id
            )
        transactions = [parse(Transaction, wire) for (wire,) in pending]
        for (wire,) in reversed(batches):
            batch = parse(Batch, wire)
            check_batch(batch)
            transactions = [*batch.transactions, *transactions]
        records = [record for each in transactions for record in records_in(decode(each.payload))]
        return [*records, *(RecordReading.FromString(record) for (record,) in waiting)]

    def _journal(self) -> Database:
        path = self._settings.data / JOURNAL_NAME
        return Database(path, self._settings.device_id, self._signer.public_key)
