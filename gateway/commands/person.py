"""`wayseal-gateway person`: people who sign in to the pages with a name and a password."""

import argparse
import getpass
import json
import sys
from typing import Final

from contracts.errors import RejectedError
from contracts.records.clock import now_ms, rfc3339
from gateway.access import Role
from gateway.grants import parse_grants
from gateway.people.persons import Person, Persons
from gateway.settings import Settings

_DAY_MS: Final = 86_400_000


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Do what the options say.

    Raises:
        RejectedError: A name or a password is malformed, or nobody has the name.
        UnavailableError: The file cannot be written.
    """
    _check_usage(options)
    persons = Persons(settings.people_file)
    if options.list:
        for person in persons.all():
            print(json.dumps(_document(person)))
    elif options.remove:
        persons.remove(options.names)
        for name in options.names:
            print(json.dumps({"name": name, "removed": True}))
    elif options.password:
        (name,) = options.names
        persons.set_password(name, _password(name))
        print(json.dumps({"name": name, "password": "changed"}))
    else:
        _add(persons, options)


def _check_usage(options: argparse.Namespace) -> None:
    """End with usage and exit status 2 unless the options belong together."""
    if options.list and options.names:
        options.wrong("--list takes no NAME")
    if not options.list and not options.names:
        options.wrong("expected NAME or --list")
    adds = options.role is not None
    if not (options.list or options.remove or options.password or adds):
        options.wrong("expected --role, --password, --remove or --list")
    if not adds and (options.grants or options.expires_days is not None):
        options.wrong("--grant and --expires-days go with --role alone")
    if (adds or options.password) and len(options.names) != 1:
        options.wrong("expected one NAME: each person has a password")


def _add(persons: Persons, options: argparse.Namespace) -> None:
    (name,), days = options.names, options.expires_days
    grants = parse_grants(options.grants) if options.grants else None
    expires_ms = None if days is None else now_ms() + days * _DAY_MS
    persons.add(name, Role(options.role), _password(name), expires_ms=expires_ms, grants=grants)
    print(json.dumps(next(_document(each) for each in persons.all() if each.name == name)))


def _password(name: str) -> str:
    """Return a password: typed twice at a terminal, else the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    typed = getpass.getpass(f"password of {name}: ")
    if getpass.getpass("again: ") != typed:
        raise RejectedError("expected the same password twice, got two")
    return typed


def _document(person: Person) -> dict[str, object]:
    return {
        "name": person.name,
        "role": person.role,
        "grants": None if person.grants is None else sorted(map(str, person.grants)),
        "made": None if person.made_ms is None else rfc3339(person.made_ms),
        "expires": None if person.expires_ms is None else rfc3339(person.expires_ms),
    }
