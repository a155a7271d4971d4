"""Only the exact bytes that a device signed are held."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import RejectedError
from gateway.intake.admission import admit_records
from gateway.intake.held import State
from support.network.world import Trip, reading
from support.trucks.rogue import wire_of

WIRE = wire_of(Trip().whole([reading(0), reading(1)])[0])


def held(wire: bytes) -> bool:
    """Say whether bytes are taken as a device's; refusing them must be our own error."""
    with contextlib.suppress(RejectedError):
        return admit_records(wire, "truck-1").state is State.HELD
    return False


def test_the_honest_batch_is_held() -> None:
    assert held(WIRE)


def test_no_byte_can_be_changed() -> None:
    for at in range(len(WIRE)):
        damaged = WIRE[:at] + bytes([WIRE[at] ^ (1 << at % 8)]) + WIRE[at + 1 :]
        assert not held(damaged), at


def test_no_end_can_be_cut() -> None:
    for end in range(len(WIRE)):
        assert not held(WIRE[:end]), end


@given(st.binary(max_size=300))
def test_noise_is_refused(wire: bytes) -> None:
    assert not held(wire)


@given(st.integers(0, len(WIRE)), st.binary(min_size=1, max_size=20))
def test_nothing_can_be_put_in(at: int, more: bytes) -> None:
    assert not held(WIRE[:at] + more + WIRE[at:])
