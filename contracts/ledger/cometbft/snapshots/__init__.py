"""State sync: a new validator takes the chain from the others in chunks, and makes it again."""
