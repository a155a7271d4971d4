"""Tables of the index. Rows are only added, each with its block, so that a fork can be undone."""

from typing import Final

VERSION: Final = 2

TABLES: Final = (
    "blocks",
    "batches",
    "parties",
    "sites",
    "devices",
    "deliveries",
    "lots",
    "trips",
    "trip_deliveries",
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
-- One row for each thing a batch is about; evidence is gathered by subject.
CREATE TABLE batches (
  subject TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  block_num INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (subject, block_num, place)
) WITHOUT ROWID;
CREATE INDEX batches_by_id ON batches (batch_id);
CREATE TABLE parties (
  party_id TEXT NOT NULL, name TEXT NOT NULL, public_keys TEXT NOT NULL,
  block_num INTEGER NOT NULL
);
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
CREATE TABLE lots (
  gtin TEXT NOT NULL, lot TEXT NOT NULL, delivery_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX lots_by_id ON lots (gtin, lot);
CREATE TABLE trips (
  trip_id TEXT NOT NULL, device_id TEXT NOT NULL, start BLOB NOT NULL,
  transaction_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trips_by_id ON trips (trip_id);
CREATE TABLE trip_deliveries (
  delivery_id TEXT NOT NULL, trip_id TEXT NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX trip_deliveries_by_delivery ON trip_deliveries (delivery_id);
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
CREATE TABLE breaches (
  trip_id TEXT NOT NULL, address TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX breaches_by_trip ON breaches (trip_id);
CREATE TABLE tampers (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX tampers_by_trip ON tampers (trip_id);
CREATE TABLE findings (
  trip_id TEXT NOT NULL, entry BLOB NOT NULL, block_num INTEGER NOT NULL
);
CREATE INDEX findings_by_trip ON findings (trip_id);
"""
