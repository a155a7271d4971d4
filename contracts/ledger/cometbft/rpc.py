"""Asks the CometBFT process beside this node, by JSON-RPC over a Unix socket.

Another validator's answers come from its light port (`ledger.rest.light`), in the same form.

Source: CometBFT 0.38, RPC: `broadcast_tx_async`, `check_tx`, `commit`, `validators`, `status`,
`net_info`.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.answers import EXCERPT_CHARS_MAX, join
from contracts.runtime.clienttls import usual_trust

TIMEOUT_S: Final = 30.0
_JSON: Final = {"Content-Type": "application/json"}
_OFFER: Final = (
    b'{"jsonrpc": "2.0", "id": %d, "method": "broadcast_tx_async", "params": {"tx": "%b"}}'
)
"""Filled in as bytes: `json` took four times the CPU to look through the base64."""
_FLUSH: Final = b'{"jsonrpc": "2.0", "id": %d, "method": "check_tx", "params": {"tx": ""}}'
"""CometBFT sends the questions of `broadcast_tx_async` when its flush timer ends, and the routines
that the timer starts delay the routine that sends (`flushThrottleMS` of its
`abci/client/socket_client.go` is 20 ns where 20 ms were meant): up to 4 ms of CPU for each
transaction. A question that waits for its answer has everything before it sent at once."""
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

    def offer(self, txs: Sequence[bytes]) -> list[str]:
        """Offer transactions to the mempool, in order.

        A question about an empty transaction follows them. CometBFT asks in order, so the
        application has answered about each when this returns.

        Returns:
            For each, why CometBFT did not ask the application; empty if it did.

        Raises:
            UnavailableError: The engine does not answer; it may have taken them.
        """
        calls = [_OFFER % (number, base64.b64encode(tx)) for number, tx in enumerate(txs)]
        *offered, asked = self._each([*calls, _FLUSH % len(calls)])
        refusals = [_words(each) if "error" in each else "" for each in offered]
        if "error" in asked:
            raise UnavailableError(f"{self._name}: {_words(asked)}")
        return refusals

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
        answers = self._each([json.dumps(call).encode() for call in calls])
        for call, answer in zip(calls, answers, strict=True):
            if "error" in answer:
                raise RejectedError(f"CometBFT, {call['method']}: {_words(answer)}")
        return [answer["result"] for answer in answers]

    def _each(self, calls: Sequence[bytes]) -> list[Mapping[str, Any]]:
        """Return the answers to calls whose ids are their numbers, in order."""
        if not calls:
            return []
        found = self._answer(b"[%b]" % b",".join(calls) if len(calls) > 1 else calls[0])
        answers = found if isinstance(found, list) else [found]
        if not all(isinstance(each, dict) and {"result", "error"} & set(each) for each in answers):
            raise UnavailableError(f"{self._name} answers in an unknown form")
        by_id = {json.dumps(each.get("id")): each for each in answers}
        if by_id.keys() != {str(number) for number in range(len(calls))}:
            refused = [_words(each) for each in answers if "error" in each]
            why = ": ".join(["answers other questions than were asked", *refused[:1]])
            raise UnavailableError(f"{self._name} {why}")
        return [by_id[str(number)] for number in range(len(calls))]

    def _answer(self, body: bytes) -> Any:  # noqa: ANN401 - JSON
        try:
            with self._client.stream("POST", "/", content=body, headers=_JSON) as response:
                return json.loads(join(f"{self._name} answers", response.iter_bytes()))
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            what = str(error) or type(error).__name__
            raise UnavailableError(f"{self._name} does not answer: {what}") from error


def _call(number: int, method: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def _words(answer: Mapping[str, Any]) -> str:
    error = answer["error"]
    words = (
        f"{error.get('message', '')}: {error.get('data', '')}"
        if isinstance(error, dict)
        else str(error)
    )
    return words[:EXCERPT_CHARS_MAX]
