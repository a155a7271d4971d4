"""Clips: a part of a recording, made to be watched by itself."""
