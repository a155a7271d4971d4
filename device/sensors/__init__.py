"""Sensors: what the truck measures, from real parts, from files or made up."""
