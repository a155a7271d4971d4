"""Records: what a truck measures and films, as plain values that cannot be invalid."""
