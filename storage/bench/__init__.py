"""Benchmarks: processes driven over their public interfaces, and what they took."""
