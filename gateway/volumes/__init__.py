"""`wayseal-gateway volumes`: the machine's drives, for people and programs."""
