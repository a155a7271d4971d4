"""The rules in a sawtooth-sdk transaction processor.

Import this module only after protobuf was set to its pure Python
implementation, as `wayseal_tp.py` does: other implementations no longer read
the SDK's generated code.
"""

import importlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import zmq
from google.protobuf.message import DecodeError
from sawtooth_sdk.messaging.exceptions import ValidatorConnectionError
from sawtooth_sdk.messaging.future import FutureTimeoutError
from sawtooth_sdk.processor.exceptions import (
    AuthorizationException,
    InternalError,
    InvalidTransaction,
)
from sawtooth_sdk.protobuf.processor_pb2 import TpRegisterRequest
from sawtooth_sdk.protobuf.state_context_pb2 import TpStateGetRequest, TpStateGetResponse
from sawtooth_sdk.protobuf.validator_pb2 import Message

from contracts.actions.apply import apply
from contracts.actions.payload import FAMILIES
from contracts.address import NAMESPACE
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.curvekeys import is_z85_key, load_or_create
from contracts.ledger.processor import stream
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.runtime.commands import FAILED, WORKED
from contracts.sawtooth.batches import Family

_LOG = logging.getLogger(__name__)

GOODBYE_S: Final = 10
"""Time, seconds, to finish the current transaction and to unregister."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A family's rules, as a processor applies them.

    Attributes:
        families: The versions of one transaction family.
        namespace: Beginning of its state addresses.
        apply: Applies header, payload and transaction id to the state; raises
            `InvalidTransactionError`.
    """

    families: Collection[Family]
    namespace: str
    apply: Callable[[TransactionHeader, bytes, str, Context], None]


WAYSEAL: Final = Rules(FAMILIES, NAMESPACE, apply)


class LostContextError(Exception):
    """The validator dropped the block for which the transaction was executed."""


class StateContext:
    """State as the validator shows it; implements `contracts.rules.context.Context`.

    Every method but `delete` may raise `LostContextError`.

    Args:
        context: The SDK's context.
        context_id: Its id.
        link: The stream to the validator.
    """

    def __init__(
        self,
        context: Any,  # noqa: ANN401  # the SDK has no types
        context_id: str,
        link: stream.Stream,
    ) -> None:
        self._context = context
        self._context_id = context_id
        self._link = link

    def get(self, address: str) -> bytes | None:
        """See `Context.get`.

        It bypasses the SDK, which cannot tell an empty value from a lost context.
        """
        request = TpStateGetRequest(context_id=self._context_id, addresses=[address])
        asked = self._link.send(Message.TP_STATE_GET_REQUEST, request.SerializeToString())
        response = TpStateGetResponse.FromString(asked.result().content)
        if response.status == TpStateGetResponse.AUTHORIZATION_ERROR:
            raise InvalidTransactionError(f"address {address} is not among the inputs")
        if not response.entries:
            raise LostContextError
        return bytes(response.entries[0].data) or None

    def set(self, address: str, value: bytes) -> None:
        """See `Context.set`."""
        self.set_all({address: value})

    def set_all(self, values: Mapping[str, bytes]) -> None:
        """Put values at addresses, in one message; see `Context.set`."""
        try:
            self._context.set_state(values)
        except AuthorizationException as error:
            raise InvalidTransactionError(str(error)) from error

    def delete(self, address: str) -> None:
        """See `Context.delete`."""
        try:
            self._context.delete_state([address])
        except AuthorizationException as error:
            raise InvalidTransactionError(str(error)) from error

    def add_event(self, event_type: str, attributes: Mapping[str, str], data: bytes = b"") -> None:
        """See `Context.add_event`."""
        try:
            self._context.add_event(event_type, list(attributes.items()), data)
        except InternalError as error:
            raise LostContextError from error


class Handler:
    """Applies rules; has the interface of an SDK handler.

    Args:
        link: The stream to the validator.
        rules: The rules to apply.
    """

    def __init__(self, link: stream.Stream, rules: Rules) -> None:
        (self.family_name,) = {family.name for family in rules.families}
        self.family_versions = [family.version for family in rules.families]
        self.namespaces = [rules.namespace]
        self._link = link
        self._apply = rules.apply

    def apply(self, transaction: Any, context: Any) -> None:  # noqa: ANN401  # the SDK has no types
        """Apply one transaction.

        Raises:
            InvalidTransaction: The rules refuse it.
        """
        header = TransactionHeader.FromString(transaction.header_bytes)
        state = StateContext(context, transaction.context_id, self._link)
        try:
            self._apply(header, transaction.payload, transaction.signature, state)
        except LostContextError:
            # No client waits for this outcome. A refusal would be reported to clients, although
            # another block may commit the batch; any other error would be repeated for ever.
            _LOG.info("transaction %s… was for a dropped block", transaction.signature[:16])
        except InvalidTransactionError as error:
            raise InvalidTransaction(str(error)) from error
        except (ValidatorConnectionError, FutureTimeoutError):
            raise
        except Exception as error:
            # As in the embedded node: the same outcome everywhere, and the processor goes on.
            _LOG.exception("family %s failed on %s", self.family_name, transaction.signature)
            raise InvalidTransaction(f"internal error of family {self.family_name!r}") from error


def processor_at(link: stream.Stream) -> Any:  # noqa: ANN401  # the SDK has no types
    """Return the SDK's processor, which talks over `link`."""
    stand_in = ModuleType("sawtooth_sdk.messaging.stream")
    stand_in.__dict__.update(Stream=lambda _: link, RECONNECT_EVENT=stream.RECONNECT_EVENT)
    sys.modules[stand_in.__name__] = stand_in
    core = importlib.import_module("sawtooth_sdk.processor.core")
    processor = core.TransactionProcessor(url=link.url)
    processor.set_header_style(TpRegisterRequest.RAW)  # the header as signed
    process = processor._process_future  # noqa: SLF001  # nothing else is between it and the loop

    def go_on(future: stream.Next, timeout: float | None = None, *, sigint: bool = False) -> None:
        try:
            process(future, timeout, sigint)
        except (DecodeError, ValueError) as error:
            _LOG.warning("dropped a message that no validator sends: %s", error)

    processor._process_future = go_on  # noqa: SLF001
    return processor


class Service:
    """One processor, from its start to a signal.

    Attributes:
        link: The stream to the validator.

    Args:
        url: The validator's component port.
        curve: Keys for a port that wants CURVE.

    Raises:
        RejectedError: `url` is not an endpoint.
    """

    def __init__(self, url: str, curve: stream.CurveKeys | None = None) -> None:
        try:
            self.link = stream.Stream(url, self._say_ready, curve)
        except zmq.ZMQError as error:
            why = os.strerror(error.errno or 0)
            raise RejectedError(f"cannot connect to {url!r}: {why}") from error
        self._is_said = False
        self._is_ending = False

    def run(self, handler: object) -> int:
        """Process transactions until a signal arrives; return the exit status.

        Raises:
            UnavailableError: The validator refuses the registration.
        """
        processor = processor_at(self.link)
        processor.add_handler(handler)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        while not self._is_ending:
            try:
                processor.start()
            except (ValidatorConnectionError, FutureTimeoutError):
                continue  # the connection was lost during registration
            except (DecodeError, ValueError) as error:
                raise UnavailableError(
                    f"{self.link.url} answered the registration in an unknown form: {error}"
                ) from error
            if not self._is_ending:
                raise UnavailableError(f"{self.link.url} refuses the registration, see the log")
        self.link.close()
        return WORKED

    def _say_ready(self) -> None:
        """Print the ready line once, on standard output."""
        if not self._is_said:
            self._is_said = True
            sys.stdout.write(f"ready connect={self.link.url}\n")
            sys.stdout.flush()

    def _end(self, _: int, __: object) -> None:
        self._is_ending = True
        self.link.interrupt()
        signal.signal(signal.SIGALRM, self._give_up)
        signal.alarm(GOODBYE_S)

    def _give_up(self, _: int, __: object) -> None:
        raise SystemExit(FAILED)


def curve_keys(file: Path, server: str) -> stream.CurveKeys:
    """Return a processor's keys; make the file of its own key if it is missing.

    Raises:
        RejectedError: The file does not hold a key that is for its owner alone, or `server` is
            not a public key.
        UnavailableError: The file cannot be read or made.
    """
    if not is_z85_key(server):
        raise RejectedError(f"expected a CURVE key, 40 characters of Z85, got {server[:80]!r}")
    is_new = not file.exists()
    keys = stream.CurveKeys(load_or_create(file, stream.new_curve_key), server)
    if is_new:
        _LOG.warning("made CURVE key %s; the port must permit %s", file, keys.public)
    return keys


def host(url: str, rules: Rules = WAYSEAL, curve: stream.CurveKeys | None = None) -> int:
    """Host rules at the validator at `url` until a signal arrives; return the exit status.

    Raises:
        RejectedError: `url` is not an endpoint.
        UnavailableError: The validator refuses the registration.
    """
    service = Service(url, curve)
    return service.run(Handler(service.link, rules))
