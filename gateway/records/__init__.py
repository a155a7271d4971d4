"""Typed answers about trips, lots, deliveries and recordings; the only room that asks the index."""
