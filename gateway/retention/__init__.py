"""Retention: deletes recordings as trips, holds and the ledger allow, and records each deletion."""
