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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, fields, is_dataclass
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
"""A change of these modules, or of a load's own ones, changes the signed bytes."""
_OURS: Final = ("contracts.", "storage.")


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

    def wires(self, lane: int) -> Iterator[tuple[str, bytes]]:
        """Yield id, ID_HEX characters, and bytes of each batch of a lane, the same each time."""
        ...


def serialised(batches: Iterable[Batch]) -> Iterator[tuple[str, bytes]]:
    """Yield id and bytes of batches of Sawtooth's."""
    for batch in batches:
        yield batch.header_signature, batch.SerializeToString()


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
        for name, wire in load.wires(number):
            file.write(_LENGTH.pack(len(wire)) + name.encode("ascii") + wire)
    temporary.replace(path)


def _version(load: SignedLoad) -> str:
    """Return a name for the bytes that this code signs for `load`."""
    digest = hashlib.sha256(json.dumps(asdict(load), sort_keys=True).encode())
    own = sorted(sources_of(load))
    for module in (*_SOURCES, *(sys.modules[name] for name in own)):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:12]


def sources_of(load: object) -> set[str]:
    """Return the names of our modules that decide what a load signs.

    They are those of the load, of the loads in it, and of whatever these modules import by name.
    """
    own = _modules(load)
    used = (value for name in own for value in vars(sys.modules[name]).values() if callable(value))
    named = {str(getattr(value, "__module__", "")) for value in used}
    return own | {each for each in named if each.startswith(_OURS)}


def _modules(load: object) -> set[str]:
    """Return the modules of a load, and of the loads in it."""
    found = {type(load).__module__}
    if is_dataclass(load):
        for each in fields(load):
            inner = getattr(load, each.name)
            found |= _modules(inner) if is_dataclass(inner) else set()
    return found
