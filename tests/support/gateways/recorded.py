"""Records the examples of the API's description from a site that runs; see scripts/examples."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from contracts.runtime.clienttls import usual_trust
from support.gateways.described_site import Asked, Scene, ask_all, described_site

ITEMS_MAX: Final = 2
"""Items of a list that an example keeps."""
TIMEOUT_S: Final = 300.0
"""Seconds for one answer; the machine may be busy."""
TEXT_MAX: Final = 140
"""Characters of a text that an example keeps."""
LINES_MAX: Final = 4
"""Lines of a text file that an example keeps."""


def short(value: object) -> object:
    """Return a JSON value with its lists and texts cut."""
    if isinstance(value, dict):
        return {name: short(each) for name, each in value.items()}
    if isinstance(value, list):
        return [short(each) for each in value[:ITEMS_MAX]]
    if isinstance(value, str) and len(value) > TEXT_MAX and set(value) - set("0123456789abcdef"):
        return f"{value[:TEXT_MAX]}…"
    return value


def shown(answer: httpx.Response) -> dict[str, Any]:
    """Return an answer's body by its media type; nothing for bytes that are no text."""
    media = answer.headers.get("content-type", "").partition(";")[0]
    if not answer.content:  # as of HEAD
        return {}
    if media.endswith("json"):
        return {media: short(answer.json())}
    if media.startswith("text/"):
        return {media: "".join(answer.text.splitlines(keepends=True)[:LINES_MAX])}
    return {}


class Recorder:
    """Keeps an example of each operation and of each problem."""

    def __init__(self) -> None:
        self.operations: dict[str, dict[str, Any]] = {}
        self.problems: dict[str, Any] = {}

    def take(self, asked: Asked) -> None:
        """Keep the longest good answer of an operation, or the problem."""
        status, answer = str(asked.answer.status_code), asked.answer
        name = f"{asked.route.method} {asked.route.path}"
        kept = self.operations.setdefault(name, {"parameters": {}, "answers": {}})
        if not answer.is_success:
            self.keep_problem(answer)
            return
        found = shown(answer)
        if len(json.dumps(found)) >= len(json.dumps(kept["answers"].get(status, {}))):
            kept["parameters"] = {**asked.places, **asked.query}
            kept["answers"][status] = found

    def keep_problem(self, answer: httpx.Response) -> None:
        """Keep the first problem of a status."""
        for problem in shown(answer).values():
            self.problems.setdefault(str(answer.status_code), problem)


def recorded(scene: Scene) -> dict[str, Any]:
    """Return the examples of a site."""
    for client in scene.clients.values():
        client.timeout = httpx.Timeout(TIMEOUT_S)
    recorder = Recorder()
    for asked in ask_all(scene):
        recorder.take(asked)
    rest = scene.site.appliance.rest
    with httpx.Client(base_url=rest, trust_env=False, verify=usual_trust(rest)) as stranger:
        for client in (stranger, scene.clients["auditor"]):
            recorder.keep_problem(client.get("/v1/offloads"))
    return {
        "operations": dict(sorted(recorder.operations.items())),
        "problems": dict(sorted(recorder.problems.items())),
    }


def main() -> None:
    """Write the examples into the file that is named."""
    with TemporaryDirectory() as directory:
        with described_site(Path(directory)) as scene:
            found = recorded(scene)
        text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
        text = text.replace(directory, "/var/lib/wayseal")
    Path(sys.argv[1]).write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
