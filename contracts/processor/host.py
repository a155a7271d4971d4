"""The rules in a sawtooth-sdk transaction processor.

Import it only where protobuf is told to be pure Python: the SDK's generated
code is of a time that other implementations do not read any more. `main.py`
sees to that.
"""

import importlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import zmq
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

from contracts.address import NAMESPACE
from contracts.commands import FAILED, WORKED
from contracts.errors import RejectedError, UnavailableError
from contracts.payload import FAMILY
from contracts.processor import stream
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.apply import apply
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.transactions import Family

_LOG = logging.getLogger(__name__)

GOODBYE_S: Final = 10
"""How long, seconds, the transaction in hand and the farewell may take."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a processor applies.

    Attributes:
        family: Whose transactions.
        namespace: Where it keeps its state.
        apply: Applies header, payload and transaction id to the state; raises
            `InvalidTransactionError`.
    """

    family: Family
    namespace: str
    apply: Callable[[TransactionHeader, bytes, str, Context], None]


WAYSEAL: Final = Rules(FAMILY, NAMESPACE, apply)


class LostContextError(Exception):
    """The validator has given up the block for which the transaction was executed."""


class StateContext:
    """State as the validator shows it; implements `contracts.rules.context.Context`.

    Every method but `delete` may raise `LostContextError`.

    Args:
        context: The SDK's.
        context_id: Its id.
        link: Over which it talks.
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

        Past the SDK, to which state that is empty and state that is lost are the same.
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
        try:
            self._context.set_state({address: value})
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
    """Applies rules, as the SDK wants it.

    Args:
        link: To the validator.
        rules: Which.
    """

    def __init__(self, link: stream.Stream, rules: Rules) -> None:
        self.family_name = rules.family.name
        self.family_versions = [rules.family.version]
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
            # Nobody waits for the outcome, but Sawtooth tells clients of any refusal, although the
            # batch may be committed in another block, and repeats for ever what fails otherwise.
            _LOG.info("transaction %s… was for a block given up", transaction.signature[:16])
        except InvalidTransactionError as error:
            raise InvalidTransaction(str(error)) from error
        except (ValidatorConnectionError, FutureTimeoutError):
            raise
        except Exception as error:
            # As the embedded node judges it: the same everywhere, and nobody stops for it.
            _LOG.exception("family %s failed on %s", self.family_name, transaction.signature)
            raise InvalidTransaction(f"internal error of family {self.family_name!r}") from error


def processor_at(link: stream.Stream) -> Any:  # noqa: ANN401  # the SDK has no types
    """Return the SDK's processor, talking over `link`."""
    stand_in = ModuleType("sawtooth_sdk.messaging.stream")
    stand_in.__dict__.update(Stream=lambda _: link, RECONNECT_EVENT=stream.RECONNECT_EVENT)
    sys.modules[stand_in.__name__] = stand_in
    core = importlib.import_module("sawtooth_sdk.processor.core")
    processor = core.TransactionProcessor(url=link.url)
    processor.set_header_style(TpRegisterRequest.RAW)  # the header as it was signed
    return processor


class Service:
    """One processor from its start to a signal.

    Attributes:
        link: To the validator.

    Args:
        url: The validator's component port.

    Raises:
        RejectedError: That is no endpoint.
    """

    def __init__(self, url: str) -> None:
        try:
            self.link = stream.Stream(url, self._say_ready)
        except zmq.ZMQError as error:
            why = os.strerror(error.errno or 0)
            raise RejectedError(f"cannot connect to {url!r}: {why}") from error
        self._is_said = False
        self._is_ending = False

    def run(self, handler: object) -> int:
        """Process transactions until a signal arrives; return the exit status.

        Raises:
            UnavailableError: The validator does not take the registration.
        """
        processor = processor_at(self.link)
        processor.add_handler(handler)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        while not self._is_ending:
            try:
                processor.start()
            except (ValidatorConnectionError, FutureTimeoutError):
                continue  # lost in the middle of a registration
            if not self._is_ending:
                raise UnavailableError(f"{self.link.url} refuses the registration, see the log")
        self.link.close()
        return WORKED

    def _say_ready(self) -> None:
        """Say once on standard output that transactions may come."""
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


def host(url: str, rules: Rules = WAYSEAL) -> int:
    """Host rules at the validator at `url` until a signal arrives; return the exit status.

    Raises:
        RejectedError: That is no endpoint.
        UnavailableError: The validator does not take the registration.
    """
    service = Service(url)
    return service.run(Handler(service.link, rules))
