"""What names in certificates look like."""

from typing import Final

DEVICE_URN: Final = "urn:wayseal:device:"
"""Begins the URI that only a device's certificate has; its id follows."""
