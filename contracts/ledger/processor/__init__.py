"""`wayseal-tp`: the rules as a Sawtooth transaction processor."""
