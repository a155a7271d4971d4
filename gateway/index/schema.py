"""Tables of the index. Rows are only added, each with its block, so that a fork can be undone."""

from typing import Final

VERSION: Final = 4

TABLES: Final = (
    "blocks",
    "batches",
    "transactions",
    "new_transactions",
    "dependencies",
    "keys",
    "parties",
    "sites",
    "devices",
    "deliveries",
    "lots",
    "lot_entries",
    "transformations",
    "trips",
    "trip_entries",
    "trip_deliveries",
    "holds",
    "readings",
    "seals",
    "videos",
    "handovers",
    "breaches",
    "tampers",
    "findings",
)

SCHEMA: Final = """
CREATE TABLE blocks (
  block_num INTEGER PRIMARY KEY,
  block_id TEXT NOT NULL,
  header BLOB NOT NULL
);
-- One row for each thing a batch is about; evidence is gathered by subject. One key signs it all.
CREATE TABLE batches (
  subject TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  signer TEXT NOT NULL,
  block_num INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (subject, block_num, place)
) WITHOUT ROWID;
CREATE INDEX batches_by_id ON batches (batch_id);
-- Where each transaction of any family is, by the first 64 bits of its id. There is one for every
-- reading, anywhere in the table: new ones wait in a small one, and go into the large one together.
CREATE TABLE transactions (
  short_id INTEGER NOT NULL, block_num INTEGER NOT NULL, place INTEGER NOT NULL,
  PRIMARY KEY (short_id, block_num, place)
) WITHOUT ROWID;
CREATE TABLE new_transactions (
  short_id INTEGER NOT NULL, block_num INTEGER NOT NULL, place INTEGER NOT NULL,
  PRIMARY KEY (short_id, block_num, place)
) WITHOUT ROWID;
-- What our transactions depend on outside their batch.
CREATE TABLE dependencies (
  place INTEGER NOT NULL, short_id INTEGER NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX dependencies_by_place ON dependencies (block_num, place);
-- Whose each key is, current or revoked: `party …` or `device …`.
CREATE TABLE keys (
  public_key TEXT NOT NULL, subject TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX keys_by_key ON keys (public_key);
CREATE INDEX keys_by_subject ON keys (subject);
CREATE TABLE parties (
  party_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX parties_by_id ON parties (party_id);
CREATE TABLE sites (
  site_id TEXT NOT NULL, party_id TEXT NOT NULL, name TEXT NOT NULL, gln TEXT NOT NULL,
  block_num INTEGER NOT NULL
);
CREATE TABLE devices (
  device_id TEXT NOT NULL, party_id TEXT NOT NULL, public_keys TEXT NOT NULL,
  calibrated_until_ms INTEGER NOT NULL, block_num INTEGER NOT NULL
);
CREATE TABLE deliveries (
  delivery_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX deliveries_by_id ON deliveries (delivery_id);
-- Where a lot is named: `role` is delivery, input or output, `id` the delivery or transformation.
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
CREATE INDEX transformations_by_id ON transformations (transformation_id);
CREATE TABLE trips (
  trip_id TEXT NOT NULL, device_id TEXT NOT NULL, start BLOB NOT NULL,
  transaction_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trips_by_id ON trips (trip_id);
CREATE TABLE trip_entries (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trip_entries_by_id ON trip_entries (trip_id);
CREATE TABLE trip_deliveries (
  delivery_id TEXT NOT NULL, trip_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trip_deliveries_by_delivery ON trip_deliveries (delivery_id);
CREATE TABLE holds (
  trip_id TEXT NOT NULL, hold_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX holds_by_trip ON holds (trip_id);
-- `record`: a RecordReading, or the RunReading of a run, which has the same fields but its place.
CREATE TABLE readings (
  position INTEGER PRIMARY KEY,
  trip_id TEXT NOT NULL, device_id TEXT NOT NULL, sequence INTEGER NOT NULL,
  record BLOB NOT NULL, transaction_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX readings_by_trip ON readings (trip_id, position);
CREATE TABLE seals (
  trip_id TEXT NOT NULL, device_id TEXT NOT NULL, action BLOB NOT NULL,
  transaction_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX seals_by_trip ON seals (trip_id);
CREATE TABLE videos (
  sha256 BLOB NOT NULL, trip_id TEXT NOT NULL, action BLOB NOT NULL,
  transaction_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX videos_by_trip ON videos (trip_id);
CREATE INDEX videos_by_hash ON videos (sha256);
CREATE TABLE handovers (
  trip_id TEXT NOT NULL, delivery_id TEXT NOT NULL, action BLOB NOT NULL,
  signer TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX handovers_by_trip ON handovers (trip_id);
CREATE INDEX handovers_by_delivery ON handovers (delivery_id);
CREATE TABLE breaches (
  trip_id TEXT NOT NULL, delivery_id TEXT NOT NULL, address TEXT NOT NULL, entry BLOB NOT NULL,
  block_num INTEGER NOT NULL
);
CREATE INDEX breaches_by_trip ON breaches (trip_id);
CREATE INDEX breaches_by_delivery ON breaches (delivery_id);
CREATE TABLE tampers (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX tampers_by_trip ON tampers (trip_id);
CREATE TABLE findings (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX findings_by_trip ON findings (trip_id);
"""

SORT_IN: Final = (
    "INSERT INTO transactions SELECT * FROM new_transactions",
    "DELETE FROM new_transactions",
)
SORT_IN_BLOCKS: Final = 64
"""Blocks whose transactions wait together."""
