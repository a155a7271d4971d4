"""Port: where a live camera's pictures come from. Pictures and packets are PyAV's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Piece:
    """The next that a camera gave.

    Attributes:
        packet: A packet of H.264 that can be kept as it is; None if the pictures are to be encoded.
        pictures: `av.VideoFrame` that came out of it; none, one or several.
    """

    packet: Any
    pictures: list[Any]


class Feed(Protocol):
    """An open camera. Only the thread that opened it uses it."""

    @property
    def copied(self) -> Any:  # noqa: ANN401 - PyAV at the SDK edge
        """The stream whose packets can be kept as they are; None if pictures are to be encoded."""
        ...

    def pieces(self) -> Iterator[Piece]:
        """Yield what the camera gives, at the pace at which it gives it, without an end.

        Raises:
            UnavailableError: It gives no more; the message says what to do about it.
        """
        ...

    def close(self) -> None:
        """Release it; never raises."""
        ...
