"""Trucks of the benchmark: what they sign, film and upload."""
