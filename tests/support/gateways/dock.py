"""A real gateway after one trip with one video, whose data tests may change while it is down."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import httpx

from support.evidence.chain import digest_of
from support.network.world import Trip, reading
from support.storage.databases import edited
from support.trucks.rogue import Site, nonce, until
from support.trucks.uploads import offer_of, send

CONTENT: Final = bytes(range(256)) * 6000
VIDEO: Final = hashlib.sha256(CONTENT).hexdigest()
DAY_S: Final = 86_400


class Dock:
    """A site after one trip with one video."""

    def __init__(self, root: Path) -> None:
        self.site = Site(root)
        self.site.start()
        self.trip = Trip(nonce=nonce(1))
        *batches, video = self.trip.whole([reading(at) for at in range(3)], [digest_of(CONTENT)])
        with self.site.device() as truck:
            truck.send(*batches)
            truck.ask(recordings=[offer_of(self.trip, CONTENT, video)])
            send(self.site.client("truck-1", "device"), CONTENT)
            until("the receipt", lambda: self.site.offload(self.trip.trip_id)["receipted"])
        self.auditor = self.site.client("auditor", "auditor")

    @property
    def data(self) -> Path:
        return self.site.appliance.gateway_data

    def restart(self, variables: dict[str, str], *, kill: bool = False) -> None:
        """Start the gateway again with other settings."""
        gateway = self.site.appliance.gateway
        assert gateway is not None
        if kill:
            gateway.kill()
        else:
            gateway.stop()
        self.site.appliance.variables = variables
        self.site.appliance.start_gateway()

    def blob(self, index: int) -> Path:
        return self.data / "blobs" / VIDEO[:2] / VIDEO[2:4] / VIDEO / f"{index:08d}"

    def volume_file(self) -> Path:
        return self.data / "volume" / VIDEO[:2] / VIDEO

    def entry(self) -> Path:
        """Return the recording's file in the catalogue."""
        return self.data / "recordings" / "whole" / VIDEO[:2] / VIDEO

    def crowded(self) -> dict[str, str]:
        """Return settings under which nothing fits onto the volume, which may lose copies."""
        volume = {"path": str(self.data / "volume"), "quota_bytes": 1}
        return {
            "WAYSEAL_VOLUMES": json.dumps({"volume": volume}),
            "WAYSEAL_RETENTION__MAKE_ROOM": "true",
        }

    def age(self, days: float) -> None:
        """Make all that was released older, while the gateway is down."""
        with edited(self.data / "retention.db") as db:
            db.execute("UPDATE clock SET elapsed_s = elapsed_s + ?", (days * DAY_S,))

    def get(self, path: str) -> httpx.Response:
        return self.auditor.get(path)

    def deletions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/v1/deletions").json()["items"]
        return found

    def ended(self, number: int) -> dict[str, Any] | None:
        """Return a round of the scrub once it has ended."""
        rounds = self.site.ask("/v1/scrub")["last"]
        return next((each for each in rounds if each["number"] == number), None)

    def scrubbed(self) -> dict[str, Any]:
        """Have a round made; return it."""
        number = self.site.operator.post("/v1/scrub").json()["number"]
        until("the end of the round", lambda: self.ended(number) is not None)
        ended = self.ended(number)
        assert ended is not None
        return ended
