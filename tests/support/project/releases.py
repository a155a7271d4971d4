"""Releases made for tests, from clones of this checkout's newest commit."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.project.pages import ROOT

TIMEOUT_S: Final = 1500
OLDER: Final = "0.0.9"
"""The version of a previous release, as long as no tag names one."""
AS_TESTER: Final = ("-c", "user.name=test", "-c", "user.email=test@example.invalid")


@dataclass(frozen=True, slots=True)
class Made:
    """A release, and what the command said."""

    folder: Path
    said: str

    def one(self, pattern: str) -> Path:
        (found,) = self.folder.glob(pattern)
        return found


def clone(into: Path, of: Path = ROOT) -> Path:
    """Clone a checkout's newest commit; what is not committed is left out."""
    _git("clone", "--quiet", str(of), str(into))
    return into


def clone_of_previous(into: Path) -> Path:
    """Clone the newest release before this commit; without one, make this commit an older one."""
    clone(into)
    found = _git("-C", str(into), "tag", "--merged", "HEAD~1", "--sort=-v:refname", "v*").split()
    if found:
        _git("-C", str(into), "checkout", "--quiet", found[0])
        return into
    project = into / "pyproject.toml"
    lines = project.read_text("utf-8").splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("version = "))
    lines[at] = f'version = "{OLDER}"\n'
    project.write_text("".join(lines), "utf-8")
    _git("-C", str(into), *AS_TESTER, "commit", "--quiet", "--all", "--message", "an older version")
    return into


def make(checkout: Path, out: Path, *options: str, umask: int = 0o022) -> Made:
    """Run the release command on a checkout; it must work.

    Args:
        checkout: Whose newest commit is released.
        out: The folder for the release.
        options: More options of the command.
        umask: Of the command; another one must not show in what it makes.
    """
    scratch = out.with_name(f"{out.name}-scratch")
    scratch.mkdir()
    words = [sys.executable, "-m", "release", "--checkout", str(checkout), "--out", str(out)]
    done = subprocess.run(  # noqa: S603 - our own command
        [*words, *options],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        timeout=TIMEOUT_S,
        umask=umask,
    )
    assert done.returncode == 0, done.stdout
    return Made(out, done.stdout)


def tools(name: str) -> None:
    """Install the environment of a tool, as make does."""
    subprocess.run(  # noqa: S603 - our own script
        [ROOT / "scripts" / "tools", name],
        env=os.environ | {"PYTHON": sys.executable},
        check=True,
        timeout=TIMEOUT_S,
    )


def _git(*words: str) -> str:
    return subprocess.check_output(["git", *words], text=True)  # noqa: S603, S607
