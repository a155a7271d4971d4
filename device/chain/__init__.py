"""The chain of a trip: readings linked by hash, signed one by one or in runs, and batched."""
