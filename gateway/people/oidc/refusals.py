"""Why somebody is not signed in by the issuer's word."""

from enum import StrEnum

from contracts.errors import RejectedError


class Refusal(StrEnum):
    """A reason, as the address of the sign-in page has it; the page has a sentence for each."""

    AWAY = "issuer-away"
    """The issuer does not answer, or not in time, or what it says has no known form."""
    DECLINED = "issuer-declined"
    """The issuer did not let the person in, or the person went back."""
    LATE = "begin-again"
    """The answer is not for this browser, or came too late."""
    FALSE = "issuer-false"
    """What the issuer says of the person fails a check."""
    STRANGER = "unknown-person"
    """The issuer knows the person, and no entry of the settings lets them in."""
    OURS = "gateway-settings"
    """The gateway's own client id, secret or file is at fault."""
    TROUBLE = "gateway-trouble"
    """The gateway cannot write down who signs in, so it lets nobody in."""
    BUSY = "too-many"
    """Too many people, or tries, at once."""


class NotSignedInError(RejectedError):
    """Somebody is not signed in.

    Attributes:
        why: The reason.
    """

    def __init__(self, why: Refusal, words: str) -> None:
        super().__init__(words)
        self.why = why


class StrangerError(NotSignedInError):
    """The issuer has confirmed a person, but no entry of the settings admits this person.

    Attributes:
        name: By which they would be known here.
    """

    def __init__(self, name: str, words: str) -> None:
        super().__init__(Refusal.STRANGER, words)
        self.name = name
