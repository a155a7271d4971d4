"""Cameras: where recordings come from."""
