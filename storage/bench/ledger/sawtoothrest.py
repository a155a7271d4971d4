"""Driver for Sawtooth's REST API, which our node answers too."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from contracts.errors import RejectedError, UnavailableError
from contracts.sawtooth.batches import Status
from storage.bench.ledger.port import busy_s
from storage.bench.ledger.wire import JSON, OCTETS, Connection, batch_list

BUSY: Final = 429
ACCEPTED: Final = 202
OK: Final = 200
WAIT_S: Final = 1
"""How long, seconds, the ledger may let a question for the oldest batch wait."""
UNKNOWN_S: Final = 10.0
"""A batch that the ledger accepted, and that is unknown for so many seconds, was dropped. A batch
may be unknown for a moment while it moves between queues of the ledger."""


class SawtoothRest:
    """Implements `port.Driver`.

    Args:
        connection: To the REST API.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._unknown_since_s: dict[str, float] = {}

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect to the ledger at `url`.

        Raises:
            UnavailableError: It does not answer.
        """
        return cls(await Connection.open(url))

    def close(self) -> None:
        """See `Driver.close`."""
        self._connection.close()

    async def submit(self, batches: Sequence[bytes]) -> int:
        """See `Driver.submit`."""
        body, busy = batch_list(batches), 0
        while True:
            status, answer = await self._connection.post("/batches", OCTETS, body)
            if status == ACCEPTED:
                return busy
            if status != BUSY:
                raise RejectedError(f"POST /batches: HTTP {status}: {answer[:400]!r}")
            await asyncio.sleep(busy_s(busy))
            busy += 1

    async def decided(self, batch_ids: Sequence[str]) -> Mapping[str, str]:
        """See `Driver.decided`.

        Batches are decided in blocks: the driver waits for the oldest and then asks once for all.
        One question for each batch would cost the ledger more than a small batch itself.
        """
        await self._statuses(f"/batch_statuses?wait={WAIT_S}", batch_ids[:1])
        entries = await self._statuses("/batch_statuses", batch_ids)
        now_s = asyncio.get_running_loop().time()
        found: dict[str, str] = {}
        for entry in entries:
            why = self._verdict(entry, now_s)
            if why is not None:
                found[entry["id"]] = why
                self._unknown_since_s.pop(entry["id"], None)
        return found

    def _verdict(self, entry: Mapping[str, Any], now_s: float) -> str | None:
        """Return why a batch is not committed; empty if it is, None if it is undecided."""
        match entry["status"]:
            case Status.COMMITTED:
                return ""
            case Status.INVALID:
                reasons = [each.get("message", "") for each in entry["invalid_transactions"]]
                return f"INVALID: {'; '.join(reasons)}"
            case Status.UNKNOWN:
                since_s = self._unknown_since_s.setdefault(entry["id"], now_s)
                return "UNKNOWN: the ledger dropped it" if now_s - since_s > UNKNOWN_S else None
            case _:
                return None

    async def _statuses(self, target: str, batch_ids: Sequence[str]) -> Sequence[dict[str, Any]]:
        body = json.dumps(list(batch_ids)).encode()
        status, answer = await self._connection.post(target, JSON, body)
        if status != OK:
            raise UnavailableError(f"POST {target}: HTTP {status}: {answer[:400]!r}")
        entries: list[dict[str, Any]] = json.loads(answer)["data"]
        return entries
