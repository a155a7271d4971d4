"""Retention, as far as trips, holds and the ledger go: what may go, and the record of it."""
