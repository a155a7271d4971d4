"""Bytes at rest: blobs and whole recordings on volumes."""
