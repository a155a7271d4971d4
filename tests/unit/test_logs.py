"""Log lines as JSON: one object a line, with ids as members, short enough for journald."""

import ast
import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.runtime.logs import FIELDS, LINE_BYTES_MAX, JsonLines
from support.project.pages import ROOT

ABOUT: Final = re.compile(r"\b(recording|trip|batch) %s")
PROGRAM: Final = """
import logging, threading
from contracts.runtime.commands import complain
from contracts.runtime.logs import LogFormat, write_as
logging.basicConfig(level=logging.INFO, format="%(message)s")
write_as(LogFormat.{form})
logging.getLogger("a.b").warning("two\\nlines of %s", "ü", extra={{"trip_id": "t1"}})
complain("wayseal-x", "no room")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise ValueError("late")
"""


def said(form: str) -> list[str]:
    """Return what a program writes on standard error."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM.format(form=form)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr.splitlines()


def line(message: str, *arguments: object, **members: object) -> dict[str, Any]:
    record = logging.LogRecord("gateway.x", logging.ERROR, "", 0, message, arguments, None)
    record.__dict__.update(members)
    text = JsonLines().format(record)
    assert "\n" not in text
    assert len(text.encode()) <= LINE_BYTES_MAX
    found: dict[str, Any] = json.loads(text)
    return found


def test_each_line_is_one_object_also_what_nothing_catches() -> None:
    lines = [json.loads(each) for each in said("JSON")]
    warned, complained, thread, late = lines
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", warned.pop("time"))
    assert warned == {
        "level": "warning",
        "logger": "a.b",
        "message": "two\nlines of ü",
        "trip_id": "t1",
    }
    assert (complained["logger"], complained["message"]) == ("wayseal-x", "no room")
    assert thread["level"] == late["level"] == "critical"
    assert "ZeroDivisionError" in thread["exception"]
    assert late["message"] == "late"


def test_text_stays_text() -> None:
    lines = said("TEXT")
    assert lines[:3] == ["two", "lines of ü", "wayseal-x: no room"]
    assert lines[-1] == "ValueError: late"


@pytest.mark.parametrize("text", ["x" * 100_000, "ü" * 30_000, "\n" * 50_000])
def test_a_long_line_is_cut_and_stays_json(text: str) -> None:
    found = line("%s", text, trip_id="t1")
    assert found["message"].endswith("… (cut)")
    assert found["trip_id"] == "t1"


def test_members_are_there_only_if_the_line_is_about_one() -> None:
    assert not set(FIELDS) & line("nothing").keys()
    assert line("a batch", batch_id="b", device_id="d")["batch_id"] == "b"


@pytest.fixture(scope="module")
def calls() -> list[tuple[str, ast.Call, str]]:
    """Return each call of a logger in the product: where, the call, its message."""
    return list(_calls())


def _calls() -> Iterator[tuple[str, ast.Call, str]]:
    for folder in ("contracts", "device", "gateway", "storage"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text("utf-8")
            if "getLogger" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    owner = node.func.value
                    if isinstance(owner, ast.Name) and owner.id.lower() == "_log":
                        yield f"{path}:{node.lineno}", node, _message(node)


def _message(call: ast.Call) -> str:
    texts = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return next((each for each in texts if isinstance(each, str)), "")


def test_lines_about_a_recording_trip_or_batch_have_it_as_a_member(
    calls: list[tuple[str, ast.Call, str]],
) -> None:
    assert len(calls) > 100
    about = [each for each in calls if ABOUT.search(each[2])]
    assert len(about) > 20
    without = [
        where for where, call, _ in about if not any(each.arg == "extra" for each in call.keywords)
    ]
    assert without == []


def test_no_member_has_another_name(calls: list[tuple[str, ast.Call, str]]) -> None:
    for where, call, _ in calls:
        for each in call.keywords:
            if each.arg == "extra" and isinstance(each.value, ast.Dict):
                names = {key.value for key in each.value.keys if isinstance(key, ast.Constant)}
                assert names <= set(FIELDS), where


@pytest.mark.parametrize("name", ["wayseal-node", "wayseal-device"])
def test_wrong_formats_are_one_clear_error(name: str, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name(name)
    if name == "wayseal-node":
        words = ["--data", str(tmp_path), "--rest", "127.0.0.1:0", "--log-format", "xml"]
    else:
        settings = tmp_path / "device.toml"
        settings.write_text('device_id = "t"\ndata = "d"\n[log]\nformat = "xml"\n')
        words = ["--config", str(settings), "status"]
    done = subprocess.run(  # noqa: S603 - our own command
        [script, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "xml" in done.stderr
    assert "json" in done.stderr
