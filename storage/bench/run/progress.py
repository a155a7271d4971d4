"""A progress bar with the time left on a terminal; a line for each step elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

_WHOLE: Final = 1000
_MINUTE_S: Final = 60


class _TimeLeft(ProgressColumn):
    """Counts down the time left, between steps too: a step may take minutes."""

    def render(self, task: Task) -> Text:
        """Return the words."""
        left_s = max(task.fields["ends_s"] - time.monotonic(), 0.0)
        minutes, seconds = divmod(round(left_s), _MINUTE_S)
        return Text(f"{minutes:3}:{seconds:02} left")


class Bar:
    """On a terminal.

    Args:
        bar: Shown.
        task: Of it.
        expected_s: Of the whole plan.
    """

    def __init__(self, bar: Progress, task: TaskID, expected_s: float) -> None:
        self._bar = bar
        self._task = task
        self._expected_s = expected_s
        self._start_s = time.monotonic()

    def says(self, words: str) -> None:
        """Show the current activity."""
        self._bar.update(self._task, description=words)

    def stands_at(self, share: float) -> None:
        """Show the share of the plan's time that has passed, 0 to 1."""
        now_s = time.monotonic()
        # The plan's guess at first, then more and more the real pace of this machine.
        paced_s = (now_s - self._start_s) / share if share else self._expected_s
        whole_s = share * paced_s + (1 - share) * self._expected_s
        ends_s = now_s + (1 - share) * whole_s
        self._bar.update(self._task, completed=share * _WHOLE, ends_s=ends_s)


class Lines:
    """In a log."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = ""
        self._share = 0.0

    def says(self, words: str) -> None:
        """Print the current activity, once."""
        if words != self._said:
            self._console.print(f"{self._share:4.0%} {words}", markup=False, highlight=False)
            self._said = words

    def stands_at(self, share: float) -> None:
        """Show the share of the plan's time that has passed, 0 to 1."""
        self._share = share


@contextmanager
def progress(expected_s: float) -> Iterator[Bar | Lines]:
    """Show the progress of a run on standard error.

    Args:
        expected_s: Of the whole plan.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(console)
        return
    words = Column(ratio=3, no_wrap=True, overflow="ellipsis")
    columns = (
        TextColumn("{task.description}", markup=False, table_column=words),
        BarColumn(bar_width=None, table_column=Column(ratio=2)),
        _TimeLeft(table_column=Column(no_wrap=True)),
    )
    ends_s = time.monotonic() + expected_s
    with Progress(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("", total=_WHOLE, ends_s=ends_s)
        yield Bar(bar, task, expected_s)


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show words on a terminal until the block ends."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield
