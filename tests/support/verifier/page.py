"""The verifier's page, driven in a real browser."""

import base64
import json
from pathlib import Path
from typing import Any, Final

from support.machine.browser import Page
from support.project.pages import ROOT

PAGE: Final = ROOT / "web" / "verifier" / "verify.html"
_ASK: Final = """(async (wire, trust, changes, accept) => {
  const bytes = Uint8Array.from(atob(wire), (c) => c.charCodeAt(0));
  const sealed = async (body) => {
    const end = new Uint8Array(37);
    end.set([255, 0, 0, 0, 32]);
    end.set(new Uint8Array(await crypto.subtle.digest("SHA-256", body)), 5);
    return new Blob([body, end]);
  };
  const found = [];
  for (const change of changes) {
    let made = bytes.slice(0, change.sealed ? bytes.length - 37 : bytes.length);
    if (change.flip) made[change.flip[0]] ^= change.flip[1];
    if (change.cut !== undefined) made = made.slice(0, change.cut);
    const file = change.sealed ? await sealed(made) : new Blob([made]);
    const told = await waysealVerify({
      file, trust: trust === null ? undefined : new Blob([trust]), acceptFormat1: accept });
    const problems = told.exit === 2 ? [] : told.problems;
    found.push([told.exit, told.verdict,
      problems.map((p) => [p.check, p.rule ?? null, p.about ?? null])]);
  }
  return found;
})"""


def asked(
    page: Page,
    wire: bytes,
    trust: dict[str, Any] | None,
    changes: list[dict[str, Any]],
    *,
    accept: bool = False,
) -> list[dict[str, Any]]:
    """Return what the page says of a file under each change, in the form of the table."""
    text = json.dumps(None if trust is None else json.dumps(trust))
    wire64 = json.dumps(base64.b64encode(wire).decode())
    call = f"{_ASK}({wire64}, {text}, {json.dumps(changes)}, {json.dumps(accept)})"
    return [
        {"exit": code, "verdict": word, "problems": [*map(_fields, problems)]}
        for code, word, problems in page.value(call)
    ]


_ABOUT: Final = (2, 7)
"""Checks whose subject the table has."""


def _fields(problem: list[Any]) -> list[int | str]:
    check, rule, about = problem
    found: list[int | str] = [check]
    if rule is not None and check in (6, 7):
        found.append(rule)
    if about is not None and check in _ABOUT:
        found.append(about)
    return found


def shown(page: Page, where: Path = PAGE, *, width: int = 1280, dark: bool = False) -> Page:
    """Load the page from its file."""
    page.show(where, width=width, dark=dark)
    return page
