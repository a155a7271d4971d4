"""An I2C bus as smbus2 gives it, and what drivers of chips on it have in common."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from contracts.errors import UnavailableError
from device.live.port import Measured

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


class StSensor(ABC):
    """Sensor: chips of ST on one bus, set up when it is opened.

    Args:
        bus: Number of the I2C bus, or an open one.
        name: Its name, for messages.

    Raises:
        UnavailableError: smbus2 is not installed, a chip does not answer, or it is another one.
    """

    def __init__(self, bus: int | I2cBus, name: str) -> None:
        self.name = f"{name} on I2C bus {bus}" if isinstance(bus, int) else name
        self.bus = open_bus(bus, self.name) if isinstance(bus, int) else bus
        try:
            with self.asking():
                self._set_up()
        except UnavailableError:
            self.close()
            raise

    @abstractmethod
    def measure(self) -> Measured:
        """See `Sensor.measure`."""

    @abstractmethod
    def _set_up(self) -> None:
        """Set the chips up.

        Raises:
            UnavailableError: A chip is another one, or damaged.
            OSError: One does not answer.
        """

    def close(self) -> None:
        """See `Sensor.close`."""
        self.bus.close()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Turn the OSError of a chip that does not answer into an UnavailableError."""
        try:
            yield
        except OSError as error:
            raise lost(self.name, error) from error

    def check_chip(self, chip: int, expected: int, kind: str) -> None:
        """Check that the chip at an address is the one that is wanted.

        Raises:
            UnavailableError: It is another chip.
            OSError: Nothing answers at the address.
        """
        found = self.bus.read_byte_data(chip, _WHO_AM_I)
        if found != expected:
            raise UnavailableError(
                f"{self.name}: expected the WHO_AM_I {expected:#x} of an {kind}, got {found:#x}, "
                f"which is another chip"
            )

    def check_mode(self, chip: int, register: int, name: str, expected: int) -> None:
        """Check that a chip still measures as it was set up to.

        Raises:
            UnavailableError: It does not; once it is opened again it will.
            OSError: It does not answer.
        """
        found = self.bus.read_byte_data(chip, register)
        if found != expected:
            raise UnavailableError(
                f"{self.name}: expected {name} of the chip at {chip:#x} to be {expected:#x}, got "
                f"{found:#x}: it lost power, or another program uses it; it is set up again"
            )

    def await_status(
        self,
        chip: int,
        register: int,
        is_ready: Callable[[int], bool],
        *,
        pause_s: float,
        within_s: float,
    ) -> int:
        """Return a chip's status once it is ready.

        Args:
            chip: Its address.
            register: Its register of status.
            is_ready: Says whether there is something to read.
            pause_s: Time from one look to the next, seconds.
            within_s: How long the chip may take, seconds.

        Raises:
            UnavailableError: It takes longer.
            OSError: It does not answer.
        """
        until_s = time.monotonic() + within_s
        while not is_ready(status := self.bus.read_byte_data(chip, register)):
            if time.monotonic() > until_s:
                raise UnavailableError(
                    f"{self.name}: the chip at {chip:#x} measures nothing within {within_s:g} s"
                )
            time.sleep(pause_s)
        return status


def lost(name: str, error: OSError) -> UnavailableError:
    """Return the error of a chip that does not answer."""
    return UnavailableError(f"{name}: {error.strerror}; {_REMEDY}")
