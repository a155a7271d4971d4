"""Port: sending to connections of the component port, and ending them."""

from typing import Protocol

from google.protobuf.message import Message as Content

from contracts.proto.component_pb2 import Message


class Link(Protocol):
    """Sends in order, and never blocks."""

    def send(
        self,
        identity: bytes,
        kind: Message.MessageType,
        content: Content,
        correlation_id: str,
    ) -> bool:
        """Send a message; return False when the connection is gone."""
        ...

    def hang_up(self, identity: bytes) -> None:
        """Close a connection, so that its owner notices and may come back."""
        ...
