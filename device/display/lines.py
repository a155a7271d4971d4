"""What a small display writes: the mood in capitals, then why, then how far."""

import textwrap
from typing import Final

from contracts.runtime.sizes import size
from device.display.shown import Mood, Shown

HEADS: Final = {
    Mood.MAY_LEAVE: "MAY LEAVE",
    Mood.MUST_STAY: "MUST STAY",
    Mood.DEPARTING: "DEPARTING",
    Mood.RECORDS: "ON THE ROAD",
    Mood.TROUBLE: "LOOK AT ME",
}


def lines_of(shown: Shown, width: int, count: int) -> list[str]:
    """Return at most `count` lines of at most `width` characters.

    A truck in trouble also says whether it may leave, if it is at a site.
    """
    lines = [HEADS[shown.mood]]
    lines += textwrap.wrap(shown.trouble, width)[: max(1, count - 3)]
    if shown.mood is Mood.TROUBLE and shown.because:
        lines.append("must stay")
    run = shown.offloading
    if run is not None and run.video_bytes:
        lines.append(f"{size(run.video_bytes_sent)} of {size(run.video_bytes)}")
    if run is not None and run.left_s:
        lines.append(f"about {run.duration} left")
    elif shown.mood is Mood.MUST_STAY:
        lines += textwrap.wrap(shown.because, width)
    if shown.mood is Mood.MAY_LEAVE:
        lines.append("nothing waits here")
    return [line[:width] for line in lines[:count]]
