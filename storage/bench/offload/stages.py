"""What a gateway's /metrics says of its stages."""

from collections.abc import Mapping
from typing import Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from contracts.errors import UnavailableError
from storage.stages import Stage

_SECONDS: Final = "wayseal_stage_seconds_sum"
_BYTES: Final = "wayseal_stage_bytes_total"


def stage_seconds(rest: str, token: str) -> Mapping[Stage, float]:
    """Return how long a gateway's threads have been at each stage since it was started, seconds.

    Raises:
        UnavailableError: It does not answer, or not so.
    """
    return _by_stage(_metrics(rest, token), _SECONDS)


def stage_bytes(rest: str, token: str) -> Mapping[Stage, float]:
    """Return how many bytes went through each stage.

    Raises:
        UnavailableError: The gateway does not answer, or not so.
    """
    return _by_stage(_metrics(rest, token), _BYTES)


def _metrics(rest: str, token: str) -> str:
    try:
        answer = httpx.get(
            f"{rest}/metrics", headers={"Authorization": f"Bearer {token}"}, trust_env=False
        ).raise_for_status()
    except httpx.HTTPError as error:
        raise UnavailableError(f"{rest}/metrics: {error}") from error
    return answer.text


def _by_stage(text: str, name: str) -> Mapping[Stage, float]:
    found = {
        sample.labels["stage"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }
    if found.keys() != set(Stage):
        raise UnavailableError(f"/metrics: expected stages {', '.join(Stage)}, got {set(found)}")
    return {stage: found[stage] for stage in Stage}
