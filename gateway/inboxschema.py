"""Tables of the inbox."""

from typing import Final

SCHEMA_VERSION: Final = 1
SCHEMA: Final = """
CREATE TABLE batches (
  arrival INTEGER PRIMARY KEY,
  batch_id TEXT NOT NULL UNIQUE,
  device_id TEXT NOT NULL,
  trip_id TEXT NOT NULL,
  readings INTEGER NOT NULL,
  dependency TEXT NOT NULL,
  last_transaction_id TEXT NOT NULL,
  recording BLOB,
  state TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  received_ms INTEGER NOT NULL,
  wire BLOB NOT NULL -- last, since a column behind so long a one is slow to reach
);
CREATE INDEX batches_by_state ON batches (state, arrival);
CREATE INDEX batches_by_trip ON batches (trip_id, device_id, state);
CREATE INDEX batches_by_end ON batches (last_transaction_id);
CREATE INDEX batches_by_dependency ON batches (dependency) WHERE dependency <> '';
CREATE TABLE offers (
  trip_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  recording BLOB NOT NULL,
  size INTEGER NOT NULL,
  tree_root BLOB NOT NULL,
  batch_id TEXT NOT NULL,
  PRIMARY KEY (trip_id, device_id, recording)
) WITHOUT ROWID;
CREATE INDEX offers_by_recording ON offers (recording);
CREATE TABLE visits (
  trip_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (trip_id, device_id)
) WITHOUT ROWID;
CREATE TABLE network (
  only INTEGER PRIMARY KEY CHECK (only = 0),
  genesis_id TEXT NOT NULL
);
CREATE TABLE receipts (
  trip_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  wire BLOB NOT NULL,
  PRIMARY KEY (trip_id, device_id)
) WITHOUT ROWID;
"""
