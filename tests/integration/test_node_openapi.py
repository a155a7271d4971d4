"""The node keeps to its OpenAPI description, whatever is asked.

Half of the cases keep to it too and half do not. WAYSEAL_FUZZ_CASES sets how many each operation
gets, 40 by default.
"""

import os
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from support.ledgers.nodes import GOLDEN, OCTETS, WAIT_S, Node, recorded_options, running
from support.project.pages import ROOT

pytestmark = pytest.mark.integration

CASES: Final = int(os.environ.get("WAYSEAL_FUZZ_CASES", "40"))
DESCRIPTION: Final = ROOT / "contracts" / "ledger" / "rest" / "openapi.yaml"
ROUTE: Final = re.compile(r'[Rr]oute\("([^"]+)"')
ID: Final = re.compile(r'"([0-9a-f]{128})"')
KNOWN: Final = sorted(set(ID.findall((GOLDEN / "devmode" / "060-blocks-all.json").read_text())))
schemathesis.openapi.format(
    "sawtooth-id", st.one_of(st.sampled_from(KNOWN), st.from_regex(r"\A[0-9a-f]{128}\Z"))
)
schema = schemathesis.openapi.from_path(DESCRIPTION)
schema.config.generation.update(modes=list(schemathesis.GenerationMode))


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node with the recorded chain."""
    directory = tmp_path_factory.mktemp("openapi")
    with running(directory / "data", *recorded_options(directory)) as node:
        for number in range(1, 8):
            (path,) = (GOLDEN / "devmode").glob(f"batchlist-b{number}-*.bin")
            answer = node.client.post("/batches", content=path.read_bytes(), headers=OCTETS)
            node.client.get(f"{answer.json()['link']}&wait={WAIT_S}")
        yield node


@schema.parametrize()
@settings(
    max_examples=CASES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_described(case: schemathesis.Case[Any], node: Node) -> None:
    response = case.call(base_url=str(node.client.base_url))
    case.validate_response(
        response,
        checks=[status_code_conformance, content_type_conformance, response_schema_conformance],
    )


def test_every_route_is_described() -> None:
    routes = set(ROUTE.findall((DESCRIPTION.parent / "app.py").read_text("utf-8")))
    assert routes == {*schema.raw_schema["paths"], "/subscriptions"}
