"""Writes the table of vectors, `python -m support.verifier.table`, by the first verifier."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from support.verifier.cases import PUBLISHED, Case, cases, flips, path_of, told
from support.verifier.trustfiles import trust_files

README = (
    "Each case: verify the file (.evidence) under the content of the trust file, or none."
    " Each problem: the number of the check in docs/evidence.md (0: the form of the file and its"
    " messages, 17: what was asked), then the rule and the subject where the check has one."
    " Altered: the file `small` with one byte changed, by XOR with place % 255 + 1 (flip), or cut"
    " (cut), at each place of `from` to `to`. Sealed: its last 37 bytes are taken away first, and"
    " a frame with the digest of what is left is put at the end. Trust files: each with its bytes,"
    " and whether it is read; what is not read ends with exit status 2."
)


def table() -> dict[str, Any]:
    """Return the table."""
    return {
        "readme": README,
        "cases": [row(each) for each in cases()],
        "altered": list(_altered()),
        "trust_files": list(trust_files()),
    }


def row(case: Case) -> dict[str, Any]:
    """Return a case's row."""
    trust = None if case.trust is None else json.loads(case.trust.to_json())
    asked = {"accept_format_1": True} if case.accept_format_1 else {}
    return {"file": case.file, "trust": trust, **asked, **told(case)}


def _altered() -> Iterator[dict[str, Any]]:
    """Yield what becomes of the small file: places in a row with the same outcome together."""
    results = ((how, case.change, told(case)) for how, case in flips())
    for (how, outcome), group in groupby(results, lambda each: (each[0], json.dumps(each[2]))):
        places = [
            change["flip"][0] if "flip" in change else change["cut"] for _, change, _ in group
        ]
        kind, *sealed = how.split()
        yield {
            "how": kind,
            "sealed": bool(sealed),
            "from": places[0],
            "to": places[-1],
            **json.loads(outcome),
        }


def main() -> None:
    """Write the table and the files that it names."""
    PUBLISHED.mkdir(parents=True, exist_ok=True)
    for case in cases():
        path_of(case.file).write_bytes(case.wire)
    made = table()
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(each) for each in made[name]) + "\n]"
        for name in ("cases", "altered", "trust_files")
    ]
    text = f'{{"readme": {json.dumps(README)},\n' + ",\n".join(parts) + "}\n"
    (PUBLISHED / "vectors.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
