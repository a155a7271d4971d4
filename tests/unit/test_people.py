"""People, their passwords, their sessions, and how long who fails must wait."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from pydantic import TypeAdapter

from contracts.errors import RejectedError
from gateway.access import Caller, Role, Tokens
from gateway.api.placed import FIRST, PlacedCursor, PlacedWindow
from gateway.api.sessions import every
from gateway.grants import Grant, GrantKind, granted, grants_text, parse_grants
from gateway.people.persons import Persons
from gateway.people.rates import CLIENTS_KEPT, Rates
from gateway.people.sessions import IDLE_MAX_S, LASTS_MAX_S, SessionKind, Sessions
from gateway.people.signing import People, SignInError, TooEarlyError
from gateway.people.tries import FREE_TRIES, LOCKED_OUT_S, TRIES_KEPT, Tries
from support.gateways.passwords import cheap_passwords

PASSWORD: Final = "a sentence of my own"  # noqa: S105 - of nobody
START_MS: Final = 1_800_000_000_000


class Desk:
    """All that signing in needs, and two clocks that a test moves."""

    def __init__(self, directory: Path) -> None:
        self.ms, self.s = START_MS, 0.0
        self.tokens = Tokens(directory / "tokens.json", now=lambda: self.ms)
        self.persons = Persons(directory / "people.json", now=lambda: self.ms)
        self.sessions = Sessions(
            directory / "sessions.db", self.tokens, self.persons, now=lambda: self.ms
        )
        self.people = People(self.tokens, self.persons, self.sessions, Tries(lambda: self.s))

    def is_in(self, session_id: str) -> bool:
        return self.people.of_session(session_id) is not None


@pytest.fixture
def dear_desk(tmp_path: Path) -> Iterator[Desk]:
    """Return a desk where passwords are kept as for people."""
    made = Desk(tmp_path)
    with closing(made.sessions):
        yield made


@pytest.fixture
def desk(dear_desk: Desk) -> Iterator[Desk]:
    with cheap_passwords():
        yield dear_desk


def test_a_person_signs_in_with_the_right_password_alone(dear_desk: Desk, tmp_path: Path) -> None:
    desk = dear_desk
    grants = parse_grants(["party:dairy", "lot:01234567890128/L 7{}%"])
    desk.persons.add("inspector", Role.AUDITOR, PASSWORD, grants=grants)
    kept = (tmp_path / "people.json").read_text()
    assert PASSWORD not in kept
    assert "$argon2id$v=19$m=65536,t=3,p=4$" in kept  # 64 MiB, three passes: RFC 9106, 4
    session_id = desk.people.by_password("inspector", PASSWORD, "192.0.2.1")
    found = desk.people.of_session(session_id)
    assert found is not None
    assert (found.owner.name, found.owner.role) == ("inspector", Role.AUDITOR)
    assert found.owner.grants == grants
    assert session_id.encode() not in (tmp_path / "sessions.db").read_bytes()
    assert session_id.encode() not in (tmp_path / "sessions.db-wal").read_bytes()
    for name, password in (("inspector", PASSWORD + "x"), ("nobody", PASSWORD)):
        with pytest.raises(SignInError, match="no person has that name and that password"):
            desk.people.by_password(name, password, "192.0.2.2")


def test_a_session_ends_with_what_it_stands_for(desk: Desk) -> None:
    token = desk.tokens.add("auditor", Role.AUDITOR)
    desk.persons.add("inspector", Role.AUDITOR, PASSWORD)
    desk.persons.add("other", Role.OPERATOR, PASSWORD, expires_ms=START_MS + 1000)
    by_token = desk.people.by_token(token, "here")
    by_password = desk.people.by_password("inspector", PASSWORD, "here")
    expiring = desk.people.by_password("other", PASSWORD, "here")
    assert desk.is_in(by_token)
    desk.tokens.add("auditor", Role.AUDITOR)  # another one of the same name
    assert not desk.is_in(by_token)
    desk.persons.set_password("inspector", PASSWORD + " again")
    assert not desk.is_in(by_password)
    again = desk.people.by_password("inspector", PASSWORD + " again", "here")
    desk.persons.remove(["inspector"])
    assert not desk.is_in(again)
    assert desk.is_in(expiring)
    desk.ms += 1000
    assert not desk.is_in(expiring)


def test_a_session_ends_when_it_is_idle_and_after_a_day_of_work(desk: Desk) -> None:
    token = desk.tokens.add("auditor", Role.AUDITOR)
    session_id = desk.people.by_token(token, "here")
    desk.ms += IDLE_MAX_S * 1000 - 1
    assert desk.is_in(session_id)
    desk.ms += IDLE_MAX_S * 1000
    assert not desk.is_in(session_id)
    session_id, began = desk.people.by_token(token, "here"), desk.ms
    while desk.ms + 600_000 < began + LASTS_MAX_S * 1000:
        desk.ms += 600_000
        assert desk.is_in(session_id)
    desk.ms = began + LASTS_MAX_S * 1000
    assert not desk.is_in(session_id)


def test_a_clock_that_goes_back_makes_no_session_longer(desk: Desk) -> None:
    session_id = desk.people.by_token(desk.tokens.add("auditor", Role.AUDITOR), "here")
    desk.ms -= 3_600_000
    assert not desk.is_in(session_id)


def test_an_operator_ends_all_sessions_of_a_name(desk: Desk) -> None:
    token = desk.tokens.add("auditor", Role.AUDITOR)
    first, second = (desk.people.by_token(token, "here") for _ in range(2))
    assert [each.kind for each in desk.sessions.all()] == [SessionKind.TOKEN] * 2
    assert desk.sessions.end_of("auditor") == 2
    assert not desk.is_in(first)
    assert not desk.is_in(second)
    assert desk.sessions.all() == []


def listed_one_by_one(desk: Desk, *used: str) -> list[str]:
    """Return the names of the sessions in parts of one; between the parts, these are used."""
    seen: list[str] = []
    cursor: str | None = FIRST
    while cursor is not None:
        cursor = TypeAdapter[str](PlacedCursor).validate_python(cursor)
        page = every(desk.people, PlacedWindow(cursor, 1))
        seen += [each.name for each in page.items]
        cursor = page.next_cursor
        desk.ms += 120_000
        for session_id in used:
            assert desk.is_in(session_id)
    return seen


def test_a_session_that_is_used_while_it_is_listed_is_not_left_out(desk: Desk) -> None:
    tokens = {name: desk.tokens.add(name, Role.AUDITOR) for name in ("first", "second", "third")}
    began = {}
    for name, token in tokens.items():
        desk.ms += 1000
        began[name] = desk.people.by_token(token, "here")
    assert listed_one_by_one(desk, began["first"]) == ["third", "second", "first"]


def test_sessions_that_began_at_once_are_listed_each(desk: Desk) -> None:
    token = desk.tokens.add("auditor", Role.AUDITOR)
    for _ in range(3):
        desk.people.by_token(token, "here")
    assert listed_one_by_one(desk) == ["auditor"] * 3


@pytest.mark.parametrize("name", ["oidc:" + "a" * 128 + f" ({'b' * 255})", "oidc:two\nlines"])
def test_sessions_of_any_name_are_listed_in_parts(desk: Desk, name: str) -> None:
    for _ in range(2):
        desk.sessions.begin(SessionKind.ISSUER, name, "mark", Caller(name, Role.AUDITOR, None))
        desk.ms += 1
    assert listed_one_by_one(desk) == [name] * 2


def test_a_device_signs_in_nowhere(desk: Desk) -> None:
    token = desk.tokens.add("truck-1", Role.DEVICE)
    with pytest.raises(SignInError) as caught:
        desk.people.by_token(token, "here")
    assert caught.value.is_device


def test_who_fails_waits_longer_each_time_by_address_and_by_name(desk: Desk) -> None:
    desk.persons.add("inspector", Role.AUDITOR, PASSWORD)

    def fail(address: str) -> int:
        """Return the wait, seconds; 0: the try was looked at."""
        try:
            desk.people.by_password("inspector", "wrong", address)
        except TooEarlyError as error:
            return error.wait_s
        except SignInError:
            return 0
        raise AssertionError

    assert [fail(f"192.0.2.{at}") for at in range(FREE_TRIES + 1)] == [0] * (FREE_TRIES + 1)
    assert fail("192.0.2.99") > 0  # another address, the same name
    with pytest.raises(TooEarlyError):
        desk.people.by_password("inspector", PASSWORD, "192.0.2.99")
    waits = []
    for _ in range(12):
        desk.s += LOCKED_OUT_S
        assert fail("192.0.2.1") == 0
        waits.append(fail("192.0.2.1"))
    assert waits == sorted(waits)
    assert waits[-1] == LOCKED_OUT_S + 1
    desk.s += LOCKED_OUT_S
    desk.people.by_password("inspector", PASSWORD, "192.0.2.1")
    assert fail("192.0.2.1") == 0  # it begins again


def test_tokens_that_are_guessed_wait_too(desk: Desk) -> None:
    for _ in range(FREE_TRIES + 1):
        with pytest.raises(SignInError):
            desk.people.by_token("guessed", "192.0.2.1")
    with pytest.raises(TooEarlyError):
        desk.people.by_token("guessed", "192.0.2.1")
    desk.people.by_token(desk.tokens.add("auditor", Role.AUDITOR), "192.0.2.2")


def test_a_flood_of_names_takes_bounded_memory() -> None:
    tries = Tries(lambda: 0.0)
    for at in range(TRIES_KEPT + 10):
        tries.failed([f"name {at}"])
    assert len(tries._failures) == TRIES_KEPT  # noqa: SLF001


@pytest.mark.parametrize("password", ["", "short", "x" * 201])
def test_a_password_is_neither_short_nor_endless(desk: Desk, password: str) -> None:
    with pytest.raises(RejectedError, match="expected 12 to 200 characters"):
        desk.persons.add("inspector", Role.AUDITOR, password)
    assert desk.persons.all() == []


def test_a_person_is_neither_a_device_nor_doubled_nor_an_operator_with_grants(desk: Desk) -> None:
    desk.persons.add("inspector", Role.AUDITOR, PASSWORD)
    with pytest.raises(RejectedError, match="already"):
        desk.persons.add("inspector", Role.OPERATOR, PASSWORD)
    with pytest.raises(RejectedError, match="device"):
        desk.persons.add("truck", Role.DEVICE, PASSWORD)
    with pytest.raises(RejectedError, match="auditor alone"):
        desk.persons.add("op", Role.OPERATOR, PASSWORD, grants=parse_grants(["trip:x"]))
    with pytest.raises(RejectedError, match="no person of nobody"):
        desk.persons.remove(["nobody"])


def test_a_rotten_entry_admits_nobody_and_the_others_stay(desk: Desk, tmp_path: Path) -> None:
    for name in ("first", "second"):
        desk.persons.add(name, Role.AUDITOR, PASSWORD)
    path = tmp_path / "people.json"
    entries = json.loads(path.read_text())
    entries["first"]["role"] = "operator"
    path.write_text(json.dumps(entries))
    assert desk.persons.get("first") is None
    assert desk.persons.get("second") is not None


def test_grants_are_kept_as_they_are_written() -> None:
    words = ["party:dairy", "lot:01234567890128/a/b c%{}", "trip:" + "0" * 32, "delivery:D-1"]
    grants = parse_grants(words)
    assert granted(grants_text(grants)) == grants
    assert "{" not in grants_text(grants)
    lot = next(each for each in grants if each.kind is GrantKind.LOT)
    assert lot.lot == ("01234567890128", "a/b c%{}")
    assert granted(None) is None
    assert Grant(GrantKind.PARTY, "dairy") in grants


@pytest.mark.parametrize("word", ["", "party", "party:", "lot:x", "lot:/y", "everything:*"])
def test_a_grant_of_no_known_form_is_refused(word: str) -> None:
    with pytest.raises(RejectedError, match=r"grant: expected party:ID"):
        parse_grants([word])


def test_a_token_has_the_grants_that_it_was_made_with(desk: Desk) -> None:
    grants = parse_grants(["party:dairy"])
    caller = desk.tokens.caller(desk.tokens.add("dairy", Role.AUDITOR, grants=grants))
    assert caller is not None
    assert caller.grants == grants
    with pytest.raises(RejectedError, match="auditor alone"):
        desk.tokens.add("truck-1", Role.DEVICE, grants=grants)


def test_rates_let_through_a_burst_and_then_a_steady_number() -> None:
    now = [0.0]
    rates = Rates(60, lambda: now[0])
    assert [rates.wait_s("a") for _ in range(60)] == [0.0] * 60
    assert rates.wait_s("a") == pytest.approx(1.0)
    assert rates.wait_s("b") == 0.0
    now[0] = 1.0
    assert rates.wait_s("a") == 0.0
    assert rates.wait_s("a") > 0
    for at in range(CLIENTS_KEPT + 5):
        rates.wait_s(str(at))
    assert len(rates._due_s) == CLIENTS_KEPT  # noqa: SLF001
