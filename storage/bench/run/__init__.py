"""One run of the benchmark: its plan, its order, its result and its files."""
