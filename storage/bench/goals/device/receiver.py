"""A receiver of positions: answers as gpsd does, one position a second.

Source: gpsd's JSON protocol, gpsd_json(5). The test suite asks the real gpsd.
"""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_EVERY_S: Final = 1.0
_VERSION: Final = {"class": "VERSION", "release": "3.22", "proto_major": 3, "proto_minor": 14}


@contextmanager
def receiver() -> Iterator[str]:
    """Yield HOST:PORT where positions are told to one client."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_tell, args=[server, over], daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        over.set()


def _tell(server: socket.socket, over: threading.Event) -> None:
    client, _ = server.accept()
    with client:
        client.sendall(_line(_VERSION))
        number = 0
        while not over.wait(_EVERY_S):
            number += 1
            place = {"lat": 47 + number * 1e-5, "lon": 15.4, "alt": 353.2, "eph": 4.1, "epv": 7.2}
            try:
                client.sendall(_line({"class": "TPV", "mode": 3, **place, "speed": 19.4}))
            except OSError:  # the agent has ended
                return


def _line(report: object) -> bytes:
    return json.dumps(report).encode() + b"\n"
