"""Signed beforehand: a fleet's batches in files, made once by all cores and kept.

File, per batch: u32 length, 128 characters of its id, the serialised Batch.
"""

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Final

from contracts import address, payload
from contracts.errors import RejectedError
from contracts.files import make_directory
from contracts.proto import payload_pb2
from contracts.sawtooth.transactions import ID_HEX
from storage.bench.ours.ledger import fleet
from storage.bench.ours.ledger.fleet import Load, Truck

_LENGTH: Final = struct.Struct(">I")
_SOURCES: Final = (address, payload, payload_pb2, fleet)
"""Whoever changes these changes what is signed."""


def signed(load: Load, directory: Path, progress: Callable[[int, int], None]) -> list[Path]:
    """Return one file for each device of the fleet; sign what is not there yet.

    Args:
        load: The fleet.
        directory: Keeps the files from run to run.
        progress: Called with how many devices are done, and of how many.
    """
    folder = directory / f"{load.name}-{_version(load)}"
    make_directory(folder)
    paths = [folder / f"{number:03d}.batches" for number in range(load.devices)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(_sign, load, number, paths[number]) for number in missing]
        for done, task in enumerate(as_completed(tasks), 1):
            task.result()
            progress(load.devices - len(tasks) + done, load.devices)
    return paths


def read_signed(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield id and bytes of every batch in a file.

    Raises:
        RejectedError: The file is cut short.
    """
    with path.open("rb") as file:
        while head := file.read(_LENGTH.size + ID_HEX):
            wire = b""
            if len(head) == _LENGTH.size + ID_HEX:
                (size,) = _LENGTH.unpack_from(head)
                wire = file.read(size)
            if not wire or len(wire) != size:
                raise RejectedError(f"file of signed batches {path} is cut short; delete it")
            yield head[_LENGTH.size :].decode("ascii"), wire


def _sign(load: Load, number: int, path: Path) -> None:
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        for batch in Truck(load, number).batches():
            wire = batch.SerializeToString()
            file.write(_LENGTH.pack(len(wire)) + batch.header_signature.encode("ascii") + wire)
    temporary.replace(path)


def _version(load: Load) -> str:
    """Return a name for what this code signs for `load`."""
    digest = hashlib.sha256(json.dumps(asdict(load), sort_keys=True).encode())
    for module in _SOURCES:
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:12]
