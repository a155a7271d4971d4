"""Signing in: by a token, a password or an issuer's word; after a failure the next try waits."""

from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from gateway.access import Caller, Role, Tokens
from gateway.people.persons import Persons
from gateway.people.sessions import Session, SessionKind, Sessions
from gateway.people.tries import Tries

_NAME_COUNTED: Final = 64


class SignInError(RejectedError):
    """Nobody has that token, or that name and password; or it is a device's."""

    def __init__(self, words: str, *, is_device: bool = False) -> None:
        super().__init__(words)
        self.is_device = is_device


class TooEarlyError(UnavailableError):
    """Too many failures: the next try has to wait.

    Attributes:
        wait_s: How long, whole seconds.
    """

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"too many failures to sign in: try again in {wait_s} s")
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class People:
    """Who may enter, and how.

    Attributes:
        tokens: API tokens.
        persons: People with passwords.
        sessions: Of browsers.
        tries: Failures to sign in.
    """

    tokens: Tokens
    persons: Persons
    sessions: Sessions
    tries: Tries

    def by_token(self, token: str, address: str) -> str:
        """Begin a session for the owner of a token and return its id.

        Args:
            token: As sent.
            address: The client's.

        Raises:
            SignInError: Nobody has the token, or a device has.
            TooEarlyError: There were too many failures from this address.
        """
        keys = (f"address {address}",)
        self._check_wait(keys)
        owner = self.tokens.caller(token)
        if owner is None:
            self.tries.failed(keys)
            raise SignInError("expected a known token in the header Authorization: Bearer TOKEN")
        if owner.role is Role.DEVICE:
            raise SignInError(
                f"{owner.name} has role device, auditor or operator may do this", is_device=True
            )
        self.tries.succeeded(keys)
        return self._begin(SessionKind.TOKEN, owner, self.tokens.hash_of(token))

    def by_password(self, name: str, password: str, address: str) -> str:
        """Begin a session for a person and return its id.

        Args:
            name: As typed.
            password: As typed.
            address: The client's.

        Raises:
            SignInError: Nobody has that name and that password.
            TooEarlyError: There were too many failures from this address, or by this name.
        """
        keys = (f"address {address}", f"name {name[:_NAME_COUNTED]}")
        self._check_wait(keys)
        self.tries.failed(keys)  # before the check: tries at the same time do not slip through
        person = self.persons.signs_in(name, password)
        if person is None:
            raise SignInError("no person has that name and that password")
        self.tries.succeeded(keys)
        return self._begin(SessionKind.PERSON, person.owner, person.mark)

    def check_issuer(self, address: str) -> None:
        """Check that a client may try to sign in by an issuer's word.

        Raises:
            TooEarlyError: There were too many failures from this address.
        """
        self._check_wait((f"issuer {address}",))

    def issuer_failed(self, address: str) -> None:
        """Count a failure to sign in by an issuer's word; passwords do not wait for it."""
        self.tries.failed((f"issuer {address}",))

    def by_issuer(self, owner: Caller, mark: str, address: str) -> str:
        """Begin a session for a person whom an issuer has confirmed, and return its id.

        Args:
            owner: Who it is, and what they may do.
            mark: See `IssuerTerms`.
            address: The client's.
        """
        self.tries.succeeded((f"issuer {address}",))
        return self._begin(SessionKind.ISSUER, owner, mark)

    def of_session(self, session_id: str) -> Session | None:
        """Return the session of an id, or None if it is unknown or over."""
        return self.sessions.find(session_id)

    def _begin(self, kind: SessionKind, owner: Caller, mark: str) -> str:
        return self.sessions.begin(kind, owner.name, mark, owner)

    def _check_wait(self, keys: tuple[str, ...]) -> None:
        if wait_s := self.tries.wait_s(keys):
            raise TooEarlyError(int(wait_s) + 1)
