"""The code of docs/walkthrough.md, run as it stands on the page."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from contracts.keys import Signer
from support.ledgers.nodes import PLAIN_NODE, running
from support.project.pages import ROOT

pytestmark = pytest.mark.integration

PAGE: Final = (ROOT / "docs" / "walkthrough.md").read_text("utf-8")
CODE: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEADLINE_S: Final = 120


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    admin = Signer.load_or_create(tmp_path / "build" / "admin.key")
    data = tmp_path / "build" / "walk"
    with running(data, "--admin", admin.public_key, script=PLAIN_NODE) as node:
        code = "".join(f"{each}\n" for each in CODE.findall(PAGE)).replace(
            "http://127.0.0.1:8008", str(node.client.base_url)
        )
        done = subprocess.run(  # the page's own code, pasted at the prompt
            [sys.executable, "-i", "-q"],
            input=code,
            capture_output=True,
            check=False,
            cwd=tmp_path,
            text=True,
            timeout=DEADLINE_S,
        )
    assert "Error" not in done.stderr, done.stderr
    said = done.stdout.splitlines()  # with what the prompt shows of each expression
    assert {"COMMITTED", "True"} <= set(said)
    assert "payload SHA-512" in said[-1]
