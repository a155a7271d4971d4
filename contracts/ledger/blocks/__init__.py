"""Committed blocks on disk: a log, and an index that finds blocks, batches and transactions."""
