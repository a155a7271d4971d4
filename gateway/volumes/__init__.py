"""`wayseal-gateway volumes`: shows and connects the machine's drives, for people and programs."""
