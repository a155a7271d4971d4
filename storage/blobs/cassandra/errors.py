"""Translates the driver's errors: whether a retry helps, and what the message says."""

from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLError
from typing import Final

from cassandra import (
    AuthenticationFailed,
    DriverException,
    OperationTimedOut,
    ReadFailure,
    RequestValidationException,
    Timeout,
    Unavailable,
    WriteFailure,
)
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.protocol import ErrorMessage

from contracts.errors import RejectedError, UnavailableError
from storage.blobs.cassandra.tls import refused

SAID_CHARS_MAX: Final = 300
DRIVER_ERRORS: Final = (DriverException, NoHostAvailable, ConnectionException, ErrorMessage)
"""The driver's errors have no common base class."""
_WRONG_LOGIN: Final = ("password are incorrect", "requires authentication", "not permitted to log")
"""Parts of the answers for which a retry does not help. Other login errors pass by themselves, such
as roles that cannot be read at their consistency level."""


@contextmanager
def peer_errors(action: str) -> Iterator[None]:
    """Turn an error of a request into an UnavailableError that says what was tried.

    Args:
        action: As in `put blob 3 of recording abcd`.
    """
    try:
        yield
    except DRIVER_ERRORS as error:
        raise UnavailableError(f"Cassandra cannot {action}: {reason(error)}") from error


@contextmanager
def schema_errors(action: str) -> Iterator[None]:
    """Like `peer_errors`, but a refused statement is a RejectedError."""
    with peer_errors(action):
        try:
            yield
        except RequestValidationException as error:
            raise RejectedError(f"Cassandra refuses to {action}: {reason(error)}") from error


def why_not_connected(error: Exception) -> RejectedError | UnavailableError:
    """Return the error of a failed connect: wrong login or certificate, or a retry may help."""
    causes = error.errors if isinstance(error, NoHostAvailable) else {"": error}
    for host, cause in causes.items():
        refusal = refused(str(host), cause) if isinstance(cause, SSLError) else None
        if refusal is not None:
            return refusal
        if isinstance(cause, AuthenticationFailed) and any(
            words in str(cause) for words in _WRONG_LOGIN
        ):
            return RejectedError(f"Cassandra refuses this user name and password: {_cut(cause)}")
    return UnavailableError(f"cannot connect to Cassandra: {reason(error)}")


def reason(error: Exception) -> str:
    """Return an error's text in one line, for each node if there are several."""
    if isinstance(error, NoHostAvailable):
        each = (f"{host}: {reason(cause)}" for host, cause in error.errors.items())
        return "; ".join(each) or "no node is up"
    if isinstance(error, OperationTimedOut):
        return f"no answer in time from {error.last_host}"
    if isinstance(error, Unavailable):
        return f"{error.required_replicas} replicas needed, {error.alive_replicas} alive"
    if isinstance(error, Timeout | ReadFailure | WriteFailure):
        failed = f", {error.failures} failed" if hasattr(error, "failures") else ""
        needed, came = error.required_responses, error.received_responses
        return f"{needed} replicas needed, {came} answered in time{failed}"
    return _cut(error)


def _cut(error: object) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:SAID_CHARS_MAX]
