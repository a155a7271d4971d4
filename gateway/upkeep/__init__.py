"""Upkeep: the gateway's background work for its recordings."""
