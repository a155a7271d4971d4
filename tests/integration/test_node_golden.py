"""Our node answers what a real Sawtooth 1.2.6 answered, request by request, on the same chain."""

import base64
import contextlib
import http.client
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from support.ledgers.nodes import (
    GOLDEN,
    OCTETS,
    PLAIN_NODE,
    WAIT_S,
    Node,
    recorded_options,
    running,
)
from support.ledgers.processors import intkey_processor
from support.project.pages import ROOT

pytestmark = pytest.mark.integration

RECORDED_HOST: Final = "127.0.0.1:8008"
RECORDINGS: Final = sorted((GOLDEN / "devmode").glob("[0-9]*.json"))


@dataclass(frozen=True)
class Difference:
    """An answer of ours that is not the recorded one, on purpose."""

    status: int
    code: int | None
    reason: str


TWICE: Final = "Sawtooth executes some batches twice, and then lists the refused transaction twice"
DIFFERENCES: Final = {
    "statuses-get": Difference(200, None, TWICE),
    "statuses-post": Difference(200, None, TWICE),
    "err-state-list-bad-addr": Difference(400, 62, "Sawtooth fails with a bare 500"),
    "err-statuses-post-badjson": Difference(400, 46, "Sawtooth fails with a bare 500"),
    "err-receipts-post-badjson": Difference(400, 82, "Sawtooth fails with a bare 500"),
    "err-submit-bad-pubkey": Difference(400, 30, "Sawtooth fails and times out"),
    "err-submit-empty-batch": Difference(400, 30, "an empty batch kills Sawtooth"),
    "err-after-empty-batch-blocks": Difference(200, None, "Sawtooth is dead by then"),
}
"""Of the recordings, all of them by name, with our status and error code."""
FAILS: Final = "Sawtooth fails with a bare 500"
NO_ID: Final = "?head=00"
ANY_IDS: Final = json.dumps(["0" * 128]).encode()


@dataclass(frozen=True)
class Asked:
    """A request that is not among the recordings, whose answer differs too."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes
    difference: Difference


def get(path: str, difference: Difference) -> Asked:
    return Asked("GET", path, {}, b"", difference)


def post(path: str, headers: dict[str, str], content: bytes, difference: Difference) -> Asked:
    return Asked("POST", path, headers, content, difference)


FURTHER: Final = {
    "submit-only-unknown-fields": post(
        "/batches", OCTETS, b"\x12\x00", Difference(400, 34, "nothing was submitted")
    ),
    "submit-no-content-type": post("/batches", {}, b"\n\x00", Difference(400, 42, FAILS)),
    "statuses-no-content-type": post(
        "/batch_statuses", {}, ANY_IDS, Difference(400, 43, FAILS)
    ),
    "receipts-no-content-type": post("/receipts", {}, ANY_IDS, Difference(400, 81, FAILS)),
    "receipts-wait": get(
        "/receipts?wait&id={transaction}",
        Difference(200, None, f"{FAILS}; receipts exist or they do not, so `wait` is ignored"),
    ),
    "limit-beyond-int32": get("/blocks?limit=2147483648", Difference(400, 53, FAILS)),
    "state-head-no-id": get(f"/state{NO_ID}", Difference(400, 60, FAILS)),
    "state-value-head-no-id": get(f"/state/{'00' * 35}{NO_ID}", Difference(400, 60, FAILS)),
    "blocks-start-beyond-64-bits": get(
        "/blocks?start=0x10000000000000000",
        Difference(400, 54, "there is no such block number"),
    ),
    "blocks-head-reverse": get(
        "/blocks?head={block}&reverse", Difference(200, None, "there is no page after the last one")
    ),
    "encoded-slash": get(
        "/blocks/%2F",
        Difference(404, None, "an encoded slash separates path segments, as most proxies treat it"),
    ),
    "no-host": Asked(
        "GET", "/blocks", {"Host": ""}, b"",
        Difference(200, None, "links in the answer then have no host"),
    ),
    "too-many-ids": post(
        "/receipts", {"Content-Type": "application/json"}, json.dumps(["0" * 128] * 1001).encode(),
        Difference(400, 204, "bounded work for one request"),
    ),
    "body-too-large": post(
        "/batches", OCTETS, bytes((16 << 20) + 1),
        Difference(
            413, 200,
            "one clear error; [the limits](limits.md#ledger-node) differ from Sawtooth's",
        ),
    ),
    "subscriptions-without-upgrade": get(
        "/subscriptions", Difference(400, None, "plain text is not part of the interface")
    ),
}  # fmt: skip
PAGE: Final = ROOT / "docs" / "differences.md"
ANSWER_ROW: Final = re.compile(
    r"^\| `([a-z0-9-]+)` \|.*\| (\d{3})(?: code (\d+))?(?:, plain text)? \| ([^|]+) \|$",
    re.MULTILINE,
)
BEHAVIOUR_ROW: Final = re.compile(r"^\|.*\| `(test_\w+)` \|$", re.MULTILINE)


@pytest.fixture(scope="module", params=["in the node", "in a processor"])
def node(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node]:
    """Return a node on a fresh chain, to which intkey belongs or registers, as recorded."""
    directory = tmp_path_factory.mktemp("golden")
    options = recorded_options(directory)
    if request.param == "in the node":
        with running(directory / "data", *options) as node:
            yield node
        return
    options += ["--component", "tcp://127.0.0.1:0"]
    with (
        running(directory / "data", *options, script=PLAIN_NODE) as node,
        intkey_processor(node.component, directory),
    ):
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


def test_a_batch_that_depends_on_itself_is_never_decided(node: Node) -> None:
    case = recorded(GOLDEN / "derived" / "own-dependency.json")
    head = node.client.get("/blocks?limit=1").json()["head"]
    for want in (case["submit"], case["ask"]):
        got = node.client.request(
            want["method"],
            want["path"],
            content=base64.b64decode(want.get("body_b64", "")),
            headers={"Host": RECORDED_HOST, "Content-Type": want.get("content_type", "")},
        )
        assert got.status_code == want["status"]
        answer = got.json()
        for entry in answer.get("data", []):  # the one difference: the reason
            (reason,) = entry["invalid_transactions"]
            assert "depends on transaction" in reason["message"]
            assert "of its own batch" in reason["message"]
            entry["invalid_transactions"] = []
        assert answer == want["json"]
    assert node.client.get("/blocks?limit=1").json()["head"] == head


@pytest.mark.parametrize("name", FURTHER)
def test_further_answers_differ_as_said(node: Node, name: str) -> None:
    asked = FURTHER[name]
    block = node.client.get("/blocks").json()["data"][2]
    transaction = block["batches"][0]["transactions"][0]["header_signature"]
    path = asked.path.format(block=block["header_signature"], transaction=transaction)
    url = node.client.base_url
    connection = http.client.HTTPConnection(url.host, url.port, timeout=WAIT_S)
    headers = {"Content-Length": str(len(asked.content)), **asked.headers}
    connection.putrequest(asked.method, path, skip_host="Host" in headers)
    for key, value in headers.items():
        if value:
            connection.putheader(key, value)
    with contextlib.suppress(ConnectionError):  # an early answer ends it: RFC 9112, 9.6
        connection.endheaders(asked.content)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    assert answer.status == asked.difference.status
    if answer.getheader("Content-Type", "").startswith("application/json"):
        assert json.loads(content).get("error", {}).get("code") == asked.difference.code
        assert "next" not in json.loads(content).get("paging", {})
    else:
        assert asked.difference.code is None


def test_the_page_lists_these_differences() -> None:
    rows = ANSWER_ROW.findall(PAGE.read_text("utf-8"))
    listed = {
        name: Difference(int(status), int(code) if code else None, why)
        for name, status, code, why in rows
    }
    further = {name: asked.difference for name, asked in FURTHER.items()}
    assert listed == {**DIFFERENCES, **further}


def test_the_page_names_tests_of_behaviour() -> None:
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    _, _, page = PAGE.read_text("utf-8").partition("## Behaviour")
    named = BEHAVIOUR_ROW.findall(page)
    assert len(named) == page.count("\n|") - 2 * page.count("\n|---") > 0
    assert [name for name in named if f"def {name}(" not in tests] == []


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
