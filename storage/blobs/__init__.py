"""Recordings as 1 MiB blobs: one port, a store per medium."""
