"""Records of the block log: both forms come back, and nothing else is taken for one."""

import struct
from itertools import accumulate

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import RejectedError
from contracts.ledger.blocks import record as record_module
from contracts.ledger.blocks.record import decode_parts, encode_parts

PARTS = st.lists(
    st.binary(max_size=300) | st.text("0123456789abcdef", max_size=300).map(str.encode)
)


def content_of(parts: list[bytes]) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


@given(PARTS)
def test_parts_come_back(parts: list[bytes]) -> None:
    assert decode_parts(encode_parts(parts)) == parts


@given(PARTS)
def test_chains_from_before_compression_are_read(parts: list[bytes]) -> None:
    assert decode_parts(b"\0" + content_of(parts)) == parts


def test_hexadecimal_text_takes_less_and_noise_no_more() -> None:
    text = bytes(range(256)).hex().encode() * 10
    assert len(encode_parts([text])) < len(text) / 5
    noise = zstandard.ZstdCompressor().compress(text)
    assert encode_parts([noise]) == b"\0" + content_of([noise])


@given(PARTS, st.data())
def test_a_record_cut_short_holds_less_or_nothing(parts: list[bytes], data: st.DataObject) -> None:
    parts = [*parts, b"a" * 100]
    for body in (encode_parts(parts), b"\0" + content_of(parts)):
        at = data.draw(st.integers(0, len(body) - 1))
        try:
            found = decode_parts(body[:at])
        except RejectedError:
            continue
        ends = list(accumulate((4 + len(part) for part in parts), initial=1))
        assert body[:1] == b"\0"
        assert found == parts[: ends.index(at)]


@given(st.binary())
def test_bytes_that_are_no_record_are_refused_or_parts(body: bytes) -> None:
    try:
        assert all(isinstance(part, bytes) for part in decode_parts(body))
    except RejectedError:
        return


def test_a_frame_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    body = encode_parts([b"a" * 1_000])
    monkeypatch.setattr(record_module, "RECORD_BYTES_MAX", 1_003)
    with pytest.raises(RejectedError, match=r"says it holds 1004 bytes, 0\.\.1003 allowed"):
        decode_parts(body)
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(b"abc")
    with pytest.raises(RejectedError, match="says it holds -1 bytes"):
        decode_parts(b"\1" + unsized)
