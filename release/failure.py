"""The error that ends a release, and commands that raise it."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class ReleaseError(Exception):
    """A release cannot be made; says what was expected, what came, and what to do."""


def run(
    words: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Return what a command writes on standard output.

    Args:
        words: The command and its arguments.
        cwd: Where it runs.
        env: All of its environment; None is this process's own.

    Raises:
        ReleaseError: It is missing, or it fails; has the end of what it wrote on standard error.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            words, cwd=cwd, env=env, capture_output=True, check=False
        )
    except FileNotFoundError as error:
        raise ReleaseError(f"{words[0]} is not installed") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        said = "\n  ".join(said.splitlines()[-12:])
        raise ReleaseError(f"{words[0]} ended with {done.returncode}:\n  {said}")
    return done.stdout
