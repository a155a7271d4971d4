"""Every operation of REST has recorded examples, and each is what the description says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from gateway.api.app import build_app
from gateway.api.examples import recorded
from gateway.services import Services
from gateway.settings import Settings
from support.gateways.described import Description, Route

PROBLEM: Final = "application/problem+json"
SMALL: Final = 8 << 10
"""Bytes of one example, at most."""
NO_GOOD_ANSWER: Final = {
    "GET /v1/jobs/{job_id}/result": "its jobs make evidence; a verdict is as its own route answers",
    "POST /v1/enrolment": "a truck with a claim code: docs/device.md shows the whole way",
    "POST /v1/trips/{trip_id}/automatic-holds/end": "signed for one moment and block",
}
"""The recorded run has no good answer in JSON of these."""
NO_PROBLEM: Final = {"408", "409", "410", "412", "413", "415", "416", "423"} | {
    *("429", "460", "500", "501", "503"),
}
"""Statuses that the recorded run did not meet."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Description:
    services = Services(Settings(data=tmp_path_factory.mktemp("gateway"), site_id="site"))
    try:
        return Description(build_app(services).openapi())
    finally:
        services.close()


def answers(route: Route) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield status, media type and content of each answer that is no problem."""
    for status, answer in route.operation["responses"].items():
        for media, content in answer.get("content", {}).items():
            if media != PROBLEM:
                yield status, media, content


def test_every_operation_has_examples_of_its_parameters_and_of_what_it_gives(
    described: Description,
) -> None:
    without = set()
    for route in described.routes():
        name = f"{route.method} {route.path}"
        assert name in recorded()["operations"] or route.path == "/v1/changes", name
        for each in route.operation.get("parameters", []):
            if each.get("required") and recorded()["operations"].get(name, {}).get("answers"):
                assert "example" in each, (name, each["name"])
        good = [
            content
            for status, media, content in answers(route)
            if media.endswith("json") and status.startswith("2")
        ]
        if good and not any("example" in each for each in good):
            without.add(name)
    assert without == set(NO_GOOD_ANSWER)


def test_every_example_is_what_the_description_says(described: Description) -> None:
    components = {"components": described.document["components"]}
    count = 0
    for route in described.routes():
        for status, media, content in answers(route):
            if "example" not in content or not media.endswith("json"):
                continue
            schema = content["schema"] | components
            checker = Draft202012Validator(schema, format_checker=FormatChecker())
            errors = [each.message for each in checker.iter_errors(content["example"])]
            assert not errors, (route.method, route.path, status, errors[:3])
            count += 1
    assert count > 50


def test_problems_have_an_example_of_their_status(described: Description) -> None:
    shown = described.document["components"]["examples"]
    checker = Draft202012Validator(described.document["components"]["schemas"]["Problem"])
    for name, example in shown.items():
        checker.validate(example["value"])
        assert name == f"problem-{example['value']['status']}"
    used = {
        status
        for route in described.routes()
        for status, answer in route.operation["responses"].items()
        if PROBLEM in answer.get("content", {})
    }
    assert used - {name.removeprefix("problem-") for name in shown} <= NO_PROBLEM


def test_examples_are_small_and_name_no_machine() -> None:
    path = Path(__file__).parents[2] / "gateway/api/examples.json"
    text = path.read_text("utf-8")
    assert len(text.encode()) < 40 * SMALL
    for word in ("tmp/", "/root", "Bearer ", "pytest"):
        assert word not in text.replace("Bearer TOKEN", ""), word
