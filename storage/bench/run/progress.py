"""A progress bar with the time left on a terminal; a line for each step elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

_WHOLE: Final = 1000


class Bar:
    """On a terminal."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def says(self, words: str) -> None:
        """Say what is done now."""
        self._bar.update(self._task, description=words)

    def stands_at(self, share: float) -> None:
        """Say how much of the whole plan's time is behind us, 0 to 1."""
        self._bar.update(self._task, completed=share * _WHOLE)


class Lines:
    """In a log."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = ""
        self._share = 0.0

    def says(self, words: str) -> None:
        """Say what is done now, once."""
        if words != self._said:
            self._console.print(f"{self._share:4.0%} {words}", markup=False, highlight=False)
            self._said = words

    def stands_at(self, share: float) -> None:
        """Say how much of the whole plan's time is behind us, 0 to 1."""
        self._share = share


@contextmanager
def progress(expected_s: float) -> Iterator[Bar | Lines]:
    """Show on standard error how far a run is.

    Args:
        expected_s: Of the whole plan.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (TextColumn("{task.description:44}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield Bar(bar, bar.add_task(f"about {expected_s / 60:.0f} min", total=_WHOLE))
