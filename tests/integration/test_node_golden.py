"""Our node answers what a real Sawtooth 1.2.6 answered, request by request, on the same chain."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from support.nodes import GOLDEN, Node, recorded_options, running

pytestmark = pytest.mark.integration

RECORDED_HOST: Final = "127.0.0.1:8008"
RECORDINGS: Final = sorted((GOLDEN / "devmode").glob("[0-9]*.json"))


@dataclass(frozen=True)
class Difference:
    """An answer of ours that is not the recorded one, on purpose."""

    status: int
    code: int | None
    reason: str


TWICE: Final = "Sawtooth lists a refused transaction twice when it has executed the batch twice"
DIFFERENCES: Final = {
    "statuses-get": Difference(200, None, TWICE),
    "statuses-post": Difference(200, None, TWICE),
    "err-state-list-bad-addr": Difference(400, 62, "the original fails on it with a bare 500"),
    "err-statuses-post-badjson": Difference(400, 46, "the original fails on it with a bare 500"),
    "err-receipts-post-badjson": Difference(400, 82, "the original fails on it with a bare 500"),
    "err-submit-bad-pubkey": Difference(400, 30, "the original fails on it and times out"),
    "err-submit-empty-batch": Difference(400, 30, "an empty batch kills the original"),
    "err-after-empty-batch-blocks": Difference(200, None, "the original is dead by then"),
}
"""All of them, by name of the recording, with our status and error code."""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    directory = tmp_path_factory.mktemp("golden")
    with running(directory / "data", *recorded_options(directory)) as node:
        yield node


def recorded(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def test_differences_name_recordings() -> None:
    names = {recorded(path)["name"] for path in RECORDINGS}
    assert set(DIFFERENCES) <= names
    assert len(names) == len(RECORDINGS) > 100


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_answers_as_recorded(node: Node, path: Path) -> None:
    want = recorded(path)
    headers = {"Host": RECORDED_HOST}
    if "content_type" in want:
        headers["Content-Type"] = want["content_type"]
    content = base64.b64decode(want.get("body_b64", ""))
    got = node.client.request(want["method"], want["path"], content=content, headers=headers)
    difference = DIFFERENCES.get(want["name"])
    if difference is not None:
        assert got.status_code == difference.status
        assert got.json().get("error", {}).get("code") == difference.code
        return
    assert got.status_code == want["status"]
    if "_raw" in want["json"]:
        return  # plain text is not part of the contract
    assert got.headers["content-type"] == want["headers"]["Content-Type"]
    assert got.json() == want["json"]


def test_statuses_differ_in_the_repetition_only(node: Node) -> None:
    want = recorded(GOLDEN / "devmode" / "091-statuses-get.json")
    for entry in want["json"]["data"]:
        invalid = entry["invalid_transactions"]
        entry["invalid_transactions"] = [
            one for n, one in enumerate(invalid) if one not in invalid[:n]
        ]
    got = node.client.get(want["path"], headers={"Host": RECORDED_HOST})
    assert got.json() == want["json"]


def test_blocks_and_roots_are_the_recorded_ones(node: Node) -> None:
    roots = json.loads((GOLDEN / "devmode" / "state_roots.json").read_text())
    blocks = node.client.get("/blocks?reverse&limit=1000").json()["data"]
    assert [block["header_signature"] for block in blocks] == [root["block_id"] for root in roots]
    for block, root in zip(blocks, roots, strict=True):
        assert {key: block["header"][key] for key in root if key != "block_id"} == {
            key: value for key, value in root.items() if key != "block_id"
        }
