"""What goes over a metered link, and how a truck knows that it is one."""

from collections.abc import Callable

import pytest

from contracts.errors import UnavailableError
from contracts.records.recording import RecordingDigest
from device.journal.trip import Recording
from device.journey.metered import is_metered
from device.offload.metered import goes
from device.settings import OffloadSettings


def recording(*, marked: bool) -> Recording:
    digest = RecordingDigest(bytes(32), 1, bytes(32))
    return Recording("t", digest, "dock-000000.mp4", "video/mp4", 1, b"", 1, marked)


def silent() -> bool:
    raise UnavailableError("NetworkManager: no such bus")


@pytest.mark.parametrize(
    ("link", "ask", "found"),
    [
        ("auto", lambda: True, True),
        ("auto", lambda: False, False),
        ("auto", silent, False),
        ("metered", silent, True),
        ("unmetered", lambda: True, False),
    ],
)
def test_who_says_that_a_link_is_metered(link: str, ask: Callable[[], bool], found: bool) -> None:  # noqa: FBT001
    assert is_metered(OffloadSettings(link=link), ask) is found  # type: ignore[arg-type] # of a table


@pytest.mark.parametrize(
    ("rule", "with_a_sign", "without"),
    [("marked", True, False), ("readings", False, False), ("everything", True, True)],
)
def test_which_recordings_go(rule: str, with_a_sign: bool, without: bool) -> None:  # noqa: FBT001
    rules = OffloadSettings(metered=rule)  # type: ignore[arg-type] # of a table
    assert goes(recording(marked=True), rules, is_metered=True) is with_a_sign
    assert goes(recording(marked=False), rules, is_metered=True) is without
    assert goes(recording(marked=False), rules, is_metered=False)
