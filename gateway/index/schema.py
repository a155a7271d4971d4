"""Tables of the index. Rows are only added, each with its block; so a fork can be undone.

Every table has a column `block_num`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

VERSION: Final = 16

KEPT_READINGS: Final = """
CREATE TABLE kept_readings (
  trip INTEGER NOT NULL, position INTEGER NOT NULL, device INTEGER NOT NULL,
  sequence INTEGER NOT NULL, behind INTEGER NOT NULL, transaction_id BLOB,
  boot INTEGER NOT NULL, utc_ms INTEGER NOT NULL, monotonic_ms INTEGER NOT NULL, error_ms INTEGER,
  temperature_mcel INTEGER, humidity_mpct INTEGER, pressure_pa INTEGER,
  latitude_e7 INTEGER, longitude_e7 INTEGER, accuracy_cm INTEGER, tamper_flags INTEGER NOT NULL,
  block_num INTEGER NOT NULL,
  PRIMARY KEY (trip, position)
) WITHOUT ROWID;
"""
"""`position` counts all readings in the ledger's order; of a transaction's readings the first has
its id, and `behind` says how far back that one is."""


def readings_in(database: str) -> str:
    """Return a question for the readings in `main`, or in an attached database, with their names.

    Args:
        database: Its name within the connection.
    """
    return f"""
SELECT position, trips.name AS trip_id, devices.name AS device_id, sequence,
  (SELECT lower(hex(first.transaction_id)) FROM {database}.kept_readings AS first
    WHERE first.trip = kept.trip AND first.position = kept.position - kept.behind)
    AS transaction_id,
  (SELECT boot_id FROM main.boots WHERE number = kept.boot) AS boot_id,
  (SELECT clock_origin FROM main.boots WHERE number = kept.boot) AS clock_origin,
  (SELECT derived FROM main.boots WHERE number = kept.boot) AS derived,
  utc_ms, monotonic_ms, error_ms, temperature_mcel, humidity_mpct, pressure_pa, latitude_e7,
  longitude_e7, accuracy_cm, tamper_flags, kept.block_num AS block_num
FROM {database}.kept_readings AS kept JOIN main.names AS trips ON trips.number = kept.trip
LEFT JOIN main.names AS devices ON devices.number = kept.device
"""  # noqa: S608


_TABLES: Final = """
CREATE TABLE blocks (
  block_num INTEGER PRIMARY KEY,
  block_id TEXT NOT NULL,
  header BLOB NOT NULL
);
-- One row for each subject of a batch; evidence is gathered by subject. One key signs a batch.
-- The batch with which a block begins has the subject `time` and the block's number.
CREATE TABLE batches (
  subject TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  signer TEXT NOT NULL,
  block_num INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (subject, block_num, place)
) WITHOUT ROWID;
CREATE INDEX batches_by_id ON batches (batch_id);
-- The place of each transaction of any family, by the first 64 bits of its id. Ids are random, so
-- each new row goes to another page of a large table: see `LEVELS`.
-- Transactions outside their batch that our transactions depend on.
CREATE TABLE dependencies (
  place INTEGER NOT NULL, short_id INTEGER NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX dependencies_by_place ON dependencies (block_num, place);
-- The batches that changed an entry of ours, except entries of trips, which their subjects tell,
-- and except uses of a lot, which say nothing of where it comes from.
CREATE TABLE writes (
  address TEXT NOT NULL, block_num INTEGER NOT NULL, place INTEGER NOT NULL,
  PRIMARY KEY (address, block_num, place)
) WITHOUT ROWID;
-- The owner of each key, current or revoked: `party …` or `device …`.
CREATE TABLE keys (
  public_key TEXT NOT NULL, subject TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX keys_by_key ON keys (public_key);
CREATE INDEX keys_by_subject ON keys (subject);
CREATE TABLE parties (
  party_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX parties_by_id ON parties (party_id);
CREATE TABLE certificates (
  holder_id TEXT NOT NULL, kind TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX certificates_by_holder ON certificates (holder_id, kind);
CREATE TABLE sites (
  site_id TEXT NOT NULL, party_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX sites_by_id ON sites (site_id);
CREATE TABLE units (
  sscc TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX units_by_sscc ON units (sscc);
CREATE TABLE devices (
  device_id TEXT NOT NULL, party_id TEXT NOT NULL, public_keys TEXT NOT NULL,
  calibrated_until_ms INTEGER NOT NULL, block_num INTEGER NOT NULL
);
CREATE TABLE deliveries (
  delivery_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX deliveries_by_id ON deliveries (delivery_id);
-- Parties that any version of a delivery's terms names; a question looks whether the name still
-- stands there.
CREATE TABLE delivery_parties (
  party_id TEXT NOT NULL, delivery_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX delivery_parties_by_party ON delivery_parties (party_id);
CREATE TABLE orders (
  order_id TEXT NOT NULL, delivery_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX orders_by_id ON orders (order_id);
-- The records that name a lot: `role` is delivery, input, output or status, `id` names the
-- delivery, the transformation or the party that spoke of the lot.
CREATE TABLE lots (
  gtin TEXT NOT NULL, lot TEXT NOT NULL, role TEXT NOT NULL, id TEXT NOT NULL,
  block_num INTEGER NOT NULL
);
CREATE INDEX lots_by_name ON lots (gtin, lot, role);
CREATE INDEX lots_by_place ON lots (id, role);
CREATE TABLE lot_entries (
  gtin TEXT NOT NULL, lot TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX lot_entries_by_id ON lot_entries (gtin, lot);
CREATE TABLE transformations (
  transformation_id TEXT NOT NULL, entry BLOB NOT NULL, transaction_id TEXT NOT NULL,
  block_num INTEGER NOT NULL
);
CREATE TABLE transformation_parties (
  party_id TEXT NOT NULL, transformation_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX transformation_parties_by_party ON transformation_parties (party_id);
CREATE INDEX transformations_by_id ON transformations (transformation_id);
CREATE TABLE trips (
  trip_id TEXT NOT NULL, device_id TEXT NOT NULL, start BLOB NOT NULL,
  transaction_id TEXT NOT NULL, started_ms INTEGER NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trips_by_id ON trips (trip_id);
-- Every device that a trip's start names.
CREATE TABLE trip_devices (
  device_id TEXT NOT NULL, trip_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trip_devices_by_device ON trip_devices (device_id, trip_id);
CREATE INDEX trip_devices_by_trip ON trip_devices (trip_id, device_id);
-- `closed_ms` is NULL until a party closes the trip.
CREATE TABLE trip_entries (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, closed_ms INTEGER, block_num INTEGER NOT NULL
);
CREATE INDEX trip_entries_by_id ON trip_entries (trip_id);
CREATE TABLE trip_deliveries (
  delivery_id TEXT NOT NULL, trip_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trip_deliveries_by_delivery ON trip_deliveries (delivery_id);
CREATE INDEX trip_deliveries_by_trip ON trip_deliveries (trip_id);
CREATE TABLE holds (
  trip_id TEXT NOT NULL, hold_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX holds_by_trip ON holds (trip_id);
-- Numbers that stand for the ids of trips and devices in `kept_readings`.
CREATE TABLE names (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, block_num INTEGER NOT NULL
);
CREATE TABLE boots (
  number INTEGER PRIMARY KEY, boot_id BLOB NOT NULL, clock_origin INTEGER NOT NULL,
  derived INTEGER NOT NULL, block_num INTEGER NOT NULL,
  UNIQUE (boot_id, clock_origin, derived)
);
-- KEPT_READINGS. Questions about a trip ask `readings`, which `gateway/index/asking.py` makes of it
-- and of cold files; it is no view, so that nobody can ask this file alone by mistake.
-- It has all that `gateway/records/signs.py` asks, or SQLite would read the whole trip instead.
CREATE INDEX readings_with_signs
  ON kept_readings (trip, device, sequence, position, utc_ms, tamper_flags, block_num)
  WHERE tamper_flags > 0;
-- The position of a block's last reading.
CREATE TABLE positions (block_num INTEGER PRIMARY KEY, last INTEGER NOT NULL);
-- The time at which a block was begun, seconds since 1970, where the ledger records times.
CREATE TABLE block_times (block_num INTEGER PRIMARY KEY, time_s INTEGER NOT NULL);
-- Names the folder of this index's cold files. Its block is -1: it outlasts every cut.
CREATE TABLE cold_home (generation TEXT NOT NULL, block_num INTEGER NOT NULL);
-- Trips whose readings lie in a cold file up to position `last`, and here after it. The file has
-- them up to `file_last`, `readings` in all with that SHA-256; a move leaves `last` behind for a
-- while. `block_num` is the block of the reading at `last`.
CREATE TABLE cold_trips (
  trip INTEGER PRIMARY KEY, file INTEGER NOT NULL, readings INTEGER NOT NULL, sha256 BLOB NOT NULL,
  file_last INTEGER NOT NULL, last INTEGER NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX cold_trips_by_file ON cold_trips (file);
-- What lists say of readings that were moved, so that no list opens a cold file.
CREATE TABLE cold_devices (
  trip INTEGER NOT NULL, device INTEGER NOT NULL, readings INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL, last_utc_ms INTEGER NOT NULL, block_num INTEGER NOT NULL,
  PRIMARY KEY (trip, device)
) WITHOUT ROWID;
CREATE TABLE cold_signs (
  trip INTEGER NOT NULL, device INTEGER NOT NULL, sequence INTEGER NOT NULL,
  position INTEGER NOT NULL, utc_ms INTEGER NOT NULL, tamper_flags INTEGER NOT NULL,
  block_num INTEGER NOT NULL, PRIMARY KEY (trip, device, sequence, position)
) WITHOUT ROWID;
CREATE VIEW cold_read AS
SELECT trips.name AS trip_id, devices.name AS device_id, readings, last_sequence, last_utc_ms,
  cold.block_num AS block_num
FROM cold_devices AS cold JOIN names AS trips ON trips.number = cold.trip
JOIN names AS devices ON devices.number = cold.device;
CREATE VIEW signs AS
SELECT trips.name AS trip_id, devices.name AS device_id, position, sequence, utc_ms, tamper_flags,
  kept.block_num AS block_num
FROM kept_readings AS kept JOIN names AS trips ON trips.number = kept.trip
JOIN names AS devices ON devices.number = kept.device WHERE tamper_flags > 0
UNION ALL
SELECT trips.name, devices.name, position, sequence, utc_ms, tamper_flags, cold.block_num
FROM cold_signs AS cold JOIN names AS trips ON trips.number = cold.trip
JOIN names AS devices ON devices.number = cold.device;
-- The area of a trip's positions, a row for each block with some of them.
CREATE TABLE trip_areas (
  trip_id TEXT NOT NULL, south_e7 INTEGER NOT NULL, west_e7 INTEGER NOT NULL,
  north_e7 INTEGER NOT NULL, east_e7 INTEGER NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trip_areas_by_trip ON trip_areas (trip_id);
-- The sites that a trip's start names.
CREATE TABLE trip_sites (
  site_id TEXT NOT NULL, trip_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trip_sites_by_site ON trip_sites (site_id);
CREATE TABLE seals (
  trip_id TEXT NOT NULL, device_id TEXT NOT NULL, action BLOB NOT NULL,
  transaction_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX seals_by_trip ON seals (trip_id);
-- The chain of a device that has sealed its trip, as it stands, and the device's last time on it.
CREATE TABLE chains (
  trip_id TEXT NOT NULL, device_id TEXT NOT NULL, entry BLOB NOT NULL, ended_ms INTEGER NOT NULL,
  block_num INTEGER NOT NULL
);
CREATE INDEX chains_by_trip ON chains (trip_id, device_id);
CREATE TABLE videos (
  sha256 BLOB NOT NULL, trip_id TEXT NOT NULL, action BLOB NOT NULL,
  transaction_id TEXT NOT NULL, started_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,
  block_num INTEGER NOT NULL
);
CREATE INDEX videos_by_trip ON videos (trip_id);
CREATE INDEX videos_by_hash ON videos (sha256);
CREATE TABLE handovers (
  trip_id TEXT NOT NULL, delivery_id TEXT NOT NULL, action BLOB NOT NULL,
  signer TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX handovers_by_trip ON handovers (trip_id);
CREATE INDEX handovers_by_delivery ON handovers (delivery_id);
-- A handover as it stands after a signature; `address` tells handovers apart.
CREATE TABLE handover_entries (
  delivery_id TEXT NOT NULL, address TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX handover_entries_by_delivery ON handover_entries (delivery_id, address);
-- `until_ms` is NULL until the breach has ended: what the entry says is only how far it is known.
CREATE TABLE breaches (
  trip_id TEXT NOT NULL, delivery_id TEXT NOT NULL, address TEXT NOT NULL, entry BLOB NOT NULL,
  since_ms INTEGER NOT NULL, until_ms INTEGER, block_num INTEGER NOT NULL
);
CREATE INDEX breaches_by_address ON breaches (address);
CREATE INDEX breaches_by_trip ON breaches (trip_id);
CREATE INDEX breaches_by_delivery ON breaches (delivery_id);
CREATE TABLE tampers (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX tampers_by_trip ON tampers (trip_id);
-- What devices said of themselves; those of one device are in the order of its chain.
CREATE TABLE remarks (
  trip_id TEXT NOT NULL, kind INTEGER NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX remarks_by_trip ON remarks (trip_id, kind);
CREATE TABLE findings (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX findings_by_trip ON findings (trip_id);
"""

SORT_IN_BLOCKS: Final = 64
_GROWTH: Final = 8
LEVELS: Final = (
    "new_transactions",
    *(f"transactions_{SORT_IN_BLOCKS * _GROWTH**level}" for level in range(3)),
    "transactions",
)
"""The places of transactions: new ones wait in the first table, and each table moves to the next
one when it has the rows of `SORT_IN_BLOCKS` blocks, or `_GROWTH` times those of the table before.
So a row is moved four times at most, each time with enough others to share the pages it goes to."""
_PLACES: Final = """
CREATE TABLE {} (
  short_id INTEGER NOT NULL, block_num INTEGER NOT NULL, place INTEGER NOT NULL,
  PRIMARY KEY (short_id, block_num, place)
) WITHOUT ROWID;
"""
SCHEMA: Final = (
    KEPT_READINGS
    + _TABLES
    + f"CREATE VIEW warm_readings AS {readings_in('main')};"
    + "".join(map(_PLACES.format, LEVELS))
)
COLD_SCHEMA: Final = (
    KEPT_READINGS
    + """
-- One row: which file this is.
CREATE TABLE head (
  version INTEGER NOT NULL, generation TEXT NOT NULL, file INTEGER NOT NULL, genesis TEXT NOT NULL
);
-- Trips with the SHA-256 of their readings, the position of the last, and the block that has it.
CREATE TABLE trips (
  trip INTEGER PRIMARY KEY, readings INTEGER NOT NULL, sha256 BLOB NOT NULL, last INTEGER NOT NULL,
  block_num INTEGER NOT NULL, block_id TEXT NOT NULL
);
"""
)
"""A cold file: see docs/adr/0091-old-trips-in-cold-files.md."""


def sort_in(block_num: int) -> Iterator[str]:
    """Yield the statements that move transactions on, after a block."""
    blocks = SORT_IN_BLOCKS
    for table, larger in pairwise(LEVELS):
        if block_num % blocks:
            return
        yield f"INSERT INTO {larger} SELECT * FROM {table}"  # noqa: S608
        yield f"DELETE FROM {table}"  # noqa: S608
        blocks *= _GROWTH
