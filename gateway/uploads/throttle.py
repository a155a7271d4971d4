"""A bandwidth for each device, so that a fast truck leaves room for the others."""

import asyncio
from typing import Final

DEVICES_MAX: Final = 10_000
"""Devices whose pace is remembered."""
BURST_S: Final = 1.0
"""Time, seconds, that a device may be ahead of its pace."""
DEBT_S: Final = 5.0
"""Most time, seconds, that a device waits for work it caused beside its bytes."""


class Throttle:
    """Makes senders wait; for one event loop.

    Args:
        bytes_per_s: Of one device's uploads together; 0 means without limit.
    """

    def __init__(self, bytes_per_s: int) -> None:
        self.bytes_per_s = bytes_per_s
        self._due_s: dict[str, float] = {}

    async def pass_on(self, device_id: str, size: int) -> None:
        """Return once a device may send more than the `size` bytes that came."""
        delay_s = self.delay_s(device_id, size, asyncio.get_running_loop().time())
        if delay_s > 0:
            await asyncio.sleep(delay_s)

    def delay_s(self, device_id: str, size: int, now_s: float) -> float:
        """Count `size` bytes, and return how long the device must wait, seconds."""
        if not self.bytes_per_s:
            return 0.0
        since_s = max(self._due_s.pop(device_id, 0.0), now_s - BURST_S)
        due_s = self._due_s[device_id] = since_s + size / self.bytes_per_s
        if len(self._due_s) > DEVICES_MAX:
            del self._due_s[next(iter(self._due_s))]
        return max(0.0, due_s - now_s)

    def charge(self, device_id: str, size: int, now_s: float) -> None:
        """Count `size` bytes that the gateway must read again because of a device.

        The device's next bytes wait for them, for DEBT_S at most: a sender that waits holds a
        place that others may need.
        """
        if self.bytes_per_s:
            self.delay_s(device_id, size, now_s)
            self._due_s[device_id] = min(self._due_s[device_id], now_s + DEBT_S)
