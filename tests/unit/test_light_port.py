"""The light port passes on what a light client asks, and nothing else."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.rest.light import QUESTION_BYTES_MAX, QUESTIONS_MAX, Light


def ask(method: str, **parameters: str) -> dict[str, object]:
    if parameters.get("height") == "99":
        raise RejectedError("CometBFT, commit: no such height")
    if parameters.get("height") == "98":
        raise UnavailableError("CometBFT beside this node does not answer")
    return {"method": method, "parameters": parameters}


class Client:
    """Talks to the application without a port."""

    def __init__(self) -> None:
        self._transport = httpx.ASGITransport(Light(ask).app)

    def request(self, method: str, path: str, content: bytes = b"") -> httpx.Response:
        return asyncio.run(self._request(method, path, content))

    def post(self, asked: object) -> httpx.Response:
        content = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
        return self.request("POST", "/", content)

    async def _request(self, method: str, path: str, content: bytes) -> httpx.Response:
        async with httpx.AsyncClient(transport=self._transport, base_url="http://light") as client:
            return await client.request(method, path, content=content)


@pytest.fixture
def client() -> Client:
    return Client()


def question(method: object, **parameters: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": parameters}


def test_what_a_light_client_asks_is_passed_on(client: Client) -> None:
    for asked in (
        question("commit", height="3"),
        question("validators", height=3, page="1", per_page="100"),
        question("consensus_params", height="3"),
    ):
        answer = client.post(asked).json()
        expected = {name: str(value) for name, value in asked["params"].items()}
        assert answer == {
            "jsonrpc": "2.0",
            "id": 7,
            "result": {"method": asked["method"], "parameters": expected},
        }
    several = client.post([question("commit", height="3")] * 2).json()
    assert [each["result"]["method"] for each in several] == ["commit", "commit"]


@pytest.mark.parametrize(
    "asked",
    [
        question("broadcast_tx_async", tx="AA=="),
        question("check_tx", tx="AA=="),
        question("unsafe_flush_mempool"),
        question(None),
        question(["commit"]),
        question("commit", height="3", more="1"),
        question("commit", height="-3"),
        question("commit", height={"a": 1}),
        {"method": "commit", "params": [3], "id": {}},
        "commit",
        7,
        None,
    ],
)
def test_anything_else_is_refused(asked: object, client: Client) -> None:
    answer = client.post(asked).json()
    assert "expected" in answer["error"]["data"]
    assert "result" not in answer


def test_what_the_engine_refuses_is_said(client: Client) -> None:
    refused = client.post(question("commit", height="99")).json()
    assert refused["error"]["data"] == "CometBFT, commit: no such height"
    silent = client.post(question("commit", height="98")).json()
    assert "does not answer" in silent["error"]["data"]


def test_it_reads_little_and_takes_few_questions(client: Client) -> None:
    assert client.post(b"{" * QUESTION_BYTES_MAX).status_code == 400
    assert client.post(b" " * (QUESTION_BYTES_MAX + 1)).status_code == 400
    many = [question("commit", height="3")] * (QUESTIONS_MAX + 1)
    assert client.post(many).status_code == 400
    assert client.post([]).status_code == 400
    for path in ("/commit?height=3", "/status", "/websocket"):
        assert client.request("GET", path).status_code in {404, 405}
