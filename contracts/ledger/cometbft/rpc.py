"""Asks the CometBFT process beside this node, by JSON-RPC over a Unix socket.

Another validator's answers come from its light port (`ledger.rest.light`), in the same form.

A long transaction goes to it as a form. CometBFT looks through a JSON-RPC request five times, byte
by byte: 1.3 ms of CPU for 25 kB, and 0.7 ms for the same as a form (docs/performance.md).

Source: CometBFT 0.38, RPC: `broadcast_tx_sync`, `commit`, `validators`, `status`, `net_info`, and
"Arguments" of URI over HTTP.
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
from contracts.runtime.clienttls import usual_trust

TIMEOUT_S: Final = 30.0
FORM_BYTES_MIN: Final = 4 << 10
"""For a shorter transaction the request itself costs more: such ones go together."""
FORM_BYTES_MAX: Final = 4 << 20
"""As hexadecimal digits a form is twice as long, and the engine takes 32 MiB."""
_JSON: Final = {"Content-Type": "application/json"}
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
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

    def broadcast(self, txs: Sequence[bytes]) -> list[Mapping[str, Any]]:
        """Offer transactions to the mempool, in order.

        Returns:
            For each, `code` and `log` of CheckTx; or only `error`, why the mempool did not ask.

        Raises:
            UnavailableError: The engine does not answer; it may have taken them.
        """
        answers: list[Mapping[str, Any]] = []
        for is_form, group in groupby(txs, _goes_as_form):
            if is_form:
                answers += map(self._broadcast_form, group)
            else:
                answers += self._broadcast_json(group)
        return [_taken(answer) for answer in answers]

    def _broadcast_form(self, tx: bytes) -> Any:  # noqa: ANN401 - JSON
        return self._answer("/broadcast_tx_sync", b"tx=0x" + tx.hex().encode(), _FORM)

    def _broadcast_json(self, txs: Iterable[bytes]) -> list[Mapping[str, Any]]:
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
        return self._answer("/", b"[%b]" % b",".join(calls) if len(calls) > 1 else calls[0], _JSON)

    def _answer(self, path: str, body: bytes, headers: Mapping[str, str]) -> Any:  # noqa: ANN401
        try:
            with self._client.stream("POST", path, content=body, headers=headers) as response:
                return json.loads(join(f"{self._name} answers", response.iter_bytes()))
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            what = str(error) or type(error).__name__
            raise UnavailableError(f"{self._name} does not answer: {what}") from error


def _goes_as_form(tx: bytes) -> bool:
    return FORM_BYTES_MIN <= len(tx) <= FORM_BYTES_MAX


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
