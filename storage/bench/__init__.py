"""Benchmarks: they start processes, drive them over public interfaces and measure them."""
