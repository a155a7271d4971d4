"""CometBFT with a clock that is off, for tests.

A Go program reads the clock without the C library and mostly without a system call, so neither
libfaketime nor a filter of system calls reaches it, and Linux has no namespace of that clock. So
CometBFT of the tested release is built with a `time.Now` that adds a number of seconds. Nothing
else of it differs; timeouts run by the monotonic clock, as they would.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from contracts.ledger.cometbft.process import PROGRAM, TESTED
from support.project.pages import ROOT

SHIFT: Final = "WAYSEAL_TEST_CLOCK_SHIFT_S"
"""Environment variable of the built program: seconds by which its clock is ahead."""
_PLACE: Final = ROOT / "build" / "cometbft" / "shifted"
_MODULE: Final = f"github.com/cometbft/cometbft/cmd/cometbft@v{TESTED}"
_READ: Final = "\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {"
_SHIFTED: Final = "\tsec, nsec, mono := runtimeNow()\n\tsec += testShift\n\tif mono == 0 {"
_MORE: Final = f"""package time

import "syscall"

var testShift = func() int64 {{
	text, _ := syscall.Getenv("{SHIFT}")
	sign, found := int64(1), int64(0)
	for _, each := range text {{
		if each == '-' {{
			sign = -1
		}} else {{
			found = found*10 + int64(each-'0')
		}}
	}}
	return sign * found
}}()
"""


def shifted_program() -> Path:
    """Return CometBFT whose clock is off by as much as its environment says; built once."""
    program = _PLACE / PROGRAM
    if program.exists():
        return program
    if shutil.which("go") is None:
        pytest.skip("Go, which builds CometBFT with a clock that is off, is missing")
    standard = Path(_run("go", "env", "GOROOT").strip()) / "src" / "time"
    text = (standard / "time.go").read_text("utf-8")
    if text.count(_READ) != 1:
        pytest.skip("this release of Go reads the clock in another way than the test knows")
    _PLACE.mkdir(parents=True, exist_ok=True)
    files = {"time.go": text.replace(_READ, _SHIFTED), "shifted.go": _MORE}
    for name, content in files.items():
        (_PLACE / name).write_text(content, "utf-8")
    overlay = _PLACE / "overlay.json"
    replaced = {str(standard / name): str(_PLACE / name) for name in files}
    overlay.write_text(json.dumps({"Replace": replaced}), "utf-8")
    made = _PLACE / "made"
    _run("go", "install", "-overlay", str(overlay), _MODULE, GOBIN=str(made))
    (made / PROGRAM).rename(program)
    return program


def _run(*command: str, **variables: str) -> str:
    done = subprocess.run(  # noqa: S603
        command, env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
