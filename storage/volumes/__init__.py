"""Whole recordings as files on a volume."""
