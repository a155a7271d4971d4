"""`Prefer: respond-async`: a client that would rather watch long work than wait for its answer.

Source: RFC 7240, 2 to 4.3. What is malformed or unknown there counts as not said.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Header

WAIT_MAX_S: Final = 5
"""Seconds that a client may wait for an answer before a job takes its place."""
VARIES: Final = {"Vary": "Prefer"}
"""In each answer to GET that would be another one by this preference (RFC 7240, 2)."""
_WAIT: Final = re.compile(r"wait\s*=\s*\"?([0-9]{1,9})\"?")


@dataclass(frozen=True, slots=True)
class Preference:
    """What a client prefers.

    Attributes:
        is_async: A job, if the answer takes longer than it wants to wait.
        wait_s: How long it wants to wait, seconds.
    """

    is_async: bool
    wait_s: int


async def _preference(
    prefer: Annotated[
        list[str] | None,
        Header(
            description="`respond-async` asks for a job in place of the answer: 202, with the "
            "job's address. With `respond-async, wait=3` a verification itself comes if it takes "
            f"no longer than 3 s; {WAIT_MAX_S} at most. A file never does"
        ),
    ] = None,
) -> Preference:
    words = [each.partition(";")[0].strip().lower() for each in ",".join(prefer or ()).split(",")]
    waits = [int(found[1]) for each in words if (found := _WAIT.fullmatch(each))]
    wait_s = min(waits[0], WAIT_MAX_S) if waits else 0
    return Preference("respond-async" in words, wait_s)


Preferred = Annotated[Preference, Depends(_preference)]
