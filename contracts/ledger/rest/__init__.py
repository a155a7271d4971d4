"""Sawtooth's REST API, answer for answer."""
