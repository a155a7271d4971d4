"""Jobs of a gateway, as their owner follows them."""

from typing import Any

import httpx

from support.trucks.rogue import until


def job_of(client: httpx.Client, answer: httpx.Response) -> dict[str, Any]:
    """Return a job that an answer names, once it has ended."""
    assert answer.status_code == 202, answer.text
    place = answer.headers["location"]
    assert place == f"/v1/jobs/{answer.json()['job_id']}"

    until("its end", lambda: client.get(place).json()["state"] not in ("waiting", "running"))
    ended: dict[str, Any] = client.get(place).json()
    return ended
