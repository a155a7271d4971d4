"""The gateway's settings of REST: its address, and the limits of clients."""

from typing import Annotated, Final

from pydantic import Field

from contracts.runtime.serving.connections import Bounds
from gateway.storagesettings import Table

_BOUNDS: Final = Bounds()
Port = Annotated[int, Field(ge=0, le=65535)]


class RestSettings(Table):
    """The address for auditors, operators and uploads."""

    host: str = "127.0.0.1"
    port: Port = Field(8080, description="0 lets the system choose")
    plain_text: bool = Field(
        default=False,
        description="listen beyond this machine without TLS, behind a proxy that has it",
    )
    connections: int = Field(_BOUNDS.connections, ge=1, description="most connections")
    connections_per_address: int = Field(
        _BOUNDS.per_address, ge=1, description="most of one address; behind a proxy as many as all"
    )
    head_timeout_s: float = Field(_BOUNDS.head_s, gt=0, description="time for a request's head")
    rate_min: int = Field(
        _BOUNDS.rate, ge=1, description="bytes per second that a client must send or read"
    )
    body_timeout_s: float = Field(
        _BOUNDS.body_s, gt=0, description="time over which the rate of a body is measured"
    )
    unread_timeout_s: float = Field(
        _BOUNDS.unread_s, gt=0, description="the same for an answer; longest pause of a player"
    )
    keep_alive_timeout_s: int = Field(
        _BOUNDS.keep_alive_s, ge=1, description="time between two requests of a connection"
    )
    requests_per_minute: int = Field(
        6_000, ge=1, description="of one token or person; of strangers, of one address"
    )

    @property
    def bounds(self) -> Bounds:
        """Return the limits of connections."""
        return Bounds(
            self.connections,
            self.connections_per_address,
            self.head_timeout_s,
            self.rate_min,
            self.body_timeout_s,
            self.unread_timeout_s,
            self.keep_alive_timeout_s,
        )
