"""The embedded engine: one process alone makes the blocks."""
