"""Real Cassandra servers on this machine, for developers, tests and the benchmark."""
