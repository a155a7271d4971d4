"""The node keeps to its OpenAPI description, whatever is asked.

Half of the cases keep to it too and half do not. WAYSEAL_FUZZ_CASES sets how many each operation
gets at random, 20 by default.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from support.ledgers.nodes import GOLDEN, OCTETS, WAIT_S, Node, recorded_options, running
from support.project.pages import ROOT

pytestmark = pytest.mark.integration

CASES: Final = int(os.environ.get("WAYSEAL_FUZZ_CASES", "20"))
DESCRIPTION: Final = ROOT / "contracts" / "ledger" / "rest" / "openapi.yaml"
ROUTE: Final = re.compile(r'[Rr]oute\("([^"]+)"')


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


@pytest.fixture(scope="module")
def paths() -> dict[str, dict[str, object]]:
    described: dict[str, dict[str, dict[str, object]]] = yaml.safe_load(DESCRIPTION.read_text())
    return described["paths"]


@pytest.mark.timeout(7200)
def test_answers_are_as_described(
    node: Node, paths: dict[str, dict[str, object]], tmp_path: Path
) -> None:
    """Asked by schemathesis's command; its plugin would make all questions in each worker."""
    done = subprocess.run(  # noqa: S603 - an installed tool
        [
            *(Path(sys.executable).with_name("st"), "run", DESCRIPTION),
            *("--url", str(node.client.base_url), "--max-examples", str(CASES)),
            *("--phases", "examples,coverage,fuzzing", "--no-color"),
            "--checks=status_code_conformance,content_type_conformance,response_schema_conformance",
            *("--report-json-path", tmp_path / "report.json"),
        ],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=os.environ
        | {"SCHEMATHESIS_HOOKS": "support.ledgers.questions", "PYTHONPATH": str(ROOT / "tests")},
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["complete"]
    assert report["operations"]["tested"] == sum(map(len, paths.values()))
    asked = {name for name, phase in report["phases"].items() if phase["status"] == "success"}
    assert asked == {"examples", "coverage", "fuzzing"}
    assert report["test_cases"]["generated"] > report["operations"]["tested"]


def test_every_route_is_described(paths: dict[str, dict[str, object]]) -> None:
    routes = set(ROUTE.findall((DESCRIPTION.parent / "app.py").read_text("utf-8")))
    assert routes == {*paths, "/subscriptions"}
