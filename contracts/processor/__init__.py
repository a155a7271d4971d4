"""The rules hosted in a Sawtooth transaction processor."""
