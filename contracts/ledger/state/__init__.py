"""Global state: Sawtooth's Merkle-radix tree, and the store of its nodes."""
