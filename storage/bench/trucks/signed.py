"""Batches signed before the measurement: in files, made once by all cores and kept.

File, per batch: u32 length, 128 characters of its id, the serialised Batch.
"""

import ctypes
import hashlib
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from contracts import address
from contracts.actions import payload
from contracts.errors import RejectedError
from contracts.proto import payload_pb2
from contracts.proto.sawtooth_pb2 import Batch
from contracts.runtime.files import make_directory
from contracts.sawtooth.batches import ID_HEX

_PR_SET_PDEATHSIG: Final = 1
"""Source: prctl(2)."""
_LENGTH: Final = struct.Struct(">I")
_SOURCES: Final = (address, payload, payload_pb2)
"""A change of these modules, or of the module of a load, changes the signed bytes."""


class SignedLoad(Protocol):
    """A load to sign: a dataclass whose fields describe it completely."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """Return the name that is unique among loads on the same ledger."""
        ...

    @property
    def lanes(self) -> int:
        """Return the number of lanes; each is submitted in order."""
        ...

    def batches(self, lane: int) -> Iterator[Batch]:
        """Yield the batches of one lane, the same each time."""
        ...


def signed(load: SignedLoad, directory: Path, progress: Callable[[int, int], None]) -> list[Path]:
    """Return one file for each lane; sign those that are missing.

    Args:
        load: To sign.
        directory: Keeps the files.
        progress: Called with the numbers of lanes done and of all lanes.
    """
    folder = directory / f"{load.name}-{_version(load)}"
    make_directory(folder)
    paths = [folder / f"{number:03d}.batches" for number in range(load.lanes)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    with ProcessPoolExecutor(os.cpu_count(), initializer=_die_with_parent) as pool:
        tasks = [pool.submit(_sign, load, number, paths[number]) for number in missing]
        for done, task in enumerate(as_completed(tasks), 1):
            task.result()
            progress(load.lanes - len(tasks) + done, load.lanes)
    return paths


def read_signed(path: Path, first: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield id and bytes of every batch in a file.

    Args:
        path: The file.
        first: How many batches to pass over; their bytes are not read.

    Raises:
        RejectedError: The file is cut short.
    """
    with path.open("rb") as file:
        for _ in range(first):
            head = file.read(_LENGTH.size + ID_HEX)
            if len(head) == _LENGTH.size + ID_HEX:
                file.seek(_LENGTH.unpack_from(head)[0], os.SEEK_CUR)
        while head := file.read(_LENGTH.size + ID_HEX):
            wire = b""
            if len(head) == _LENGTH.size + ID_HEX:
                (size,) = _LENGTH.unpack_from(head)
                wire = file.read(size)
            if not wire or len(wire) != size:
                raise RejectedError(f"file of signed batches {path} is cut short; delete it")
            yield head[_LENGTH.size :].decode("ascii"), wire


def _die_with_parent() -> None:
    """Let the kernel end this worker with its parent: it inherited the locks and would keep them.

    Raises:
        OSError: The kernel refuses.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL):
        raise OSError(ctypes.get_errno(), "prctl")


def _sign(load: SignedLoad, number: int, path: Path) -> None:
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        for batch in load.batches(number):
            wire = batch.SerializeToString()
            file.write(_LENGTH.pack(len(wire)) + batch.header_signature.encode("ascii") + wire)
    temporary.replace(path)


def _version(load: SignedLoad) -> str:
    """Return a name for the bytes that this code signs for `load`."""
    digest = hashlib.sha256(json.dumps(asdict(load), sort_keys=True).encode())
    for module in (*_SOURCES, sys.modules[type(load).__module__]):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:12]
