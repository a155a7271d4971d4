"""An index with old trips in cold files, of a ledger that has them too."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.ledger.client import LedgerClient
from contracts.ledger.pages import Committed
from contracts.proto.sawtooth_pb2 import BlockHeader, TransactionReceipt
from contracts.records.reading import Reading
from contracts.sawtooth.block_info import block_info_batch
from gateway.index.moving import Mover
from gateway.index.projection import project
from gateway.index.store import IndexStore
from gateway.records.records import Records
from support.ledgers.fake import FakeLedger
from support.network.world import Trip, key, reading

READINGS: Final = 30
DAY_S: Final = 86_400


@dataclass
class ColdTrips:
    """The index, the ledger, and three trips: the third one is young.

    Attributes:
        index: The index.
        ledger: The ledger.
        trips: Their ids.
    """

    index: IndexStore
    ledger: FakeLedger
    trips: tuple[str, ...]

    @property
    def file(self) -> Path:
        """The cold file of the two old trips."""
        (found,) = self.index.cold.folder.glob("*/*.db")
        return found

    def move(self) -> str:
        """Move what is old; return what was said."""
        return str(Mover(self.index, 30).run())

    def take_in(self) -> None:
        """Take in the ledger's blocks that the index does not have."""
        head = self.index.head()
        for number in range(head.block_num + 1 if head else 0, len(self.ledger.blocks)):
            block = self.ledger.blocks[number]
            receipts = [TransactionReceipt() for b in block.batches for _ in b.transactions]
            rows, readings = project(Committed(block, receipts), number)
            self.index.add(rows, readings)

    def page(self, trip: int) -> list[object]:
        """Return all readings of a trip."""
        return [each for _, each in Records(self.index).trips.readings(self.trips[trip], 0, 1000)]

    def pages(self) -> list[list[object]]:
        """Return all readings of all trips."""
        return [self.page(trip) for trip in range(len(self.trips))]


def of_day(ledger: FakeLedger, day: int, *trips: Trip) -> None:
    """Append a block that was begun on a day, with whole trips in it."""
    before = ledger.blocks[-1]
    header = BlockHeader.FromString(before.header)
    timed = block_info_batch(key("node"), header, before.header_signature, day * DAY_S)
    ledger.extend([[timed, *(b for each in trips for b in each.whole(values()))]])


def values() -> list[Reading]:
    """Return the readings of a trip."""
    return [reading(number) for number in range(READINGS)]


@contextmanager
def cold_trips(folder: Path) -> Iterator[ColdTrips]:
    """Build an index with two trips of the first days, closed, and one of today."""
    trips = [Trip(nonce=bytes([at]) * 16) for at in range(3)]
    with FakeLedger() as ledger, closing(IndexStore(folder / "index.db")) as index:
        made = ColdTrips(index, ledger, tuple(each.trip_id for each in trips))
        ledger.extend([[]])
        of_day(ledger, 1, trips[0])
        of_day(ledger, 2, trips[1])
        of_day(ledger, 100, trips[2])
        made.take_in()
        for number, trip_id in enumerate(made.trips, 1):
            index.add({"trip_entries": [(trip_id, b"", 1, number)]})
        yield made


def client_of(made: ColdTrips) -> LedgerClient:
    """Return a client of the ledger."""
    return LedgerClient(made.ledger.url)
