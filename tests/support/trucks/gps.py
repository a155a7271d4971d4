"""A GPS receiver that drives: the real gpsd, fed with NMEA sentences by us, or by gpsfake."""

import os
import pty
import signal
import socket
import subprocess
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Final

from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from support.trucks.rogue import until

LATITUDE_E7: Final = 470_700_000
LONGITUDE_E7: Final = 154_384_000
"""Of the first fix, about; each further one is north-east of the one before, for a minute."""
_FIXES: Final = 60
_EVERY_S: Final = 0.1


@contextmanager
def gpsd(*, has_fix: bool = True) -> Iterator[str]:
    """Yield HOST:PORT of a gpsd whose receiver drives the same minute again and again."""
    port = free_port()
    receiver, line = pty.openpty()
    tty.setraw(line)
    name = os.ttyname(line)
    os.chmod(name, 0o666)  # noqa: S103, PTH101 - gpsd reads it as another user
    command = ["gpsd", "-N", "-n", "-S", str(port), name]
    over = threading.Event()
    driver = threading.Thread(target=_drive, args=[receiver, over, has_fix])
    with subprocess.Popen(  # noqa: S603 - a peer of the test
        tied(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            driver.start()
            until("gpsd listens", lambda: _listens(port))
            yield f"127.0.0.1:{port}"
        finally:
            over.set()
            process.kill()
            driver.join()
            os.close(line)
            os.close(receiver)


@contextmanager
def gpsfake(folder: Path) -> Iterator[str]:
    """Yield HOST:PORT of a gpsd that gpsfake feeds with the same drive, from a log in `folder`."""
    port, log = free_port(), folder / "drive.nmea"
    sentences = (each for number in range(_FIXES) for each in _sentences(number, has_fix=True))
    log.write_text("".join(sentences), "ascii", newline="")
    with subprocess.Popen(  # noqa: S603 - a peer of the test
        tied(["gpsfake", "-q", "-n", "-P", str(port), "-c", str(_EVERY_S / 2), log]),  # two a fix
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            until("gpsd listens", lambda: _listens(port))
            yield f"127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # its gpsd too


def _drive(receiver: int, over: threading.Event, has_fix: bool) -> None:  # noqa: FBT001 - a thread's argument
    os.set_blocking(receiver, False)
    for number in count():
        for sentence in _sentences(number % _FIXES, has_fix=has_fix):
            try:
                os.write(receiver, sentence.encode("ascii"))
            except BlockingIOError:  # nobody reads the line yet
                break
        if over.wait(_EVERY_S):
            return


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _sentences(number: int, *, has_fix: bool) -> Iterator[str]:
    status, quality = ("A", 1) if has_fix else ("V", 0)
    north, east = f"4704.{2000 + number * 10:04d}", f"01526.{3000 + number * 10:04d}"
    place = f"{north},N,{east},E" if has_fix else ",,,"
    moment = f"1200{number:02d}.00"
    yield _sentence(f"GPRMC,{moment},{status},{place},30.0,45.0,310122,,,A")
    yield _sentence(f"GPGGA,{moment},{place},{quality},08,0.9,353.0,M,43.0,M,,")


def _sentence(text: str) -> str:
    return f"${text}*{reduce(lambda so_far, char: so_far ^ ord(char), text, 0):02X}\r\n"
