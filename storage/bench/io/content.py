"""Checks that a device returns the bytes that were written: SHA-256 of both.

fio makes incompressible data from a seed. The same seed makes the same data again, this time into
a socket: the expected bytes never come from the device. With N requests under way fio fills N
buffers at its start and so begins at the Nth block of that stream, not at the first; `repeats`
checks that the installed fio does so.
"""

import hashlib
import mmap
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.files import disk_errors
from storage.bench.io.fio import ENGINES, Options, quoted, run, unanswered_s
from storage.bench.run.flags import Flag, Raised

BLOCK_BYTES: Final = 1 << 20
SOURCE_TIMEOUT_S: Final = 60
_CHECK_BLOCKS: Final = 8
_CHECK_DEPTH: Final = 4
_CHECK_SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Content:
    """The data to write, in blocks of `BLOCK_BYTES`.

    Attributes:
        blocks: How many.
        depth: Requests under way.
        seed: Of the data.
    """

    blocks: int
    depth: int
    seed: int

    @property
    def size_bytes(self) -> int:
        """Return the size in bytes."""
        return self.blocks * BLOCK_BYTES

    @property
    def options(self) -> Options:
        """Return fio's options to write it in order."""
        return {
            "rw": "write",
            "bs": BLOCK_BYTES,
            "size": self.size_bytes,
            "iodepth": self.depth,
            **data(self.seed),
        }


def data(seed: int) -> Options:
    """Return fio's options for incompressible data that never repeats, from a seed."""
    return {"randseed": seed, "randrepeat": 0, "refill_buffers": 1}


def read_back(content: Content, file: Path, *, direct: bool) -> tuple[Raised, ...]:
    """Return INVALID if a file or device does not hold the bytes that were written.

    Args:
        content: That was written.
        file: Or device.
        direct: Read past the page cache.

    Raises:
        UnavailableError: The file cannot be read, or fio does not make the data again.
    """
    expected, actual = _expected(content), _actual(content.size_bytes, file, direct=direct)
    if expected == actual:
        return ()
    why = f"expected to read back what was written, SHA-256 {expected}, got {actual}"
    return (Raised(Flag.INVALID, why),)


def repeats(engine: str, scratch: Path) -> bool:
    """Return whether fio makes the same data again; otherwise no read-back can be checked.

    Raises:
        UnavailableError: The engine does not work here.
    """
    content = Content(_CHECK_BLOCKS, _CHECK_DEPTH, _CHECK_SEED)
    file = scratch / "repeats.dat"
    options = {**content.options, "filename": quoted(file), "ioengine": engine}
    try:
        run({"repeats": options}, 0)
        return not read_back(content, file, direct=False)
    finally:
        file.unlink(missing_ok=True)


def working_engine(wanted: str | None, scratch: Path) -> str:
    """Return the first engine of fio that works and makes its data again.

    Args:
        wanted: The only engine to try; None tries all.
        scratch: A directory for a file.

    Raises:
        UnavailableError: No engine works, or fio does not.
    """
    problems = []
    for engine in ENGINES if wanted is None else (wanted,):
        try:
            if repeats(engine, scratch):
                return engine
        except UnavailableError as error:
            problems.append(f"{engine}: {error}")
            continue
        problems.append(f"{engine}: data of one seed differ, so no read-back can be checked")
    raise UnavailableError(f"fio has no engine that works here: {'; '.join(problems)}")


def _expected(content: Content) -> str:
    """Return the SHA-256 of the data, made again."""
    skipped = (content.depth - 1) * BLOCK_BYTES
    digest = hashlib.sha256()
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        listening.settimeout(SOURCE_TIMEOUT_S)
        hashing = threading.Thread(
            target=_hash,
            args=(listening, digest, skipped, content.size_bytes),
            name="expected data",
            daemon=True,
        )
        hashing.start()
        size = content.size_bytes + skipped
        source = {
            **content.options,
            "ioengine": "net",
            "protocol": "tcp",
            "hostname": "127.0.0.1",
            "port": listening.getsockname()[1],
            "iodepth": 1,
            "size": size,
        }
        try:
            run({"data": source}, unanswered_s([size]))
        finally:
            hashing.join(SOURCE_TIMEOUT_S)
    if hashing.is_alive():
        raise UnavailableError(f"fio did not send its data in {SOURCE_TIMEOUT_S} s")
    return digest.hexdigest()


def _hash(listening: socket.socket, digest: "hashlib._Hash", skipped: int, wanted: int) -> None:
    """Hash the received bytes, without the skipped ones and without fio's closing message."""
    try:
        connection, _ = listening.accept()
    except OSError:  # fio does not connect: its own error says why
        return
    buffer = memoryview(bytearray(BLOCK_BYTES))
    with closing(connection):
        connection.settimeout(SOURCE_TIMEOUT_S)
        while count := connection.recv_into(buffer):
            begin = min(skipped, count)
            end = min(begin + wanted, count)
            digest.update(buffer[begin:end])
            skipped, wanted = skipped - begin, wanted - (end - begin)


def _actual(size: int, file: Path, *, direct: bool) -> str:
    digest = hashlib.sha256()
    with disk_errors("read back", file):
        for piece in _pieces(size, file, os.O_DIRECT if direct else 0):
            digest.update(piece)
    return digest.hexdigest()


def _pieces(size: int, file: Path, flags: int) -> Iterator[memoryview]:
    """Yield the first bytes of a file, read into a page-aligned buffer as O_DIRECT wants it."""
    descriptor = os.open(file, os.O_RDONLY | flags)
    buffer = mmap.mmap(-1, BLOCK_BYTES)
    try:
        with memoryview(buffer) as view:
            at = 0
            while at < size and (count := os.preadv(descriptor, [view], at)):
                yield view[: min(count, size - at)]
                at += count
    finally:
        os.close(descriptor)
