"""One-time claim codes: what a truck shows, once, to get its first certificate."""

import hashlib
import hmac
import json
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.records.clock import now_ms, parse_rfc3339, rfc3339
from contracts.runtime.files import (
    OWNER_ONLY,
    check_private,
    in_turn,
    make_directory,
    remove_file,
    write_file,
)
from gateway.entryfile import Entry, plain_entries

LETTERS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32, without letters that look like digits."""
CODE_LETTERS: Final = 12
"""60 bits: at the rate below, a guess in a million years."""
GUESSES_MAX: Final = 20
GUESSES_WINDOW_S: Final = 60.0
_HOUR_MS: Final = 3_600_000


class WrongClaimError(RejectedError):
    """No such code, for this device, now."""


class ClaimCodes:
    """The claim codes in one file, as hashes.

    Args:
        path: The file; it need not exist yet.
        now: The time, UTC ms.
    """

    def __init__(self, path: Path, now: Callable[[], int] = now_ms) -> None:
        self._path = path
        self._now = now

    def make(self, device_id: str, hours: int) -> tuple[str, int]:
        """Make a code for a device, in place of an earlier one.

        Returns:
            The code, which is not kept, and when it expires, UTC ms.

        Raises:
            RejectedError: The id is malformed, or the file is damaged.
            UnavailableError: The file cannot be written.
        """
        check_id("device", device_id)
        code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LETTERS))
        ends_ms = self._now() + hours * _HOUR_MS
        make_directory(self._path.parent)
        with in_turn(self._path.with_suffix(".lock")):
            claims = self._read() | {
                device_id: {"sha256": _digest(code), "expires": rfc3339(ends_ms)}
            }
            self._write(claims)
        return code, ends_ms

    def drop(self, device_id: str) -> None:
        """Let a code that was not used count no more, if there is one.

        Raises:
            RejectedError: The file is damaged.
            UnavailableError: It cannot be written.
        """
        make_directory(self._path.parent)
        with in_turn(self._path.with_suffix(".lock")):
            claims = self._read()
            if claims.pop(device_id, None) is not None:
                self._write(claims)

    def open(self) -> dict[str, int]:
        """Return when each code that was not used yet ends, UTC ms, by device; ended ones not.

        Raises:
            RejectedError: The file is damaged.
        """
        ends = {name: parse_rfc3339(each["expires"]) for name, each in self._read().items()}
        return {name: ends_ms for name, ends_ms in ends.items() if ends_ms > self._now()}

    @contextmanager
    def spending(self, device_id: str, code: str) -> Iterator[None]:
        """Use a code up, once the block has ended without an error; others wait until then.

        Raises:
            WrongClaimError: The device has no such code, or it has expired.
        """
        with in_turn(self._path.with_suffix(".lock")):
            claims = self._read()
            found = claims.get(device_id)
            known = found["sha256"] if found else "0" * 64
            is_right = hmac.compare_digest(known, _digest(code.strip().upper().replace("-", "")))
            if not is_right or found is None or parse_rfc3339(found["expires"]) <= self._now():
                raise WrongClaimError(
                    "expected the claim code of this device, got one that is wrong, was used, or "
                    "has expired: `wayseal-gateway enrol --claim` makes another one"
                )
            yield
            del claims[device_id]
            self._write(claims)

    def _read(self) -> dict[str, Entry]:
        remedy = "remove the file and make the codes again"
        claims = plain_entries(self._path, "claim codes", _check, remedy)
        if claims:
            check_private("file of claim codes", self._path)
        return claims

    def _write(self, claims: dict[str, Entry]) -> None:
        kept = {
            name: each
            for name, each in claims.items()
            if parse_rfc3339(each["expires"]) > self._now()
        }
        if not kept:
            remove_file(self._path)
            return
        draft = self._path.with_suffix(".new")
        text = json.dumps(kept, indent=1) + "\n"
        write_file(self._path, text.encode(), temporary=draft, mode=OWNER_ONLY)


class Guesses:
    """Counts wrong codes, so that nobody can try many; for one event loop or under a lock.

    Args:
        clock: Returns seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: deque[float] = deque()

    def are_too_many(self) -> bool:
        """Say whether no code is looked at for now."""
        while self._wrong and self._clock() - self._wrong[0] >= GUESSES_WINDOW_S:
            self._wrong.popleft()
        return len(self._wrong) >= GUESSES_MAX

    def note(self) -> None:
        """Note a wrong code."""
        self._wrong.append(self._clock())


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _check(claim: Entry) -> None:
    parse_rfc3339(claim["expires"])
    bytes.fromhex(claim["sha256"])
