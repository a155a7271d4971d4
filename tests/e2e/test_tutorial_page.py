"""What docs/tutorial.md tells to type, typed: from `make up` to a file that no longer holds."""

import re
import sys
from pathlib import Path
from typing import Final

import pytest

from support.project.checkout import PORTS, make, run
from support.project.pages import ROOT

pytestmark = pytest.mark.e2e

PAGE: Final = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
VERIFIER: Final = ".venv/bin/wayseal-verify"
ALTERED: Final = """
python3 - <<'END'
file = open("trip.evidence", "r+b")
file.seek(-1000, 2)
byte = file.read(1)[0]
file.seek(-1, 1)
file.write(bytes([byte ^ 1]))
END
"""
"""The page leaves the choice of the byte to the reader."""


def blocks() -> list[str]:
    return re.findall(r"(?ms)^```sh\n(.*?)^```$", PAGE)


def test_the_page_s_lines_work_as_typed(checkout: Path) -> None:
    ask, prove = blocks()
    assert prove.count(VERIFIER) == 1
    assert "\n    make up\n    make trip\n" in PAGE
    up = make(checkout, "up", **PORTS)
    try:
        assert up.returncode == 0, up.stderr
        trip = make(checkout, "trip")
        assert trip.returncode == 0, trip.stderr
        judge = prove.replace(VERIFIER, f"{sys.prefix}/bin/wayseal-verify")
        again = judge.splitlines()[-1]
        typed = f"TRIP=$(jq -r .trip printed)\n{ask}{judge}{ALTERED}if {again}; then exit 1; fi\n"
        (checkout / "printed").write_text(trip.stdout)
        (checkout / "typed").write_text(typed)
        done = run(checkout, "bash", "-euo", "pipefail", "typed")
    finally:
        make(checkout, "down")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"quantity": "temperature"' in done.stdout
    assert "verdict: holds; every chain of signatures ends in a key you trust" in done.stdout
    assert "verdict: does not hold\nDOES NOT HOLD: " in done.stdout
