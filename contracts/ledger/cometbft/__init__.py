"""The engine of a network: CometBFT orders the batches, and each validator executes them here."""
