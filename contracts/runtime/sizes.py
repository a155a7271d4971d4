"""Bytes for people."""

from typing import Final

_SIZES: Final = ((10**15, "PB"), (10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_TEN: Final = 10


def size(count: int) -> str:
    """Return bytes as drive makers count them: `1.9 TB`, `256 GB`."""
    for unit, name in _SIZES:
        if count >= unit - unit // 2000:  # or it would be rounded to 1000 of the smaller unit
            value = count / unit
            return f"{value:.1f} {name}" if value < _TEN else f"{value:.0f} {name}"
    return f"{count} B"
