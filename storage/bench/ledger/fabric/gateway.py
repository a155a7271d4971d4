"""A connection to the Gateway of a peer, by gRPC. The only importer of `grpc`."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Self, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from contracts.errors import RejectedError, UnavailableError
from contracts.proto.fabric_pb2 import (
    CommitStatusResponse,
    ErrorDetail,
    EvaluateResponse,
    RpcStatus,
)
from storage.bench.ledger.fabric.messages import NONCE_BYTES, propose, to_follow, to_submit
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.port import busy_s

ANSWER_S: Final = 60.0
"""Longer than a peer waits for others: 30 s. Source: core.yaml, `peer.gateway`."""
OPEN_S: Final = 10.0
BUSY_S: Final = 60.0
"""If a peer takes nothing for so long, it counts as away."""
_SERVICE: Final = "/gateway.Gateway/"
_DETAILS: Final = "grpc-status-details-bin"
_SHOWN: Final = 400
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 100 << 20),  # as a peer's own, for whole blocks
    ("grpc.enable_http_proxy", 0),  # the server that is named is asked, and no other one
)
_UNCONNECTED: Final = "failed to connect to all addresses"
"""Begins gRPC's own words, which no peer says, for a connection that is not made."""
_UNBELIEVED: Final = ("handshake failed", "verification check failed")
"""In these words, if the server speaks no TLS or its certificate is not believed."""
_CLOSED: Final = ("socket closed", "unwrap failed")
"""In gRPC's words for a server that ended the connection, as one does that wants a certificate."""
_BUSY: Final = (
    "exceeding concurrency limit",
    "no orderers could successfully process transaction",
    "insufficient number of orderers could successfully process transaction",
)
"""In the words of a peer that takes a request later: it has too many, or the ordering nodes have no
leader or are full. No code tells it: the first one is UNKNOWN. Source: Fabric 2.4 to 3.1,
internal/peer/node/grpc_limiters.go and internal/pkg/gateway/submit.go."""
_NO_CHANNEL: Final = "failed to get config for channel"
"""A peer's words for a channel that it is not in (UNAVAILABLE). Source: Fabric 3.1.5,
internal/pkg/gateway/registry.go."""
_T = TypeVar("_T")
_AWAY: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class TooBusyError(Exception):
    """The peer, or the ordering nodes behind it, take nothing now."""


async def patiently(ask: Callable[[], Awaitable[_T]]) -> tuple[_T, int]:
    """Ask a peer that may be too busy again and again; return answer and number of refusals.

    Raises:
        RejectedError: The peer refuses for good.
        UnavailableError: No answer, or the peer stays too busy for BUSY_S.
    """
    began_s, busy = time.monotonic(), 0
    while True:
        try:
            return await ask(), busy
        except TooBusyError as error:
            if time.monotonic() - began_s > BUSY_S:
                raise UnavailableError(f"{error}, for {BUSY_S:.0f} s") from error
            await asyncio.sleep(busy_s(busy))
            busy += 1


class Gateway:
    """One connection.

    Args:
        place: The peer's address, and the identity that asks.
        channel: The connection.
    """

    def __init__(self, place: FabricPlace, channel: grpc.aio.Channel) -> None:
        self.place = place
        self._channel = channel
        names = ("Endorse", "Evaluate", "Submit", "CommitStatus")
        self._calls: dict[str, grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]] = {
            name: channel.unary_unary(_SERVICE + name) for name in names
        }

    @classmethod
    async def open(cls, place: FabricPlace) -> Self:
        """Connect to a peer.

        Raises:
            RejectedError: Its TLS certificate is not believed.
            UnavailableError: It takes no connections.
        """
        name = place.tls_name
        options = [*_OPTIONS, *([("grpc.ssl_target_name_override", name)] if name else [])]
        credentials = grpc.ssl_channel_credentials(place.tls_ca, *(place.tls_client or ()))
        made = cls(place, grpc.aio.secure_channel(place.target, credentials, options=options))
        try:
            async with asyncio.timeout(OPEN_S):
                await made._connected()
        except TimeoutError as error:
            await made.aclose()
            raise UnavailableError(f"{place.target}: no answer in {OPEN_S:.0f} s") from error
        except BaseException:
            await made.aclose()
            raise
        return made

    async def _connected(self) -> None:
        while True:
            state = self._channel.get_state(try_to_connect=True)
            if state is grpc.ChannelConnectivity.READY:
                return
            if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                try:
                    await self._ask("Evaluate", b"")  # its error has the reason
                except RejectedError:
                    if self._channel.get_state() is grpc.ChannelConnectivity.READY:
                        return  # connected after all, and the peer wants a proposal
                    raise
                except UnavailableError as error:
                    closed = any(each in str(error).lower() for each in _CLOSED)
                    if not closed or self.place.tls_client is not None:
                        raise
                    hint = "does the peer demand tls_certificate and tls_key?"
                    raise UnavailableError(f"{error}; {hint}") from error
            await self._channel.wait_for_state_change(state)

    async def aclose(self) -> None:
        """End the connection, and all that waits for its answers."""
        await self._channel.close()

    async def evaluate(self, arguments: Sequence[bytes], chaincode: str | None = None) -> bytes:
        """Return a chaincode's answer; nothing is ordered.

        Args:
            arguments: Name of the function, and its arguments.
            chaincode: Its name; None for the benchmark's.

        Raises:
            RejectedError: The peer, or the chaincode, refuses.
            UnavailableError: No answer.
        """
        place = self.place
        proposed = propose(
            place.identity,
            place.channel,
            chaincode or place.chaincode,
            arguments,
            nonce=secrets.token_bytes(NONCE_BYTES),
            made_s=int(time.time()),
        )
        answer, _ = await patiently(lambda: self._ask("Evaluate", proposed.to_evaluate))
        with _formed(place, "Evaluate", answer):
            return EvaluateResponse.FromString(answer).result.payload

    async def endorsed(self, request: bytes) -> bytes:
        """Return the request to submit a transaction, once peers have endorsed it.

        Args:
            request: To endorse it.

        Raises:
            RejectedError: The peers, or the chaincode, refuse it.
            TooBusyError: The peer takes no more.
            UnavailableError: No answer.
        """
        answer = await self._ask("Endorse", request)
        with _formed(self.place, "Endorse", answer):
            return to_submit(self.place.identity, request, answer)

    async def submit(self, request: bytes) -> None:
        """Hand an endorsed transaction over to be ordered; errors as `endorsed` raises them."""
        await self._ask("Submit", request)

    async def status(self, digest: bytes) -> CommitStatusResponse:
        """Return the status of a transaction, once it is in a block; errors as `endorsed`."""
        place = self.place
        request = to_follow(place.identity, digest, place.channel)
        answer = await self._ask("CommitStatus", request, None)
        with _formed(place, "CommitStatus", answer):
            return CommitStatusResponse.FromString(answer)

    async def _ask(self, name: str, request: bytes, answer_s: float | None = ANSWER_S) -> bytes:
        try:
            return bytes(await self._calls[name](request, timeout=answer_s))
        except grpc.aio.AioRpcError as error:
            raise self._told(name, error) from error

    def _told(self, name: str, error: grpc.aio.AioRpcError) -> Exception:
        code, words = error.code(), _words(error)
        if any(each in words for each in _BUSY):
            return TooBusyError(f"{self.place.target}: {name}: {words}")
        if words.startswith(_UNCONNECTED) and any(each in words.lower() for each in _UNBELIEVED):
            named = self.place.tls_name or "its host's name"
            return RejectedError(
                f"{self.place.target}: expected TLS with a certificate of the authorities in "
                f"tls_ca, for {named}, got: {words}"
            )
        if code in _AWAY and _NO_CHANNEL not in words:
            return UnavailableError(f"{self.place.target}: {name}: {words}")
        return RejectedError(words)


@contextmanager
def _formed(place: FabricPlace, name: str, answer: bytes) -> Iterator[None]:
    """Read an answer; a DecodeError means that its form is unknown, and raises RejectedError."""
    try:
        yield
    except DecodeError as error:
        raise RejectedError(
            f"{place.target}: expected the answer to {name}, got {len(answer)} other octets"
        ) from error


def _words(error: grpc.aio.AioRpcError) -> str:
    """Return a peer's words, with those of the peers that it asked."""
    said = [error.details() or error.code().name]
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            try:
                details = [
                    ErrorDetail.FromString(each.value)
                    for each in RpcStatus.FromString(value).details
                ]
            except DecodeError:
                continue
            # An answer to Evaluate repeats the words of the one peer that was asked.
            said += [f"{x.msp_id}: {x.message}" for x in details if x.message not in said[0]]
    return "; ".join(dict.fromkeys(said))[:_SHOWN]
