"""Tables of the inbox, and the statements that several of its files execute."""

from typing import Final

from contracts.runtime.running import RUNNING_TABLE
from contracts.runtime.schema import Schema

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
# An upsert of batches would replace the policy of an INSERT OR IGNORE in a trigger by its own.
_BY_DEVICE: Final = """
CREATE INDEX batches_by_device ON batches (device_id, state);
CREATE INDEX visits_by_device ON visits (device_id);
CREATE TABLE usage (
  device_id TEXT NOT NULL,
  state TEXT NOT NULL,
  amount INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (device_id, state)
) WITHOUT ROWID;
INSERT INTO usage
  SELECT device_id, state, count(*), sum(length(wire)) FROM batches GROUP BY device_id, state;
CREATE TRIGGER batch_came AFTER INSERT ON batches BEGIN
  INSERT INTO usage SELECT new.device_id, new.state, 0, 0 WHERE NOT EXISTS
    (SELECT 1 FROM usage WHERE device_id = new.device_id AND state = new.state);
  UPDATE usage SET amount = amount + 1, bytes = bytes + length(new.wire)
    WHERE device_id = new.device_id AND state = new.state;
END;
CREATE TRIGGER batch_moved AFTER UPDATE OF device_id, state, wire ON batches BEGIN
  UPDATE usage SET amount = amount - 1, bytes = bytes - length(old.wire)
    WHERE device_id = old.device_id AND state = old.state;
  INSERT INTO usage SELECT new.device_id, new.state, 0, 0 WHERE NOT EXISTS
    (SELECT 1 FROM usage WHERE device_id = new.device_id AND state = new.state);
  UPDATE usage SET amount = amount + 1, bytes = bytes + length(new.wire)
    WHERE device_id = new.device_id AND state = new.state;
END;
CREATE TRIGGER batch_went AFTER DELETE ON batches BEGIN
  UPDATE usage SET amount = amount - 1, bytes = bytes - length(old.wire)
    WHERE device_id = old.device_id AND state = old.state;
END;
"""
# Ages lie beside the batches, since a column behind a wire is slow to reach. What came in before
# this step is as old as the step.
_AGES: Final = """
ALTER TABLE visits ADD COLUMN since_s REAL NOT NULL DEFAULT 0;
CREATE TABLE ages (arrival INTEGER PRIMARY KEY, since_s REAL NOT NULL);
INSERT INTO ages SELECT arrival, 0 FROM batches;
CREATE TRIGGER age_began AFTER INSERT ON batches BEGIN
  INSERT INTO ages SELECT new.arrival, elapsed_s FROM clock;
END;
CREATE TRIGGER age_began_again AFTER UPDATE OF received_ms ON batches BEGIN
  UPDATE ages SET since_s = (SELECT elapsed_s FROM clock) WHERE arrival = new.arrival;
END;
CREATE TRIGGER age_ended AFTER DELETE ON batches BEGIN
  DELETE FROM ages WHERE arrival = old.arrival;
END;
"""
# Two visits may begin in one millisecond, and a clock may be set back: a page needs a place of its
# own. AUTOINCREMENT gives no place twice, so a page never passes over a visit.
_PLACES: Final = """
CREATE TABLE visit_places (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  trip_id TEXT NOT NULL,
  device_id TEXT NOT NULL,
  UNIQUE (trip_id, device_id)
);
INSERT INTO visit_places (trip_id, device_id)
  SELECT trip_id, device_id FROM visits ORDER BY since_ms, trip_id, device_id;
CREATE TRIGGER visit_came AFTER INSERT ON visits BEGIN
  INSERT INTO visit_places (trip_id, device_id) VALUES (new.trip_id, new.device_id);
END;
CREATE TRIGGER visit_went AFTER DELETE ON visits BEGIN
  DELETE FROM visit_places WHERE trip_id = old.trip_id AND device_id = old.device_id;
END;
"""
INBOX: Final = Schema(
    "inbox", (_FIRST, _PROVISIONAL_RECEIPTS, _BY_DEVICE, RUNNING_TABLE + _AGES, _PLACES)
)

NOW_MS: Final = "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)"
"""This machine's time, ms since the epoch, as SQL: SQLite asks the clock as it writes the row."""
ADD_VISIT: Final = (
    f"INSERT INTO visits VALUES (?,?,{NOW_MS},(SELECT elapsed_s FROM clock))"  # noqa: S608
    " ON CONFLICT DO NOTHING"
)
"""Begins a visit by trip id and device id, unless it has begun."""
COLUMNS: Final = (
    "batch_id, device_id, trip_id, wire, readings, dependency, last_transaction_id, recording,"
    " state, reason"
)
REASON: Final = "trim(reason)"
"""A reason without the room that an empty one leaves."""
SELECTED: Final = COLUMNS.replace("reason", REASON)


# The unary + keeps SQLite from choosing an index for that term: each step is found by its
# transaction id. The sizes go along, since a window over the batches would copy their bytes.
CHAIN: Final = f"""
WITH RECURSIVE chain (arrival, last, depth, size) AS (
  SELECT b.arrival, b.last_transaction_id, 0, length(b.wire) FROM batches AS b
    WHERE b.trip_id = ?2 AND b.device_id = ?3 AND b.state = ?1 AND b.recording IS NULL
    AND NOT EXISTS (SELECT 1 FROM batches AS p
      WHERE p.last_transaction_id = b.dependency AND +p.state = ?1)
  UNION ALL
  SELECT b.arrival, b.last_transaction_id, depth + 1, length(b.wire) FROM chain
    JOIN batches AS b ON b.dependency = chain.last AND b.dependency <> ''
    WHERE +b.state = ?1 AND b.recording IS NULL AND +b.trip_id = ?2 AND +b.device_id = ?3
  LIMIT ?4),
sized (arrival, depth, before) AS (
  SELECT arrival, depth, sum(size) OVER (ORDER BY depth, arrival) - size FROM chain)
SELECT {SELECTED} FROM sized JOIN batches USING (arrival) WHERE before < ?5
  ORDER BY depth, arrival"""  # noqa: S608
