"""Asks the CometBFT process beside this node, by JSON-RPC over a Unix socket.

Another validator's answers come from its light port (`ledger.rest.light`), in the same form.

Source: CometBFT 0.38, RPC: `broadcast_tx_sync`, `commit`, `validators`, `status`, `net_info`.
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.answers import EXCERPT_CHARS_MAX, join
from contracts.ledger.cometbft.forms import Forms, is_form
from contracts.runtime.clienttls import usual_trust

TIMEOUT_S: Final = 30.0
_JSON: Final = {"Content-Type": "application/json"}
_BROADCAST: Final = (
    b'{"jsonrpc": "2.0", "id": %d, "method": "broadcast_tx_sync", "params": {"tx": "%b"}}'
)
"""Filled in as bytes: `json` took four times the CPU to look through the base64."""
PAGE: Final = 100
"""Validators of one page; there are at most as many (`VALIDATORS_MAX`)."""


class Rpc:
    """The engine's RPC; one instance for each thread.

    Args:
        at: Where the engine listens: its Unix socket, or the URL of a validator's light port.
    """

    def __init__(self, at: Path | str) -> None:
        there = isinstance(at, str)
        self._name = f"the light port {at}" if there else "CometBFT beside this node"
        self._forms = None if isinstance(at, str) else Forms(at, TIMEOUT_S)
        transport = httpx.HTTPTransport(
            uds=None if there else str(at), retries=0, verify=usual_trust(str(at))
        )
        self._client = httpx.Client(
            transport=transport,
            base_url=str(at) if there else "http://engine",
            timeout=TIMEOUT_S,
            trust_env=False,
        )

    def close(self) -> None:
        """Hang up."""
        self._client.close()
        if self._forms is not None:
            self._forms.close()

    def broadcast(self, txs: Sequence[bytes]) -> list[Mapping[str, Any]]:
        """Offer transactions to the mempool, in order.

        Returns:
            For each, `code` and `log` of CheckTx; or only `error`, why the mempool did not ask.

        Raises:
            UnavailableError: The engine does not answer; it may have taken them.
        """
        answers: list[Mapping[str, Any]] = []
        for long, group in groupby(txs, is_form):
            if long and self._forms is not None:
                answers += map(self._forms.broadcast, group)
            else:
                answers += self._broadcast_together(group)
        return [_taken(answer) for answer in answers]

    def _broadcast_together(self, txs: Iterable[bytes]) -> list[Mapping[str, Any]]:
        calls = [_BROADCAST % (number, base64.b64encode(tx)) for number, tx in enumerate(txs)]
        answers = self._post(calls)
        found = answers if isinstance(answers, list) else [answers]
        by_number = {each["id"]: each for each in found}
        return [by_number[number] for number in range(len(calls))]

    def ask(self, method: str, **parameters: str) -> Any:  # noqa: ANN401 - JSON
        """Return the result of a method.

        Raises:
            RejectedError: The engine refuses, as for a height that it does not have.
            UnavailableError: It does not answer.
        """
        return self.ask_each([(method, parameters)])[0]

    def ask_each(self, questions: Sequence[tuple[str, Mapping[str, str]]]) -> list[Any]:
        """Return the results of several methods, asked at once, in order.

        Raises:
            RejectedError: The engine refuses one of them, as for a height that it does not have.
            UnavailableError: It does not answer.
        """
        calls = [_call(number, *question) for number, question in enumerate(questions)]
        answers = self._post([json.dumps(call).encode() for call in calls]) if calls else []
        found = answers if isinstance(answers, list) else [answers]
        results: dict[int, Any] = {}
        for answer in found:
            if not isinstance(answer, dict) or not {"result", "error"} & set(answer):
                raise UnavailableError(f"{self._name} answers in an unknown form")
            if "error" in answer:
                method = questions[answer["id"]][0] if len(calls) > 1 else calls[0]["method"]
                raise RejectedError(f"CometBFT, {method}: {_words(answer)}")
            results[answer["id"]] = answer["result"]
        if results.keys() != set(range(len(calls))):
            raise UnavailableError(f"{self._name} answers other questions than were asked")
        return [results[number] for number in range(len(calls))]

    def _post(self, calls: Sequence[bytes]) -> Any:  # noqa: ANN401 - JSON
        body = b"[%b]" % b",".join(calls) if len(calls) > 1 else calls[0]
        try:
            with self._client.stream("POST", "/", content=body, headers=_JSON) as response:
                return json.loads(join(f"{self._name} answers", response.iter_bytes()))
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            what = str(error) or type(error).__name__
            raise UnavailableError(f"{self._name} does not answer: {what}") from error


def _call(number: int, method: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def _taken(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"error": _words(answer)} if "error" in answer else answer["result"]


def _words(answer: Mapping[str, Any]) -> str:
    error = answer["error"]
    words = (
        f"{error.get('message', '')}: {error.get('data', '')}"
        if isinstance(error, dict)
        else str(error)
    )
    return words[:EXCERPT_CHARS_MAX]
