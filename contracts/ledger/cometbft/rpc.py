"""Asks the CometBFT process beside this node, by JSON-RPC over a Unix socket.

Source: CometBFT 0.38, RPC: `broadcast_tx_sync`, `commit`, `validators`, `status`, `net_info`.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.errors import RejectedError, UnavailableError

TIMEOUT_S: Final = 30.0
PAGE: Final = 100
"""Validators of one page; there are at most as many (`VALIDATORS_MAX`)."""


class Rpc:
    """The engine's RPC; one instance for each thread.

    Args:
        socket: Where the engine listens.
    """

    def __init__(self, socket: Path) -> None:
        transport = httpx.HTTPTransport(uds=str(socket), retries=0)
        self._client = httpx.Client(
            transport=transport, base_url="http://engine", timeout=TIMEOUT_S, trust_env=False
        )

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def broadcast(self, txs: Sequence[bytes]) -> list[Mapping[str, Any]]:
        """Offer transactions to the mempool, in order.

        Returns:
            For each, `code` and `log` of CheckTx; or only `error`, why the mempool did not ask.

        Raises:
            UnavailableError: The engine does not answer; it may have taken them.
        """
        calls = [
            _call(number, "broadcast_tx_sync", {"tx": base64.b64encode(tx).decode()})
            for number, tx in enumerate(txs)
        ]
        answers = self._post(calls if len(calls) > 1 else calls[0])
        found = answers if isinstance(answers, list) else [answers]
        by_number = {each["id"]: each for each in found}
        return [_taken(by_number[number]) for number in range(len(txs))]

    def ask(self, method: str, **parameters: str) -> Any:  # noqa: ANN401 - JSON
        """Return the result of a method.

        Raises:
            RejectedError: The engine refuses, as for a height that it does not have.
            UnavailableError: It does not answer.
        """
        answer = self._post(_call(0, method, parameters))
        if "error" in answer:
            raise RejectedError(f"CometBFT, {method}: {_words(answer)}")
        return answer["result"]

    def _post(self, body: object) -> Any:  # noqa: ANN401 - JSON
        try:
            response = self._client.post("/", json=body)
            return response.json()
        except (httpx.HTTPError, json.JSONDecodeError, UnicodeDecodeError) as error:
            what = str(error) or type(error).__name__
            raise UnavailableError(f"CometBFT beside this node does not answer: {what}") from error


def _call(number: int, method: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def _taken(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"error": _words(answer)} if "error" in answer else answer["result"]


def _words(answer: Mapping[str, Any]) -> str:
    error = answer["error"]
    return f"{error.get('message', '')}: {error.get('data', '')}"
