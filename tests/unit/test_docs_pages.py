"""The auditor's loop over pages fails aloud when a page does not come."""

import re
import subprocess

from support.project.pages import ROOT

PAGE = '{"items":[1],"next_cursor":"7"}'
ASK = f"ask() {{ case $1 in *cursor=*) echo gone; return 22 ;; *) echo '{PAGE}' ;; esac; }}\n"


def test_a_page_that_does_not_come_is_an_error() -> None:
    page = (ROOT / "docs/auditor.md").read_text("utf-8")
    (loop,) = re.findall(r"^    all\(\) \{(?:.|\n)*?done; \}$", page, re.MULTILINE)
    script = f"{ASK}{loop}\nall 'trips?limit=1'"
    done = subprocess.run(  # noqa: S603 - our own page
        ["/bin/bash", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout == "1\n"
    assert done.stderr == "not all: gone\n"
    assert done.returncode == 1
