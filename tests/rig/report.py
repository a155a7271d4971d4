"""What the rig says at its end: a line for each scenario, then one for all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rig.events import Begun, Ended
from rig.guest.commands import CommandError
from rig.guest.scenario import Scenario

CONSOLE_LINES: Final = 25


def judged(
    events: Iterable[Begun | Ended], scenarios: Iterable[Scenario], results: Path
) -> list[Begun | Ended]:
    """Return what was told, once the host has judged what scenarios that passed left for it."""
    after = {each.name: each.after for each in scenarios}
    seen: list[Begun | Ended] = []
    for event in events:
        judge = after.get(event.scenario)
        if judge is None or not (isinstance(event, Ended) and event.passed):
            seen.append(event)
            continue
        try:
            seen.append(replace(event, seen=f"{event.seen}; {judge(results)}"))
        except (AssertionError, CommandError, OSError, ValueError) as error:
            seen.append(replace(event, passed=False, seen=f"{type(error).__name__}: {error}"))
    return seen


def table(names: Sequence[str], events: Sequence[Begun | Ended]) -> list[str]:
    """Return a line for each scenario: passed, failed, hung or not run, and what was seen."""
    ended = {event.scenario: event for event in events if isinstance(event, Ended)}
    begun = {event.scenario for event in events if isinstance(event, Begun)}
    width = max(map(len, names), default=0)
    lines = []
    for name in names:
        end = ended.get(name)
        if end is None:
            verdict, seen = ("hung", "it never ended") if name in begun else ("not run", "")
        else:
            verdict, seen = (
                ("passed" if end.passed else "FAILED"),
                f"{end.took_s:.0f} s: {end.seen}",
            )
        lines.append(f"{name:{width}}  {verdict:7}  {seen}".rstrip())
    return lines


def failed(names: Sequence[str], events: Sequence[Begun | Ended]) -> list[str]:
    """Return the names of the scenarios that did not pass, for whatever reason."""
    passed = {event.scenario for event in events if isinstance(event, Ended) and event.passed}
    return [name for name in names if name not in passed]


def tail(console: str) -> list[str]:
    """Return the end of the console, without the terminal's own words."""
    return [f"  | {line.rstrip()}" for line in console.splitlines()[-CONSOLE_LINES:]]
