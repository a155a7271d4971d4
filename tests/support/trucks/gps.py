"""A GPS receiver that drives: the real gpsd, fed with NMEA sentences by gpsfake."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Final

from contracts.runtime.processes import tied
from support.machine.ports import free_port
from support.trucks.rogue import until

LATITUDE_E7: Final = 470_700_000
LONGITUDE_E7: Final = 154_384_000
"""Of the first fix, about; each further one is north-east of the one before."""
_FIXES: Final = 60


@contextmanager
def gpsd(folder: Path, *, has_fix: bool = True) -> Iterator[str]:
    """Yield HOST:PORT of a gpsd whose receiver drives the same minute again and again."""
    path, port = folder / "drive.nmea", free_port()
    path.write_text("".join(_sentences(has_fix=has_fix)), "ascii")
    command = ["gpsfake", "-c", "0.05", "-P", str(port), "-q", str(path)]
    with subprocess.Popen(  # noqa: S603 - a peer of the test
        tied(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            until("gpsd listens", lambda: _listens(port))
            yield f"127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _sentences(*, has_fix: bool) -> Iterator[str]:
    status, quality = ("A", 1) if has_fix else ("V", 0)
    for number in range(_FIXES):
        north, east = f"4704.{2000 + number * 10:04d}", f"01526.{3000 + number * 10:04d}"
        place = f"{north},N,{east},E" if has_fix else ",,,"
        moment = f"1200{number:02d}.00"
        yield _sentence(f"GPRMC,{moment},{status},{place},30.0,45.0,310122,,,A")
        yield _sentence(f"GPGGA,{moment},{place},{quality},08,0.9,353.0,M,43.0,M,,")


def _sentence(text: str) -> str:
    return f"${text}*{reduce(lambda so_far, char: so_far ^ ord(char), text, 0):02X}\r\n"
