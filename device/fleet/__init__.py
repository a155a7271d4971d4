"""Simulated trucks, many at once, on real journeys: what a checkpoint takes, measured."""
