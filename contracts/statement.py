"""Statements: what a gateway signs, such as a receipt: a body, the gateway's key, its signature."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from google.protobuf.message import Message

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import SigningKey, verify


class Statement(Protocol):
    """The fields that a statement of any kind has."""

    body: bytes
    gateway_public_key: str
    signature: str


_StatementT = TypeVar("_StatementT", bound=Statement)
_BodyT = TypeVar("_BodyT", bound=Message)


@dataclass(frozen=True, slots=True)
class StatementKind(Generic[_StatementT, _BodyT]):
    """One kind of statement.

    Attributes:
        name: What it is called in errors.
        statement: Its message.
        body: The message that its bytes hold.
        domain: Signed before the body, so that the signature of a statement of one kind never
            passes for one of another kind under the same key.
    """

    name: str
    statement: Callable[..., _StatementT]
    body: type[_BodyT]
    domain: bytes

    def sign(self, signer: SigningKey, body: _BodyT) -> _StatementT:
        """Return `body` under the gateway's signature."""
        wire = canonical(body)
        signature = signer.sign(self.domain + wire)
        return self.statement(body=wire, gateway_public_key=signer.public_key, signature=signature)

    def open(self, statement: _StatementT, trusted_keys: Collection[str]) -> _BodyT:
        """Check the signature of a statement and return its body.

        Args:
            statement: As it arrived.
            trusted_keys: Public keys of trusted gateways.

        Raises:
            RejectedError: The key is not trusted, the signature is wrong, or the body is invalid.
        """
        key = statement.gateway_public_key
        if key not in trusted_keys:
            raise RejectedError(f"{self.name} by a gateway whose key is not trusted: {key[:66]!r}")
        if not verify(key, statement.signature, self.domain + statement.body):
            raise RejectedError(f"{self.name} signature does not match gateway key {key}")
        return parse(self.body, statement.body)
