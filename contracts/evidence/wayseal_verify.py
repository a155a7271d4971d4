"""`wayseal-verify`: verifies an evidence file, offline, from trusted keys alone."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NoReturn

from contracts.errors import RejectedError
from contracts.evidence.container import NotEvidenceError
from contracts.evidence.expected import Expected, LotName
from contracts.evidence.recordings import TakeBlob, not_taken
from contracts.evidence.report import as_json
from contracts.evidence.savedvideo import SavedVideo
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.evidence.words import as_text
from contracts.runtime.commands import (
    add_version,
    complain,
    keep_files_private,
    parse,
    write_for_any_terminal,
)
from contracts.runtime.progress import ProgressLine, WatchedFile

HOLDS, DOES_NOT_HOLD, NOT_CHECKED = 0, 1, 2
_PROGRESS: Final = "verifying: {percent} %"

_DESCRIPTION = """\
Check an evidence file, offline: signatures, hash chains, the rules, the video.
Everything is proved from the keys in the trust file. Get that file by another
way than the evidence."""

_EPILOG = """\
exit status:
  0  everything holds, and every chain of signatures ends in KEYS
  1  something does not hold (the output says what), KEYS are missing, the file
     is about something else than was asked for, or it has format 1
  2  not an evidence file, a file that cannot be read, or wrong usage

the trust file:
  {"genesis_block_id": "128 hex digits",
   "block_signers": ["66 hex digits"], "admin_keys": ["66 hex digits"]}

examples:
  wayseal-verify trip.evidence --trust keys.json
  wayseal-verify trip.evidence --trust keys.json --video clip.mp4 --json
  wayseal-verify trip.evidence --trust keys.json --save-video video
  wayseal-verify trip.evidence --trust keys.json --delivery D-1 --at-least-block 812"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-verify`; exit as its help says."""
    write_for_any_terminal()
    keep_files_private()
    options = _parse(arguments)
    try:
        trust = Trust.load(options.trust) if options.trust else None
        videos = sum(path.stat().st_size for path in options.video if path.is_file())
        with ExitStack() as stack:
            saved: SavedVideo | None = None
            take: TakeBlob = not_taken
            if options.save_video:
                saved = stack.enter_context(SavedVideo(options.save_video))
                take = saved.put
            with (
                ProgressLine(_PROGRESS, options.file.stat().st_size + videos) as progress,
                WatchedFile(options.file, progress) as file,
            ):
                verdict = verify_evidence(
                    file, trust, options.video, _expected(options), progress.add, take
                )
            kept = saved.keep() if saved and verdict.holds else []
    except NotEvidenceError as error:
        _fail(options, "no-evidence", str(error))
    except (RejectedError, OSError) as error:
        _fail(options, "not-checked", str(error))
    if options.json:
        told = {"saved": [str(path) for path in kept]} if options.save_video else {}
        print(json.dumps(as_json(verdict) | told))
    else:
        print(as_text(verdict), end="")
        for line in _saved(verdict, kept) if options.save_video else ():
            print(line)
    sys.exit(HOLDS if verdict.holds else DOES_NOT_HOLD)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-verify",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
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
    parser.add_argument(
        "--save-video",
        metavar="DIR",
        type=Path,
        help="a new directory for the video that is in the file; saved only if everything holds",
    )
    asked = parser.add_argument_group(
        "what you ask", "a genuine file about something else exits with 1; all but the last repeat"
    )
    asked.add_argument("--trip", metavar="ID", action="append", default=[], help="a trip it tells")
    asked.add_argument(
        "--delivery", metavar="ID", action="append", default=[], help="a delivery on its trips"
    )
    asked.add_argument(
        "--lot",
        metavar="GTIN:LOT",
        action="append",
        default=[],
        help="a lot that a delivery on its trips holds",
    )
    asked.add_argument(
        "--at-least-block",
        metavar="NUMBER",
        type=int,
        default=0,
        help="a block up to which it reaches, such as the ledger's head when you asked",
    )
    parser.add_argument(
        "--format-1",
        action="store_true",
        help="accept a file of format 1, which cannot show that nothing was left out",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parse(parser, arguments)


def _expected(options: argparse.Namespace) -> Expected:
    return Expected(
        tuple(options.trip),
        tuple(options.delivery),
        tuple(map(LotName.parse, options.lot)),
        options.at_least_block,
        options.format_1,
    )


def _saved(verdict: Verdict, kept: Sequence[Path]) -> Iterator[str]:
    """Yield what became of the video, in words."""
    if not verdict.holds:
        yield "no video was saved: it is saved only if the verdict is that the evidence holds"
    elif not kept:
        yield "no video was saved: the file holds no video"
    for path in kept:
        part = ", zeros where the file has no blob" if ".part." in path.name else ""
        yield f"saved {path}{part}"


def _fail(options: argparse.Namespace, verdict: str, problem: str) -> NoReturn:
    if options.json:
        print(json.dumps({"verdict": verdict, "problems": [problem]}))
    else:
        complain("wayseal-verify", problem)
    sys.exit(NOT_CHECKED)


if __name__ == "__main__":
    main()
