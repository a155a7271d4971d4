"""`wayseal-verify`: the verdict on an evidence file, offline, without trusting anyone else."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import NoReturn

from contracts.commands import complain, write_for_any_terminal
from contracts.errors import RejectedError
from contracts.evidence.container import NotEvidenceError
from contracts.evidence.report import as_json
from contracts.evidence.trust import Trust
from contracts.evidence.verify import verify_evidence
from contracts.evidence.words import as_text

HOLDS, DOES_NOT_HOLD, NOT_CHECKED = 0, 1, 2

_DESCRIPTION = """\
Check an evidence file, offline: signatures, hash chains, the rules, the video.
Nothing is believed that does not follow from the keys in the trust file, which
you got by another way than the evidence."""

_EPILOG = """\
exit status:
  0  all holds, and every chain of signatures ends in KEYS
  1  something does not hold, and what; without KEYS: consistent at best
  2  no evidence file, or wrong usage

the trust file:
  {"genesis_block_id": "128 hex digits",
   "block_signers": ["66 hex digits"], "admin_keys": ["66 hex digits"]}

examples:
  wayseal-verify trip.evidence --trust keys.json
  wayseal-verify trip.evidence --trust keys.json --video clip.mp4 --json"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-verify`; exit as its help says."""
    write_for_any_terminal()
    options = _parse(arguments)
    try:
        trust = Trust.load(options.trust) if options.trust else None
        with options.file.open("rb") as file:
            verdict = verify_evidence(file, trust, options.video)
    except NotEvidenceError as error:
        _fail(options, "no-evidence", str(error))
    except (RejectedError, OSError) as error:
        _fail(options, "not-checked", str(error))
    if options.json:
        print(json.dumps(as_json(verdict)))
    else:
        print(as_text(verdict), end="")
    sys.exit(HOLDS if verdict.holds else DOES_NOT_HOLD)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-verify",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the evidence file")
    default = os.environ.get("WAYSEAL_TRUST")
    parser.add_argument(
        "--trust",
        metavar="KEYS",
        type=Path,
        default=Path(default) if default else None,
        help="the keys you trust (default: $WAYSEAL_TRUST)",
    )
    parser.add_argument(
        "--video",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="a video that must be one of the recordings; may be given again",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser.parse_args(arguments)


def _fail(options: argparse.Namespace, verdict: str, problem: str) -> NoReturn:
    if options.json:
        print(json.dumps({"verdict": verdict, "problems": [problem]}))
    else:
        complain("wayseal-verify", problem)
    sys.exit(NOT_CHECKED)


if __name__ == "__main__":
    main()
