r"""The container of an evidence file: a magic line, frames in a fixed order, a digest.

Layout, big-endian:

    19   magic, b"WAYSEAL EVIDENCE 2\n"
    then frames: u8 kind, u32 length, payload
    last frame: kind 255, the SHA-256 of every byte before that frame

Kinds stand in ascending order: one Header, BlockHead..., Batch..., LeafHashes...,
Blob..., StateNode..., SealedHeader..., End. The digest detects accidents; the signatures and hashes
inside detect forgery. Format 1 has another digit in its magic,
and neither of the last two.

Source: docs/evidence.md.
"""

import hashlib
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import BinaryIO, Final, TypeVar

from google.protobuf.message import Message

from contracts.chunktree import BLOB_BYTES
from contracts.encoding import canonical, is_canonical, parse
from contracts.errors import RejectedError
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.proto.evidence_pb2 import Blob, BlockHead, Header, LeafHashes, StateNode
from contracts.proto.sawtooth_pb2 import Batch

FORMAT_1: Final = 1
"""The format before state nodes; it is still read."""
VERSION: Final = 2
"""The format that is written, and the value of the header's `version`."""


def _magic(version: int) -> bytes:
    return f"WAYSEAL EVIDENCE {version}\n".encode()


MAGIC: Final = _magic(VERSION)
_VERSIONS: Final = {_magic(version): version for version in (FORMAT_1, VERSION)}
HEADER_BYTES_MAX: Final = 1 << 20
"""Room for about 30,000 trips."""
BLOCK_HEAD_BYTES_MAX: Final = 4 << 20
"""Room for about 30,000 batch ids; the embedded node's queue holds 4,000 batches."""
BATCH_FRAME_BYTES_MAX: Final = 16 << 20
"""The largest request body that the embedded node accepts."""
LEAF_HASHES_BYTES_MAX: Final = (2 << 20) + 1024
"""65,536 hashes, those of the longest recording, 64 GiB; and the fields around them."""
BLOB_FRAME_BYTES_MAX: Final = BLOB_BYTES + 1024
"""One blob, and the fields around it."""
STATE_NODE_BYTES_MAX: Final = (16 << 20) + 1024
"""The largest value that the embedded node keeps, and the fields around it."""
SEALED_HEADER_BYTES_MAX: Final = 64 << 10
"""A header, and the signatures and keys of 100 validators."""
_FRAME: Final = struct.Struct(">BI")
_MessageT = TypeVar("_MessageT", bound=Message)


class NotEvidenceError(RejectedError):
    """The file does not begin with the magic line of an evidence file."""


class Part(IntEnum):
    """Kinds of frames, in their order in the file."""

    HEADER = 1
    BLOCK_HEAD = 2
    BATCH = 3
    LEAF_HASHES = 4
    BLOB = 5
    STATE_NODE = 6
    SEALED_HEADER = 7
    END = 255


_KIND: Final[dict[type[Message], Part]] = {
    Header: Part.HEADER,
    BlockHead: Part.BLOCK_HEAD,
    Batch: Part.BATCH,
    LeafHashes: Part.LEAF_HASHES,
    Blob: Part.BLOB,
    StateNode: Part.STATE_NODE,
    SealedHeader: Part.SEALED_HEADER,
}
_NOT_IN_FORMAT_1: Final = frozenset({Part.STATE_NODE, Part.SEALED_HEADER})
_MOST: Final = {
    Part.HEADER: HEADER_BYTES_MAX,
    Part.BLOCK_HEAD: BLOCK_HEAD_BYTES_MAX,
    Part.BATCH: BATCH_FRAME_BYTES_MAX,
    Part.LEAF_HASHES: LEAF_HASHES_BYTES_MAX,
    Part.BLOB: BLOB_FRAME_BYTES_MAX,
    Part.STATE_NODE: STATE_NODE_BYTES_MAX,
    Part.SEALED_HEADER: SEALED_HEADER_BYTES_MAX,
    Part.END: hashlib.sha256().digest_size,
}


class EvidenceWriter:
    """Writes the frames of one evidence file; the caller keeps them in order."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def start(self, header: Header) -> bytes:
        """Return the bytes that begin the file."""
        self._digest.update(MAGIC)
        return MAGIC + self.frame(header)

    def frame(self, part: Message) -> bytes:
        """Return the bytes of one frame; of a batch only the parts under its signatures.

        Raises:
            RejectedError: Larger than a reader accepts.
        """
        payload = canonical(_signed_part(part) if isinstance(part, Batch) else part)
        kind = _KIND[type(part)]
        _check_size(kind, len(payload))
        wire = _FRAME.pack(kind, len(payload)) + payload
        self._digest.update(wire)
        return wire

    def end(self) -> bytes:
        """Return the bytes that end the file."""
        digest = self._digest.digest()
        return _FRAME.pack(Part.END, len(digest)) + digest


class EvidenceReader:
    """Reads the frames of one evidence file.

    Attributes:
        version: The format that the magic names.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Read the magic.

        Raises:
            NotEvidenceError: The magic is missing, or names a format that is not known here.
        """
        magic = file.read(len(MAGIC))
        if magic not in _VERSIONS:
            got = (
                f"begins with {magic.decode('ascii', 'backslashreplace')!r}"
                if magic
                else "is empty"
            )
            expected = MAGIC.decode("ascii").strip()
            raise NotEvidenceError(
                f"not an evidence file: it {got}; expected one that begins with {expected!r}, as "
                f"GET /v1/evidence of a gateway gives it"
            )
        self.version = _VERSIONS[magic]
        self._file = file
        self._digest = hashlib.sha256(magic)

    def frames(self) -> Iterator[tuple[Part, bytes]]:
        """Yield kind and payload of each frame but the last; check the digest in the last one.

        Raises:
            RejectedError: Truncated, oversized, out of order, altered, or with bytes after the
                end.
        """
        before = Part.HEADER
        while True:
            head = _read(self._file, _FRAME.size, "a frame's head")
            kind, size = _FRAME.unpack(head)
            part = _part(kind, size, before)
            if part in _NOT_IN_FORMAT_1 and self.version == FORMAT_1:
                raise RejectedError(f"a frame of kind {kind} in a file of format {FORMAT_1}")
            payload = _read(self._file, size, f"{size} bytes of a {part.name.lower()} frame")
            if part is Part.END:
                _check_end(self._file, payload, self._digest.digest())
                return
            self._digest.update(head)
            self._digest.update(payload)
            before = part
            yield part, payload


def parse_part(kind: type[_MessageT], payload: bytes) -> _MessageT:
    """Parse a frame's payload.

    Raises:
        RejectedError: Not a message of that kind, or not in canonical encoding.
    """
    message = parse(kind, payload)
    if not is_canonical(message, payload):
        raise RejectedError(f"a {kind.__name__} frame is not in canonical encoding")
    return message


def _signed_part(batch: Batch) -> Batch:
    """Return `batch` without `trace` and unknown fields, which ledgers keep but nobody signs."""
    signed = Batch()
    signed.CopyFrom(batch)
    signed.DiscardUnknownFields()
    signed.trace = False
    return signed


def _part(kind: int, size: int, before: Part) -> Part:
    try:
        part = Part(kind)
    except ValueError as error:
        raise RejectedError(f"a frame of unknown kind {kind}") from error
    if part < before:
        raise RejectedError(f"a {part.name.lower()} frame after a {before.name.lower()} frame")
    _check_size(part, size)
    return part


def _check_size(part: Part, size: int) -> None:
    if size > _MOST[part]:
        name = part.name.lower()
        raise RejectedError(f"a {name} frame of {size} bytes, at most {_MOST[part]} allowed")


def _read(file: BinaryIO, size: int, what: str) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise RejectedError(f"file ends early: expected {what}, got {len(data)} bytes")
    return data


def _check_end(file: BinaryIO, expected: bytes, found: bytes) -> None:
    if expected != found:
        raise RejectedError(
            f"file was altered: its bytes hash to {found.hex()[:16]}…, "
            f"its end says {expected.hex()[:16]}…"
        )
    if file.read(1):
        raise RejectedError("bytes follow the end of the evidence")
