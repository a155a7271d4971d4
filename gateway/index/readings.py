"""Readings as the index keeps them: small numbers in place of long names, each value once.

A trip's readings lie side by side. What they have alike (trip, device, boot) is a number, and the
id of a transaction stands at the first of its readings. A question about a trip puts it
together: see `asking`.
"""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from contracts.proto.payload_pb2 import RecordReading, RecordRun, RunReading
from contracts.runtime.connection import Connection

Value = int | None
Boot = tuple[bytes, int, bool]
"""What hundreds of readings have alike: boot, origin of their clock, and whether derived."""


class NewReadings(NamedTuple):
    """The readings of one transaction, as they go into the index.

    Attributes:
        trip_id: Of all of them.
        device_id: Of all of them.
        transaction_id: 64 bytes.
        first: The number of the first one in its device's chain.
        readings: What each says; see `_reading`.
    """

    trip_id: str
    device_id: str
    transaction_id: bytes
    first: int
    readings: Sequence[tuple[Boot, tuple[Value, ...]]]


Row = tuple[Any, ...]
"""A row of `kept_readings`: see `KEPT_READINGS`."""
_MARKS: Final = ",".join("?" * 18)
LATITUDE: Final = 6
LONGITUDE: Final = 7
"""Places in a reading's values."""


def new_readings(action: RecordReading | RecordRun, transaction_id: bytes) -> NewReadings:
    """Return the readings of an action, whether it is one alone or a run."""
    if isinstance(action, RecordReading):
        first, found = action.sequence, [_reading(action)]
    else:
        first, found = action.first_sequence, [_reading(each) for each in action.readings]
    return NewReadings(action.trip_id, action.device_id, transaction_id, first, found)


def _reading(reading: RecordReading | RunReading) -> tuple[Boot, tuple[Value, ...]]:
    """Return what a reading says, None where it measured nothing, in the order of the columns."""
    has, clock = reading.HasField, reading.clock
    latitude: Value = None
    longitude: Value = None
    accuracy: Value = None
    if has("position"):
        position = reading.position
        latitude, longitude = position.latitude_e7, position.longitude_e7
        accuracy = position.accuracy_cm
    return (
        (clock.boot_id, clock.origin, reading.derived),
        (
            clock.utc_ms,
            clock.monotonic_ms,
            clock.error_ms if clock.HasField("error_ms") else None,
            reading.temperature_mcel if has("temperature_mcel") else None,
            reading.humidity_mpct if has("humidity_mpct") else None,
            reading.pressure_pa if has("pressure_pa") else None,
            latitude,
            longitude,
            accuracy,
            reading.tamper_flags,
        ),
    )


def add_readings(db: Connection, added: Iterable[NewReadings], block_num: int) -> None:
    """Add the readings of one block, in the order of the ledger.

    Each gets the next position: cursors of lists are positions.
    """
    newest = "SELECT last FROM positions ORDER BY block_num DESC LIMIT 1"
    (position,) = db.execute(newest).fetchone() or (0,)
    rows = rows_of(db, added, block_num, position)
    if not rows:
        return
    position += len(rows)
    rows.sort(key=itemgetter(0))  # within a trip they are in order
    insert_readings(db, rows)
    db.execute("REPLACE INTO positions VALUES (?, ?)", (block_num, position))


def rows_of(
    db: Connection, added: Iterable[NewReadings], block_num: int, position: int
) -> list[Row]:
    """Return rows of `kept_readings`, in the order of the ledger; new names get their numbers.

    Args:
        db: Of an index.
        added: The readings of one block.
        block_num: Its number.
        position: Of the last reading before the block.
    """
    numbers = _Numbers(db, block_num)
    rows: list[Row] = []
    for trip_id, device_id, transaction_id, first, readings in added:
        trip, device = numbers.of(trip_id), numbers.of(device_id)
        carried: bytes | None = transaction_id
        for behind, (boot, values) in enumerate(readings):
            position += 1
            whose = (trip, position, device, first + behind, behind, carried, numbers.of_boot(boot))
            rows.append((*whose, *values, block_num))
            carried = None
    return rows


def insert_readings(db: Connection, rows: Sequence[Row]) -> None:
    """Add rows to `kept_readings`."""
    db.executemany(f"INSERT INTO kept_readings VALUES ({_MARKS})", rows)  # noqa: S608


class _Numbers:
    """The numbers that stand for names within one block; a new name gets the next one."""

    def __init__(self, db: Connection, block_num: int) -> None:
        self._db = db
        self._block_num = block_num
        self._names: dict[str, int] = {}
        self._boots: dict[Boot, int] = {}

    def of(self, name: str) -> int:
        number = self._names.get(name)
        if number is None:
            number = self._names[name] = self._number("names", ("name",), (name,))
        return number

    def of_boot(self, boot: Boot) -> int:
        number = self._boots.get(boot)
        if number is None:
            columns = ("boot_id", "clock_origin", "derived")
            number = self._boots[boot] = self._number("boots", columns, boot)
        return number

    def _number(self, table: str, columns: Sequence[str], values: tuple[object, ...]) -> int:
        where = " AND ".join(f"{column} = ?" for column in columns)
        found = self._db.execute(f"SELECT number FROM {table} WHERE {where}", values).fetchone()  # noqa: S608
        if found is None:
            marks = ",".join("?" * len(values))
            found = self._db.execute(
                f"INSERT INTO {table} VALUES (NULL, {marks}, ?) RETURNING number",  # noqa: S608
                (*values, self._block_num),
            ).fetchone()
        return int(found[0])
