"""Uploads: begun, resumed, written once into the store, finished or started over."""
