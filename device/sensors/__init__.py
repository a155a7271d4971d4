"""Sensors: where samples come from: files that are replayed, or the simulator."""
