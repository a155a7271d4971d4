"""The Range header gives the requested bytes or one clear error."""

import pytest

from gateway.api.ranges import UnsatisfiableError, parse_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, (0, 10)),
        ("bytes=0-0", (0, 1)),
        ("bytes=9-", (9, 10)),
        ("bytes=3-99", (3, 10)),
        ("bytes=-4", (6, 10)),
        ("bytes=-99", (0, 10)),
        ("Bytes=1-2", (1, 3)),
        ("items=0-5", (0, 10)),
        ("nonsense", (0, 10)),
    ],
)
def test_ranges(header: str | None, expected: tuple[int, int]) -> None:
    assert parse_range(header, 10) == expected


@pytest.mark.parametrize(
    "header",
    [
        "bytes=10-",
        "bytes=5-4",
        "bytes=-0",
        "bytes=-",
        "bytes=a-b",
        "bytes=0-1,3-4",
        "bytes=1",
        "bytes=" + "9" * 19 + "-",
    ],
)
def test_what_cannot_be_satisfied_is_refused(header: str) -> None:
    with pytest.raises(UnsatisfiableError, match="range"):
        parse_range(header, 10)


def test_nothing_can_be_asked_of_an_empty_recording() -> None:
    assert parse_range(None, 0) == (0, 0)
    with pytest.raises(UnsatisfiableError):
        parse_range("bytes=0-0", 0)
