"""The address of the component port, and the clients that may connect.

Anyone who connects takes part: may execute transactions of families outside
this process, and read every event. So the port listens on this machine alone,
on a Unix socket of one user, or wherever clients prove themselves by CURVE keys.

Source: ZeroMQ RFC 26 (CurveZMQ), RFC 32 (Z85).
"""

import os
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.curvekeys import is_z85_key
from contracts.runtime.files import OWNER_ONLY, disk_errors
from contracts.runtime.ports import is_loopback

TCP: Final = "tcp://"
IPC: Final = "ipc://"
PORT_MAX: Final = 65_535
SOCKET_PATH_BYTES_MAX: Final = 107
"""Longest path that a Unix socket's address holds."""
_HOST: Final = re.compile(r"\*|[\w.-]+|\[[\w:.%]+\]")  # ZeroMQ gives other characters a meaning


@dataclass(frozen=True, slots=True)
class Listening:
    """How the port is opened.

    Attributes:
        endpoint: `tcp://HOST:PORT` or `ipc:///PATH`.
        secret_key: CURVE secret key of the port, Z85; None without CURVE.
        client_keys: CURVE public keys of the clients that may connect, Z85.

    Raises:
        RejectedError: The endpoint is malformed, or would be open to strangers.
    """

    endpoint: str
    secret_key: str | None = None
    client_keys: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for key in self.client_keys:
            if not is_z85_key(key):
                raise RejectedError(
                    f"expected a CURVE public key, 40 characters of Z85, got {key[:80]!r}"
                )
        if (self.secret_key is None) != (not self.client_keys):
            raise RejectedError(
                "a CURVE key of the component port and keys of clients go together: "
                f"got {0 if self.secret_key is None else 1} and {len(self.client_keys)}"
            )
        if self.path is not None:
            self._check_path(self.path)
        else:
            self._check_host(_host(self.endpoint))

    @property
    def path(self) -> Path | None:
        """Return the Unix socket's path; None for TCP."""
        if not self.endpoint.startswith(IPC):
            return None
        return Path(self.endpoint.removeprefix(IPC))

    def _check_path(self, path: Path) -> None:
        if not path.is_absolute() or len(os.fsencode(path)) > SOCKET_PATH_BYTES_MAX:
            raise RejectedError(
                f"expected {IPC} and an absolute path of at most {SOCKET_PATH_BYTES_MAX} bytes, "
                f"got {self.endpoint[:200]!r}"
            )
        if self.secret_key is not None:
            raise RejectedError(
                f"{self.endpoint}: a Unix socket belongs to one user and takes no CURVE keys"
            )

    def _check_host(self, host: str) -> None:
        if self.secret_key is None and not is_loopback(host):
            raise RejectedError(
                f"{self.endpoint} is open to other machines: expected a loopback address, an "
                f"{IPC} endpoint, or CURVE keys (--component-key, --component-client)"
            )


@contextmanager
def private_socket(path: Path) -> Iterator[None]:
    """Let the block bind a Unix socket at `path`; nobody but its owner can ever connect.

    Raises:
        RejectedError: Something else is at that path; it is left alone.
        UnavailableError: The directory cannot be read or written.
    """
    with disk_errors("listen on", path):
        if path.is_symlink() or (path.exists() and not stat.S_ISSOCK(path.stat().st_mode)):
            raise RejectedError(f"{path} exists and is not a socket")
        if path.exists() and _answers(path):
            raise RejectedError(f"another process listens on {path}")
        before = os.umask(0o777 & ~OWNER_ONLY)
        try:
            yield
        finally:
            os.umask(before)
        if path.stat().st_mode & 0o777 != OWNER_ONLY:
            raise UnavailableError(f"{path} cannot be kept for its owner alone")


def _host(endpoint: str) -> str:
    """Return the host of `tcp://HOST:PORT`."""
    host, colon, port = endpoint.removeprefix(TCP).rpartition(":")
    if not (
        endpoint.startswith(TCP)
        and colon
        and port.isascii()
        and port.isdigit()
        and int(port) <= PORT_MAX
    ):
        raise RejectedError(f"expected tcp://HOST:PORT or ipc:///PATH, got {endpoint[:200]!r}")
    if _HOST.fullmatch(host) is None:
        raise RejectedError(f"expected a host, or * for all, got {endpoint[:200]!r}")
    return host.removeprefix("[").removesuffix("]")


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as trial:
        return trial.connect_ex(str(path)) == 0
