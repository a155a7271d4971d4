"""A recorder that is cut off: nothing is lost or doubled, and what waits is signed one way only."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.actions.payload import decode
from contracts.address import series
from contracts.encoding import parse
from contracts.ids import trip_id_of
from contracts.keys import Signer
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Batch, TransactionHeader
from contracts.records.reading import Clock, ClockOrigin, Reading
from contracts.rules.series import seal_digest
from contracts.runtime.connection import Connection
from device.chain.ends import begin
from device.chain.writer import BatchLimits, ChainWriter
from device.journal.database import Database
from device.journal.logbook import Logbook
from device.journal.trip import Trip, TripState
from support.network.world import BOOT, START_MS
from support.trucks.truck import records_in, walk

LIMIT_BYTES: Final = 1 << 30
INPUTS_OF_READINGS: Final = 4
LAST: Final = 17
"""Readings of which the last one is cut: a batch of twelve has been closed before."""
GOES_ON_EACH: Final = 97
"""After each cut the journal is whole; after some the trip is recorded to its end too."""
DEVICE: Final = "truck-1"


class CutError(Exception):
    """The process died."""


class MortalDatabase(Database):
    """A journal whose process dies at a commit: just before it, or just after."""

    commits_left = -1
    after = False

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        dies = self.commits_left == 0
        with super().transaction() as connection:
            yield connection
            if dies and not self.after:
                raise CutError
        self.commits_left -= 1
        if dies:
            raise CutError


class Notary(Signer):
    """A key that remembers what it signed."""

    signed: ClassVar[list[bytes]] = []

    def sign(self, message: bytes) -> str:
        self.signed.append(message)
        return super().sign(message)


@dataclass(frozen=True)
class Life:
    """One process: its settings, what it records, when it dies.

    Attributes:
        per_transaction: Readings of one transaction.
        max_seconds: When a batch is over.
        steps: Seconds to each reading; 0 commits instead.
        cut: After how many commits it dies; beyond them it stops in order.
        after: It dies after that commit, not before it.
    """

    per_transaction: int
    max_seconds: int
    steps: list[int]
    cut: int
    after: bool

    @property
    def limits(self) -> BatchLimits:
        return BatchLimits(12, self.max_seconds, self.per_transaction)


lives = st.builds(
    Life,
    st.integers(2, 9),
    st.integers(3, 60),
    st.lists(st.integers(0, 9), max_size=25),
    st.integers(0, 12),
    st.booleans(),
)


def start() -> StartTrip:
    nonce = bytes(16)
    return StartTrip(
        trip_id=trip_id_of(DEVICE, nonce),
        nonce=nonce,
        device_id=DEVICE,
        origin_site_id="a",
        destination_site_id="b",
        started_at_ms=START_MS,
        trip_number=1,
    )


def clock(at_s: int) -> Clock:
    return Clock(START_MS + at_s * 1000, at_s * 1000, BOOT, ClockOrigin.NONE)


@contextmanager
def opened(path: Path, signer: Signer) -> Iterator[MortalDatabase]:
    with MortalDatabase(path, DEVICE, signer.public_key) as database:
        yield database


def book(database: Database) -> Logbook:
    return Logbook(database, journal_bytes_max=LIMIT_BYTES, video_bytes_max=LIMIT_BYTES)


def live(database: MortalDatabase, signer: Signer, life: Life, number: int) -> None:
    """Record until the end or the cut."""
    (trip,) = book(database).trips()
    database.commits_left, database.after = life.cut, life.after
    with suppress(CutError):
        chain = ChainWriter(book(database), signer, life.limits, trip)
        at_s = trip.clock.monotonic_ms // 1000
        for step in life.steps:
            if step:
                at_s += step
                # Its number tells what this process measured from what another one did.
                chain.record(Reading(clock(at_s), temperature_mcel=number))
            else:
                chain.commit()
        chain.commit()


@settings(max_examples=60)
@given(st.lists(lives, min_size=1, max_size=5), lives)
def test_no_waiting_reading_is_ever_signed_in_two_ways(course: list[Life], last: Life) -> None:
    signer = Notary.from_hex("42" * 32)
    Notary.signed.clear()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.sqlite"
        with opened(path, signer) as database:
            begun(database, signer, course[0].limits)
        durable = 0
        for number, life in enumerate(course):
            with opened(path, signer) as database:
                live(database, signer, life, number)
            with opened(path, signer) as database:
                reached = book(database).trips()[0].readings
                assert reached >= durable
                durable = reached
        close(path, signer, last)
        assert close(path, signer, replace(last, cut=-1)).readings == durable
        with opened(path, signer) as database:
            wires = database.query("SELECT wire FROM batches ORDER BY number")
            assert database.query("SELECT * FROM waiting") == database.query(
                "SELECT * FROM pending"
            )
            row = book(database).series()
    batches = [parse(Batch, wire) for (wire,) in wires]
    _, records, seal = walk(batches)
    assert row == (1, seal_digest(seal))
    assert [record.sequence for record in records] == list(range(durable))
    assert runs_signed(signer) == runs_kept(batches)


@settings(max_examples=60)
@given(st.integers(1, 9), st.integers(5, 60), st.lists(st.booleans(), max_size=40), st.data())
def test_a_power_cut_at_any_byte_loses_nothing_that_was_committed(
    per_transaction: int, max_seconds: int, commits: list[bool], data: st.DataObject
) -> None:
    """The write-ahead log ends at any byte; each flag is a reading, and whether to commit it."""
    signer, limits = Signer.from_hex("42" * 32), BatchLimits(12, max_seconds, per_transaction)
    with tempfile.TemporaryDirectory() as folder:
        path, cut_path = Path(folder) / "journal.sqlite", Path(folder) / "cut.sqlite"
        with opened(path, signer) as database:
            chain = begun(database, signer, limits)
            durable = [(wal_of(path).stat().st_size, 0)]
            for at_s, commit in enumerate(commits):
                chain.record(Reading(clock(at_s), temperature_mcel=at_s))
                if commit:
                    chain.commit()
                durable.append((wal_of(path).stat().st_size, chain.trip.readings))
            whole, written = path.read_bytes(), wal_of(path).read_bytes()
        cut = data.draw(st.integers(durable[0][0], len(written)))
        cut_path.write_bytes(whole)
        wal_of(cut_path).write_bytes(written[:cut])
        with opened(cut_path, signer) as database:
            (trip,) = book(database).trips()
            assert trip.readings >= max(count for size, count in durable if size <= cut)
            chain = ChainWriter(book(database), signer, limits, trip)
            for at_s in range(trip.readings, len(commits)):
                chain.record(Reading(clock(at_s), temperature_mcel=at_s))
            chain.commit()
            chain.close()
            wires = database.query("SELECT wire FROM batches ORDER BY number")
    _, records, _ = walk([parse(Batch, wire) for (wire,) in wires])
    assert [record.temperature_mcel for record in records] == list(range(len(commits)))


@pytest.mark.long
@pytest.mark.parametrize("per_transaction", [1, 5])
def test_a_power_cut_at_each_byte_of_the_last_entry(tmp_path: Path, per_transaction: int) -> None:
    """Short of its last byte the entry before is the last one, and the trip goes on there."""
    signer, limits = Signer.from_hex("42" * 32), BatchLimits(12, 60, per_transaction)
    path, cut_path, sizes = tmp_path / "journal.sqlite", tmp_path / "cut.sqlite", list[int]()
    with opened(path, signer) as database:
        chain = begun(database, signer, limits)
        for at_s in range(LAST):
            chain.record(Reading(clock(at_s), temperature_mcel=at_s))
            chain.commit()
            sizes.append(wal_of(path).stat().st_size)
        whole, written = path.read_bytes(), wal_of(path).read_bytes()
    *_, begins, ends = sizes
    for cut in range(begins, ends + 1):
        cut_path.write_bytes(whole)
        wal_of(cut_path).write_bytes(written[:cut])
        with opened(cut_path, signer) as database:
            (trip,) = book(database).trips()
            assert trip.readings == (LAST if cut == ends else LAST - 1), cut
            if cut % GOES_ON_EACH and cut != ends:
                continue
            chain = ChainWriter(book(database), signer, limits, trip)
            for at_s in range(trip.readings, LAST + 1):
                chain.record(Reading(clock(at_s), temperature_mcel=at_s))
            chain.commit()
            chain.close()
            wires = database.query("SELECT wire FROM batches ORDER BY number")
        _, records, _ = walk([parse(Batch, wire) for (wire,) in wires])
        assert [record.temperature_mcel for record in records] == list(range(LAST + 1)), cut


def wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def begun(database: Database, signer: Signer, limits: BatchLimits) -> ChainWriter:
    logbook = book(database)
    trip = begin(logbook, signer, start=start(), clock=clock(0), input_id=bytes(32))
    return ChainWriter(logbook, signer, limits, trip)


def close(path: Path, signer: Signer, life: Life) -> Trip:
    """Close the trip, unless the process dies before."""
    with opened(path, signer) as database:
        (trip,) = book(database).trips()
        if trip.state is TripState.OPEN:
            database.commits_left, database.after = life.cut, life.after
            with suppress(CutError):
                ChainWriter(book(database), signer, life.limits, trip).close()
        return book(database).trips()[0]


def runs_signed(signer: Notary) -> set[bytes]:
    """Return every different header that was ever signed for a transaction with readings."""
    headers = {message: TransactionHeader.FromString(message) for message in signer.signed}
    return {
        message
        for message, header in headers.items()
        # Readings declare key, device, times of blocks and trip; a start its sites too, a seal the
        # row of trips. What is no transaction's header but a batch's names no family.
        if header.family_name
        and len(header.inputs) == INPUTS_OF_READINGS
        and series(signer.public_key) not in header.outputs
    }


def runs_kept(batches: list[Batch]) -> set[bytes]:
    """Return the headers of the transactions with readings that the journal keeps."""
    return {
        item.header
        for batch in batches
        for item in batch.transactions
        if records_in(decode(item.payload))
    }
