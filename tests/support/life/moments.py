"""A world's clock: true time, what the truck's clock claims, and which boot this is."""

import importlib
import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

START_S: Final = 1_750_000_000
DAY_S: Final = 86_400
READERS: Final = (
    "device.live.clock",
    "device.recorder",
    "device.live.watch",
    "device.offload.session",
)
"""Modules of the agent whose clock is this one while a truck lives."""


class Moments:
    """Stands in for module `time`: nothing waits, time passes when the world says so.

    Attributes:
        true_s: Seconds since the world began.
        error_s: What the truck's clock is wrong by.
    """

    CLOCK_BOOTTIME = time.CLOCK_BOOTTIME

    def __init__(self, chance: random.Random, boot_id: Path) -> None:
        self.true_s = 0.0
        self.error_s = 0
        self.boots: list[bytes] = []
        self._booted_s = 0.0
        self._chance = chance
        self._boot_id = boot_id
        self.boot()

    def boot(self) -> None:
        """Begin a new boot: another id, and counters that begin again."""
        boot = uuid.UUID(int=self._chance.getrandbits(128))
        self._boot_id.write_text(f"{boot}\n")
        self.boots.append(boot.bytes)
        self._booted_s = self.true_s

    def monotonic(self) -> float:
        return self.true_s - self._booted_s

    def time(self) -> float:
        return START_S + self.true_s + self.error_s

    def time_ns(self) -> int:
        return round(self.time() * 1_000) * 1_000_000

    def clock_gettime_ns(self, _: int) -> int:
        return round(self.monotonic() * 1_000) * 1_000_000

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Let the agent's modules ask this clock and this boot id."""
        modules: list[Any] = [importlib.import_module(name) for name in READERS]
        clock = modules[0]
        before = [module.time for module in modules], clock._BOOT_ID  # noqa: SLF001
        kernel_clock = clock.kernel_clock
        try:
            for module in modules:
                module.time = self
            clock._BOOT_ID = self._boot_id  # noqa: SLF001
            clock.kernel_clock = lambda: None  # this machine's clock is not the truck's
            yield
        finally:
            for module, own in zip(modules, before[0], strict=True):
                module.time = own
            clock._BOOT_ID = before[1]  # noqa: SLF001
            clock.kernel_clock = kernel_clock
