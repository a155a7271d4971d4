"""The gateway answers whatever is asked of any route, within its description or not: never a 5xx.

WAYSEAL_FUZZ_CASES sets how many cases each operation gets, 4 by default, that keep to the
description, and as many that do not. 503 is no failure: a gateway says it that cannot answer now.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from support.evidence.chain import digest_of
from support.network.world import Trip, reading
from support.trucks.rogue import Site, nonce, running_site, until

if TYPE_CHECKING:
    from schemathesis import Case

pytestmark = pytest.mark.integration

CASES: Final = int(os.environ.get("WAYSEAL_FUZZ_CASES", "4"))
ENDLESS: Final = "/v1/changes"
UPLOADED: Final = ("PATCH /v1/uploads/{recording}",)
"""Its body is plain bytes, which have tests of their own."""
UNAVAILABLE: Final = 503


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("openapi")) as made:
        trip = Trip(nonce=nonce(1))
        with made.device() as truck:
            truck.send(*trip.whole([reading(at) for at in range(5)], [digest_of(b"film")])[:-1])
            until("a trip", lambda: bool(made.ask("/v1/trips")["items"]))
        yield made


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.timeout(1200)
def test_no_question_is_a_failure_of_the_gateway(site: Site, mode: str) -> None:
    # Not above: each worker would import it, and one needs it.
    import schemathesis  # noqa: PLC0415
    from schemathesis.core.control import SkipTest  # noqa: PLC0415
    from schemathesis.core.result import Ok  # noqa: PLC0415

    wanted = schemathesis.GenerationMode(mode)
    schema = schemathesis.openapi.from_dict(site.ask("/openapi.json"))
    schema.config.generation.update(modes=[wanted])
    asked: dict[str, int] = {}
    with httpx.Client(
        base_url=site.appliance.rest, headers=site.operator.headers, trust_env=False, timeout=60
    ) as client:
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            operation = found.ok()
            if operation.path == ENDLESS or operation.label in UPLOADED:
                continue

            @settings(
                max_examples=CASES,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=wanted))
            def ask(case: "Case[Any]") -> None:
                label = case.operation.label
                asked[label] = asked.get(label, 0) + 1
                answer = case.call(base_url=site.appliance.rest, headers=dict(client.headers))
                failed = answer.status_code >= 500 and answer.status_code != UNAVAILABLE
                assert not failed, f"{label}: {answer.status_code} {answer.content[:300]!r}"

            try:
                ask()
            except SkipTest:  # nothing of it can be made wrong
                continue
    assert len(asked) > 40
    assert site.ask("/health/live")["live"]
