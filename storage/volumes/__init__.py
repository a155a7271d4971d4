"""Volumes that hold whole recordings as files, each under guard."""
