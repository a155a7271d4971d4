"""GPIO pins that a test drives, in place of a Raspberry Pi's."""

from collections.abc import Iterator
from contextlib import contextmanager

from gpiozero import Device
from gpiozero.pins.mock import MockFactory


@contextmanager
def mock_pins() -> Iterator[MockFactory]:
    """Let gpiozero have pins that a test drives."""
    factory, before = MockFactory(), Device.pin_factory
    Device.pin_factory = factory
    try:
        yield factory
    finally:
        Device.pin_factory = before
        factory.reset()
