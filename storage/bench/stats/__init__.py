"""Statistics of repeated measurements: intervals, steady state, differences, latencies."""
