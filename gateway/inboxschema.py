"""Tables of the inbox, and its longest question."""

from typing import Final

_FIRST: Final = """
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
_PROVISIONAL_RECEIPTS: Final = """
ALTER TABLE receipts ADD COLUMN final INTEGER NOT NULL DEFAULT 1;
"""
STEPS: Final = (_FIRST, _PROVISIONAL_RECEIPTS)
"""What makes each version out of the one before; a new inbox takes them all."""

COLUMNS: Final = (
    "batch_id, device_id, trip_id, wire, readings, dependency, last_transaction_id, recording,"
    " state, reason"
)


# The unary + keeps a term from choosing the index: each step is looked up by transaction id.
CHAIN: Final = f"""
WITH RECURSIVE chain (arrival, last, depth) AS (
  SELECT b.arrival, b.last_transaction_id, 0 FROM batches AS b
    WHERE b.trip_id = ?2 AND b.device_id = ?3 AND b.state = ?1 AND b.recording IS NULL
    AND NOT EXISTS (SELECT 1 FROM batches AS p
      WHERE p.last_transaction_id = b.dependency AND +p.state = ?1)
  UNION ALL
  SELECT b.arrival, b.last_transaction_id, depth + 1 FROM chain JOIN batches AS b
    ON b.dependency = chain.last AND b.dependency <> ''
    WHERE +b.state = ?1 AND b.recording IS NULL AND +b.trip_id = ?2 AND +b.device_id = ?3
  LIMIT ?4)
SELECT {COLUMNS} FROM chain JOIN batches USING (arrival) ORDER BY depth, arrival"""  # noqa: S608
