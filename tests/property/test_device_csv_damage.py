"""A log damaged anywhere either means other readings, all in range, or is one clear error."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import RejectedError
from device.sensors.port import Sample
from device.sensors.replay_csv import CsvReplay
from support.trucks.truck import write_log

ROWS = 6


def whole() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write_log(Path(folder) / "log.csv", ROWS).read_bytes()


WHOLE = whole()


def replay(content: bytes) -> list[Sample] | None:
    """Return the samples; None when the log is refused, which must name the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        path.write_bytes(content)
        try:
            checked = CsvReplay.check(path)
        except RejectedError as error:
            named = str(path) in str(error)
            checked = None

        if checked is None:
            assert named
            return None
        samples = list(checked.samples())
    assert len(samples) == checked.rows
    assert min(sample.offset_ms for sample in samples) == 0
    return samples


def test_a_cut_at_every_byte_never_loses_a_whole_row() -> None:
    for cut in range(len(WHOLE)):
        samples = replay(WHOLE[:cut])
        if samples is not None:
            assert len(samples) in (WHOLE[:cut].count(b"\n") - 1, WHOLE[:cut].count(b"\n"))


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_keeps_the_count(place: int, change: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[place] ^= change
    samples = replay(bytes(damaged))
    lines = [line for line in bytes(damaged).split(b"\n") if line.strip()]
    assert samples is None or len(samples) == len(lines) - 1


@given(st.binary(max_size=400))
def test_noise_after_the_header_is_refused_or_read(noise: bytes) -> None:
    replay(WHOLE[: WHOLE.index(b"\n") + 1] + noise)


@given(
    st.decimals(-273, 1000, allow_nan=False, places=3),
    st.decimals(0, 100, allow_nan=False, places=3),
)
def test_decimals_are_exact(temperature: object, humidity: object) -> None:
    line = f"time,temperature,humidity\n2022-01-31 00:00:00,{temperature:f},{humidity:f}\n"
    samples = replay(line.encode())
    assert samples is not None
    assert f"{temperature:.3f}".replace(".", "").lstrip("-0") == str(
        abs(samples[0].temperature_mcel or 0)
    ).lstrip("0")
    assert samples[0].humidity_mpct == int(f"{humidity:.3f}".replace(".", ""))
