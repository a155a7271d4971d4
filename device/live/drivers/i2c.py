"""An I2C bus as smbus2 gives it, and what may go wrong with any chip on it."""

from collections.abc import Sequence
from typing import Final, Protocol

from contracts.errors import UnavailableError

_WHO_AM_I: Final = 0x0F
"""Where chips of ST say which one they are."""
_REMEDY: Final = "docs/hardware.md says how to wire and check it"


class I2cBus(Protocol):
    """What of smbus2's interface is used. Each call raises OSError if the chip does not answer."""

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        """Return one register."""
        ...

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None:
        """Write one register."""
        ...

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> Sequence[int]:
        """Return registers one after the other."""
        ...

    def close(self) -> None:
        """Release the bus."""
        ...


def open_bus(number: int, name: str) -> I2cBus:
    """Open a bus.

    Args:
        number: Of the bus.
        name: Of the chip that is wanted on it, for messages.

    Raises:
        UnavailableError: smbus2 is not installed, or there is no such bus.
    """
    try:
        from smbus2 import SMBus  # noqa: PLC0415 - only these drivers need it
    except ImportError as error:
        raise UnavailableError("smbus2 is not installed: scripts/install device") from error
    try:
        return SMBus(number)
    except OSError as error:
        raise lost(name, error) from error


def check_chip(bus: I2cBus, address: int, expected: int, kind: str, name: str) -> None:
    """Check that a chip of ST is the one that is wanted.

    Raises:
        UnavailableError: It is another chip.
        OSError: Nothing answers at the address.
    """
    found = bus.read_byte_data(address, _WHO_AM_I)
    if found != expected:
        raise UnavailableError(
            f"{name}: expected the WHO_AM_I {expected:#x} of an {kind}, got {found:#x}, which is "
            f"another chip"
        )


def lost(name: str, error: OSError) -> UnavailableError:
    """Return the error of a chip that does not answer."""
    return UnavailableError(f"{name}: {error.strerror}; {_REMEDY}")
