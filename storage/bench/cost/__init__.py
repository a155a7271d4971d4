"""The cost of a node: price, energy and manpower."""
