"""What the pages tell to type exists: make targets, commands, subcommands, flags."""

import io
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from contracts.evidence import wayseal_verify as verify
from contracts.ledger import options as node
from contracts.ledger.processor import wayseal_tp as processor
from contracts.party import wayseal_party as party
from device import wayseal_device as device
from gateway import wayseal_gateway as gateway
from storage.bench import wayseal_bench as bench
from support.project.pages import PAGES, ROOT, code_lines, inline_code, name_of

COMMANDS: dict[str, Callable[[list[str]], object]] = {
    "wayseal-bench": bench.main,
    "wayseal-device": device.main,
    "wayseal-gateway": gateway.main,
    "wayseal-node": node.parse_command,
    "wayseal-party": party.main,
    "wayseal-tp": processor.main,
    "wayseal-verify": verify.main,
}
FOREIGN_FLAGS = {
    "--require-hashes",
    "--pbkdf-memory",
    "--cipher",
    "--key-size",
    "--check",
    "--diff",
    "--limit",
    "--tags",
}  # of pip, cryptsetup, ansible-playbook
SUBCOMMAND = re.compile(r"^ {4}([a-z][a-z-]*)(?: |$)", re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OURS = re.compile(
    r"(?<!-o )(?<!chown )\bwayseal-(?:bench|device|gateway|node|party|tp|verify)\b"
    r"(?!:|-backup\b|\.service|\\n| \"\$@\")[^>|#;`]*"
)
MAKE = re.compile(r"^make(?: [A-Z_]+=\S*)*((?: [a-z-]+)?)((?: [A-Z_]+=(?:\"[^\"]*\"|\S*))*)$")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")

every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@cache
def help_of(command: str, *words: str) -> str:
    """Return what a command says to --help."""
    needed = ["--key", "any"] if command == "wayseal-party" and words else []
    with redirect_stdout(io.StringIO()) as said, pytest.raises(SystemExit) as ended:
        COMMANDS[command]([*needed, *words, "--help"])
    assert ended.value.code == 0, (command, words)
    return said.getvalue()


def subcommands(help_text: str) -> set[str]:
    """Return the subcommands that a command's help lists."""
    listed = help_text.partition("positional arguments:\n  COMMAND\n")[2].partition("\noptions")[0]
    return set(SUBCOMMAND.findall(listed))


def typed(page: Path) -> Iterator[str]:
    """Yield what a page tells to type, in blocks and between backticks."""
    yield from code_lines(page)
    yield from inline_code(page)


def first_word(words: list[str]) -> str | None:
    """Return the first word that is neither a flag nor a flag's value."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return word
        next(rest, None)
    return None


def test_the_commands_are_those_of_the_project() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert COMMANDS.keys() == scripts.keys()


@every_page
def test_commands_exist(page: Path) -> None:
    for text in typed(page):
        for name in re.findall(r"(?<![\w./-])wayseal-[a-z]+\b(?!\.service)", text):
            assert name in COMMANDS, f"{name_of(page)}: {text}"
        for command in OURS.findall(text):
            name, *words = command.replace("[", "").replace("]", "").replace(")", "").split()
            general = help_of(name)
            flags = set(FLAG.findall(general))
            subcommand = first_word(words) if subcommands(general) else None
            if subcommand is not None:
                assert subcommand in subcommands(general), f"{name_of(page)}: {command}"
                special = help_of(name, subcommand)
                flags |= set(FLAG.findall(special))
                inner = first_word(words[words.index(subcommand) + 1 :])
                if inner in subcommands(special):
                    flags |= set(FLAG.findall(help_of(name, subcommand, inner)))
            assert set(FLAG.findall(command)) <= flags, f"{name_of(page)}: {command}"


@pytest.fixture(scope="module")
def known_flags() -> frozenset[str]:
    return frozenset(FOREIGN_FLAGS.union(*map(every_flag, COMMANDS)))


@every_page
def test_flags_that_stand_alone_exist(page: Path, known_flags: frozenset[str]) -> None:
    for code in inline_code(page):
        if code.startswith("--"):
            assert set(FLAG.findall(code)) <= known_flags, f"{name_of(page)}: {code}"


def every_flag(name: str) -> set[str]:
    """Return the flags of a command and its subcommands."""
    texts = [help_of(name)]
    for word in subcommands(help_of(name)):
        special = help_of(name, word)
        texts += [special, *(help_of(name, word, inner) for inner in subcommands(special))]
    return {flag for text in texts for flag in FLAG.findall(text)}


@every_page
def test_make_targets_and_variables_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    variables = set(re.findall(r"^([A-Z_]+) \?=", MAKEFILE, re.MULTILINE))
    for text in typed(page):
        found = MAKE.fullmatch(text)
        if found:
            assert {found[1].strip()} <= targets | {""}, f"{name_of(page)}: {text}"
            assert set(re.findall(r"([A-Z_]+)=", text)) <= variables, f"{name_of(page)}: {text}"
        else:
            assert not text.startswith("make "), f"{name_of(page)}: no known form: {text}"
