"""What the node keeps: the log of blocks, the index that is computed from it, state."""
