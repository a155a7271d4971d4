"""The commands of a page of the documentation, carried out as an operator types them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PASTED: Final = ("/bin/bash", "-euo", "pipefail", "-s")
"""As in a terminal: a command that reads its input takes the lines that come after it."""


def put(files: Mapping[str, str], moved: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder, with the paths and addresses of the page replaced in them."""
    for name, text in files.items():
        for old, new in moved.items():
            text = text.replace(old, new)  # noqa: PLW2901 - one after the other
        (folder / name).write_text(text, "utf-8")


def carry_out(script: str, folder: Path, variables: Mapping[str, str], timeout_s: float) -> str:
    """Run a script in its folder with our commands on the path; return what it printed."""
    done = subprocess.run(  # noqa: S603 - our own page
        PASTED,
        capture_output=True,
        check=False,
        cwd=folder,
        env=os.environ
        | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        | dict(variables),
        input=(folder / script).read_text("utf-8"),
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
