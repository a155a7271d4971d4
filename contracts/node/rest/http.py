"""HTTP with a bounded head: uvicorn's parser gathers address and headers without limit."""

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES_MAX: Final = 256 << 10
"""Request line and headers together; a thousand ids fit in."""


class BoundedHttp(HttpToolsProtocol):
    """Ends a connection whose request's head is too large."""

    _in_head = False
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._in_head = False
                self.send_400_response(f"Request head larger than {HEAD_BYTES_MAX} bytes.")

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """End its head."""
        self._in_head = False
        super().on_headers_complete()
