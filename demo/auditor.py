"""The demo's auditor: reads over REST, checks the answers, exports evidence and verifies it."""

import hashlib
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.clienttls import usual_trust
from demo.processes import run

PAGE: Final = 1000
TIMEOUT_S: Final = 60.0
LOOK_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Findings:
    """What an audit of one trip found."""

    readings: int
    breaches: list[dict[str, Any]]
    tampers: int
    silences: list[dict[str, Any]]
    on_trip: list[dict[str, Any]]
    on_delivery: list[dict[str, Any]]
    recordings: list[dict[str, Any]]

    @property
    def video_bytes(self) -> int:
        """Return the size of all recordings, in bytes."""
        return sum(int(recording["size"]) for recording in self.recordings)


class Auditor:
    """An auditor with a token."""

    def __init__(self, rest: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=rest,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_S,
            trust_env=False,
            verify=usual_trust(rest),
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def ask(self, path: str) -> Any:  # noqa: ANN401  # JSON
        """Return the JSON answer to a GET."""
        answer = self._http.get(path)
        if not answer.is_success:
            raise UnavailableError(f"GET {path}: HTTP {answer.status_code}: {answer.text[:300]}")
        return answer.json()

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, page after page."""
        cursor = "0"
        while cursor:
            page = self.ask(f"{path}?limit={PAGE}&cursor={cursor}")
            yield from page["items"]
            cursor = page["next_cursor"]

    def wait_for(self, block_num: int) -> None:
        """Return once the gateway knows this block of the ledger: it takes blocks up in a moment.

        Raises:
            UnavailableError: It does not know the block after `TIMEOUT_S`.
        """
        ends_s = time.monotonic() + TIMEOUT_S
        while (newest := self.ask("/v1/status")["index_block_num"]) is None or newest < block_num:
            if time.monotonic() > ends_s:
                raise UnavailableError(f"expected block {block_num} in the gateway, got {newest}")
            time.sleep(LOOK_S)

    def audit(self, trip_id: str) -> Findings:
        """Read all of a trip, and every byte of its video.

        Raises:
            RejectedError: The video is not what the ledger says.
        """
        recordings = list(self.pages(f"/v1/trips/{trip_id}/recordings"))
        for recording in recordings:
            self._check_video(recording["recording_id"])
        trip = self.ask(f"/v1/trips/{trip_id}")
        return Findings(
            sum(1 for _ in self.pages(f"/v1/trips/{trip_id}/readings")),
            list(self.pages(f"/v1/trips/{trip_id}/breaches")),
            sum(1 for _ in self.pages(f"/v1/trips/{trip_id}/tampers")),
            trip["silences"],
            list(self.pages(f"/v1/trips/{trip_id}/findings")),
            [
                finding
                for delivery_id in trip["delivery_ids"]
                for finding in self.ask(f"/v1/deliveries/{delivery_id}")["findings"]
            ],
            recordings,
        )

    def rotten(self, recording_id: str) -> list[str]:
        """Name each rotten blob and its copy."""
        answer = self._http.post(f"/v1/recordings/{recording_id}/verify")
        if not answer.is_success:
            raise UnavailableError(f"verify: HTTP {answer.status_code}: {answer.text[:300]}")
        return [
            f"blob {index} of copy {copy['copy_name']}"
            for copy in answer.json()["copies"]
            for index in copy["rotten_blobs"]
        ]

    def export(self, trip_id: str, path: Path) -> None:
        """Save the evidence of a trip, with its video."""
        query = {"trip": trip_id, "video": "true"}
        with self._http.stream("GET", "/v1/evidence", params=query) as answer:
            if not answer.is_success:
                raise UnavailableError(f"evidence: HTTP {answer.status_code}")
            with path.open("wb") as file:
                for piece in answer.iter_bytes():
                    file.write(piece)

    def _check_video(self, recording_id: str) -> None:
        digest = hashlib.sha256()
        with self._http.stream("GET", f"/v1/recordings/{recording_id}/content") as answer:
            for piece in answer.iter_bytes():
                digest.update(piece)
        if digest.hexdigest() != recording_id:
            raise RejectedError(
                f"recording {recording_id} came as {digest.hexdigest()}, HTTP {answer.status_code}"
            )


def judge(evidence: Path, trust: Path | None, desk: Path) -> tuple[int, str]:
    """Verify a copy of the evidence in an empty folder; return exit status and output.

    Args:
        evidence: The file to judge.
        trust: The keys that the auditor brought along, or none.
        desk: A directory made for this, with nothing else in it.
    """
    shutil.rmtree(desk, ignore_errors=True)
    desk.mkdir(parents=True)
    shutil.copy(evidence, desk / "evidence")
    command = ["wayseal-verify", "evidence"]
    if trust is not None:
        shutil.copy(trust, desk / "trust.json")
        command += ["--trust", "trust.json"]
    done = run(command, cwd=desk)
    return done.returncode, (done.stdout + done.stderr).strip()
