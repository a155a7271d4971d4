"""Retention, as far as bytes go: how old copies are, and which of them are due to go."""
