"""Errors raised on purpose, split by one question: does a retry help?"""


class WaysealError(Exception):
    """Root of the tree; catch it only at a process border."""


class RejectedError(WaysealError):
    """The input breaks a rule; the same bytes will be rejected again."""


class UnavailableError(WaysealError):
    """A peer or medium did not answer in time; the same call may succeed later."""
