"""An LSM9DS1 on I2C as a register file, with smbus2's interface.

Source: ST LSM9DS1 data sheet, DocID025715 Rev 3: 3.5.3 (in continuous mode an overrun overwrites
the oldest sample), 7 (registers, and what they are after power-up).
"""

import struct
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

MG_PER_LSB = 0.732
REMOTE_IO = OSError(121, "Remote I/O error")
REGISTERS_AT_POWER_UP = {0x0F: 0x68, 0x1E: 0x38, 0x1F: 0x38, 0x22: 0x04}
POLL = 16
HANGS_S = 60.0


def sample(x_g: float = 0.0, y_g: float = 0.0, z_g: float = 1.0) -> tuple[int, ...]:
    """Return raw values at +-16 g."""
    return tuple(
        max(-32_768, min(32_767, round(each * 1000 / MG_PER_LSB))) for each in (x_g, y_g, z_g)
    )


REST = sample()


@dataclass
class Lsm9ds1:
    """The chip, and the bus that it is on.

    Attributes:
        address: Where it answers.
        registers: What was written, over what they are after power-up.
        fifo: Samples that nobody has read.
        is_lost: Whether it is unplugged.
        lasts: After so many further samples it is unplugged; None: never.
        measures: Whether time brings samples: a question that finds few adds some, at rest.
        is_stuck: Whether those have no noise.
        rest: What they are.
        status: What FIFO_SRC says whatever happens; None: what holds.
        answers: Each question waits for it.
        overran: Whether samples were overwritten since the FIFO was read.
        closed: How often the bus was closed.
    """

    address: int = 0x6A
    registers: dict[int, int] = field(default_factory=lambda: dict(REGISTERS_AT_POWER_UP))
    fifo: deque[tuple[int, ...]] = field(default_factory=deque)
    is_lost: bool = False
    lasts: int | None = None
    measures: bool = True
    is_stuck: bool = False
    rest: tuple[int, ...] = REST
    status: int | None = None
    answers: threading.Event = field(default_factory=threading.Event)
    overran: bool = False
    closed: int = 0
    _noise: int = 0

    def __post_init__(self) -> None:
        self.answers.set()

    def happens(self, *samples: tuple[int, ...]) -> None:
        """Measure; in a full FIFO the oldest sample is lost."""
        for each in samples:
            if len(self.fifo) == 32:
                self.fifo.popleft()
                self.overran = True
            self.fifo.append(each)

    def unplug(self) -> None:
        """Lose power and the bus."""
        self.is_lost = True
        self.lasts = None

    def plug_in(self) -> None:
        """Answer again, as after power-up."""
        self.registers = dict(REGISTERS_AT_POWER_UP)
        self.fifo.clear()
        self.overran = False
        self.is_lost = False

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        """See smbus2."""
        self._answer(i2c_addr)
        if register == 0x2F:
            return self._status()
        return self.registers.get(register, 0)

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None:
        """See smbus2."""
        self._answer(i2c_addr)
        self.registers[register] = value
        if register == 0x2E and value & 0xE0 == 0:
            self.fifo.clear()
            self.overran = False

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> Sequence[int]:
        """See smbus2."""
        self._answer(i2c_addr)
        assert (register, length) == (0x28, 6)
        if self.lasts is not None:
            if not self.lasts:
                self.unplug()
                raise REMOTE_IO
            self.lasts -= 1
        self.overran = False
        return list(struct.pack("<3h", *self.fifo.popleft()))

    def close(self) -> None:
        """See smbus2."""
        self.closed += 1

    def _answer(self, address: int) -> None:
        self.answers.wait(HANGS_S)
        if self.is_lost or address != self.address:
            raise REMOTE_IO

    def _status(self) -> int:
        if self.status is not None:
            return self.status
        runs = self.registers.get(0x20, 0) & 0xE0 and self.registers.get(0x23, 0) & 0x02
        if not runs or self.registers.get(0x2E, 0) & 0xE0 != 0xC0:
            return 0
        if self.measures and len(self.fifo) < POLL:
            self.happens(*(self._at_rest() for _ in range(POLL - len(self.fifo))))
        return (0x40 if self.overran else 0) | len(self.fifo)

    def _at_rest(self) -> tuple[int, ...]:
        self._noise = 0 if self.is_stuck else self._noise ^ 1
        x, y, z = self.rest
        return (x, y, max(-32_768, z - self._noise))
