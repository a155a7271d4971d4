"""However a recording is cut into writes, interrupted or damaged, only its true bytes leave."""

import hashlib
import tempfile
from functools import partial
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.chunktree import BLOB_BYTES
from contracts.errors import RejectedError
from support.storage.stores import open_store, put
from support.trucks.rogue import until


def holds(path: Path, wire: bytes) -> bool:
    return path.read_bytes() == wire


steps = st.tuples(st.integers(1, 2 * BLOB_BYTES), st.sampled_from(["go on", "sync", "restart"]))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 5 * BLOB_BYTES), st.lists(steps, max_size=6), st.binary(max_size=8))
def test_any_course_of_writing_ends_in_the_same_recording(
    size: int, course: list[tuple[int, str]], seed: bytes
) -> None:
    data = hashlib.shake_128(seed).digest(size)
    recording_id = hashlib.sha256(data).digest()
    with tempfile.TemporaryDirectory() as root, open_store(Path(root)) as store:
        writer, durable = store.begin(recording_id, size), 0
        for length, then in course:
            writer.write(data[writer.offset : writer.offset + length])
            if then != "go on":
                durable = writer.sync()
            if then == "restart":
                writer.close()
                writer = store.begin(recording_id, size)
                assert writer.offset == durable
        writer.close()
        with store.begin(recording_id, size) as last:
            assert last.offset == durable
            last.write(data[durable:])
            last.finish()
        assert b"".join(store.read(recording_id)) == data
        assert store.verify(recording_id).holds


@settings(max_examples=3, deadline=None)
@given(st.binary(min_size=1, max_size=60), st.integers(1, 255))
def test_damage_at_every_byte_of_any_copy_is_caught(data: bytes, flip: int) -> None:
    with tempfile.TemporaryDirectory() as root, open_store(Path(root)) as store:
        recording_id = put(store, data)
        (volume,) = (path for path in Path(root, "v").glob("??/*"))
        (blob,) = (path for path in Path(root, "b").glob("??/??/*/0*"))
        for path, other in ((volume, blob), (blob, volume)):
            good = path.read_bytes()
            for place in range(len(good)):
                damaged = bytearray(good)
                damaged[place] ^= flip
                for wire in (bytes(damaged), good[:place]):
                    path.write_bytes(wire)
                    assert not store.verify(recording_id).holds
                    assert b"".join(store.read(recording_id)) == data
                    if path == volume:  # the nearest copy is mended behind the reader
                        until("the repair", partial(holds, volume, good))
            spared = other.read_bytes()
            other.unlink()
            for place in range(len(good)):
                path.write_bytes(good[:place])
                try:
                    came = b"".join(store.read(recording_id))
                except RejectedError:
                    continue
                raise AssertionError(f"cut at {place}, read {came!r}")
            path.write_bytes(good)
            other.write_bytes(spared)
        assert store.verify(recording_id).holds
