"""One run of the benchmark: what is measured in which order, and what is kept of it."""
