"""`make demo`: the main job, from the truck's departure to an offline verdict.

Ends with one line, `demo: ok …` or `demo: failed …`, and a matching exit status.
"""

import argparse
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import locked, make_directory
from demo import pids
from demo.appliance import Appliance, Existing
from demo.auditor import Auditor, Findings, judge
from demo.drive import Drive
from demo.ending import conclude
from demo.truck import Truck, check_files, simulate
from storage.bench.servers.processes import executable

BLOB_FLIP_AT: Final = 4096
VALIDATORS: Final = 4
HOLDS, DOES_NOT_HOLD = 0, 1

_console = Console(highlight=False)


def main() -> NoReturn:
    """Run the demo and exit."""
    conclude("demo", run)


def run() -> str:
    """Run the demo as the command line says; return the summary for its last line.

    Raises:
        RejectedError: The files are not what they should be.
        UnavailableError: Something did not work, or another demo uses the directory.
    """
    options = _parse()
    _check(options)
    directory: Path = options.directory.absolute()
    make_directory(directory.parent)
    lock = directory.with_name(f"{directory.name}.lock")
    with locked(lock, f"another demo is at work in {directory}"):
        appliance = Appliance(
            directory / "site-b",
            existing=_existing(options),
            validators=VALIDATORS if options.engine == "cometbft" else 0,
        )
        appliance.check_existing()
        pids.stop(appliance.directory)  # what an earlier demo left running when it was killed
        shutil.rmtree(directory, ignore_errors=True)
        make_directory(directory)
        try:
            return _demo(appliance, directory, options)
        finally:
            appliance.stop()


def _demo(appliance: Appliance, directory: Path, options: argparse.Namespace) -> str:
    ledger = "ledger node, " if appliance.existing is None else ""
    if appliance.validators:
        ledger = f"ledger of {appliance.validators} validators, "
    with _step(f"site B comes up: {ledger}gateway, broker"):
        appliance.start()
        appliance.register_network()
        truck = Truck(directory / "truck", "truck-7")
        truck.join(appliance)
    if appliance.validators:
        appliance.lose_a_validator()
        _say("one validator is killed; the others go on")
    files = _files(directory, options)
    for line in check_files(files.paths, _log_options(options)):
        _say(f"  {line.removeprefix(f'{directory}/')}")
    with Drive(truck, files.source(options)) as drive:
        with _step("the truck leaves site A and records, offline"):
            drive.be(present=False)
            trip = drive.recorded()
        trip_id, size = trip["trip"], sum(each["bytes"] for each in trip["recordings"])
        _say(f"  trip {trip_id}: {trip['readings']} readings, {size} bytes of video")
        _say("the truck arrives at site B and offloads")
        drive.be(present=True)
        _follow(appliance, drive, trip, size)
    with _step("seller, carrier and buyer sign the handovers"):
        appliance.hand_over(trip_id)
    with closing(Auditor(appliance.rest, appliance.token("auditor", "auditor"))) as auditor:
        with _step("an auditor reads it all over REST"):
            auditor.wait_for(appliance.newest_block_num())
            findings = auditor.audit(trip_id)
        _report(findings)
        _expect(findings.readings == trip["readings"], f"{findings.readings} readings over REST")
        evidence = directory / f"{trip_id}.evidence"
        with _step("and exports the evidence"):
            auditor.export(trip_id, evidence)
        _flip_stored_blob(appliance, auditor, findings)
    trust = appliance.trust_file().rename(directory / "trust.json")
    with _step("site B is shut down and its data put away"):
        appliance.stop()
        away = appliance.directory.rename(directory / "put-away")
    _judge(evidence, trust, directory)
    away.rename(appliance.directory)
    _say(f"judge it yourself: {executable('wayseal-verify')} {evidence} --trust {trust}")
    if appliance.existing is None:
        _say(
            f"look at it: make up OPTIONS=--of-demo, then open http://127.0.0.1:8080/trips/{trip_id}"
        )
    return (
        f"readings={findings.readings} recordings={len(findings.recordings)} "
        f"bytes={findings.video_bytes} trip={trip_id} evidence={evidence}"
    )


def _check(options: argparse.Namespace) -> None:
    """Check, before anything starts, that the options fit together and their files serve."""
    if bool(options.ledger) != bool(options.admin_key):
        raise RejectedError("LEDGER and ADMIN_KEY need each other, got one")
    if options.ledger and options.engine != "solo":
        raise RejectedError("ENGINE is of a ledger of the demo's own, got LEDGER too")
    if not options.readings and (options.track or options.video):
        raise RejectedError("TRACK and VIDEO need READINGS, got none")
    if not options.readings and _log_options(options):
        raise RejectedError("--map and other options of a log need READINGS, got none")
    for name in ("readings", "track", "video", "admin_key"):
        path: Path | None = getattr(options, name)
        if path and not path.is_file():
            raise RejectedError(f"{name.upper()} is not a file: {path}")
    if options.readings:
        check_files(
            [path for path in (options.readings, options.track, options.video) if path],
            _log_options(options),
        )


def _existing(options: argparse.Namespace) -> Existing | None:
    """Return the ledger named on the command line; None if the demo runs its own node."""
    return Existing(options.ledger, options.admin_key) if options.ledger else None


@dataclass(frozen=True, slots=True)
class _Files:
    """What the truck replays.

    Attributes:
        readings: CSV log.
        track: GPX track, or None.
        video: Video, or None.
    """

    readings: Path
    track: Path | None
    video: Path | None

    @property
    def paths(self) -> list[Path]:
        """Return those that there are."""
        return [path for path in (self.readings, self.track, self.video) if path]

    def source(self, options: argparse.Namespace) -> list[str]:
        """Return the lines of [source] in the truck's settings."""
        named: dict[str, object] = {
            "driver": "replay",
            "speed": "max",
            "readings": str(self.readings),
            "track": str(self.track) if self.track else None,
            "videos": [str(self.video)] if self.video else None,
            "map": options.map,
            "without": options.without,
            "delimiter": options.delimiter,
            "timezone": options.timezone,
            "align": options.align,
            "track_name": options.track_name,
        }
        # A text or list in JSON means the same in TOML.
        return [f"{key} = {json.dumps(value)}" for key, value in named.items() if value]


def _files(directory: Path, options: argparse.Namespace) -> _Files:
    """Return the files to replay: the ones given, or those of a simulated trip."""
    if options.readings:
        return _Files(options.readings, options.track, options.video)
    out = directory / "drive"
    simulate(out)
    return _Files(out / "readings.csv", out / "track.gpx", out / "video.avi")


def _log_options(options: argparse.Namespace) -> list[str]:
    maps = [word for text in options.map for word in ("--map", text)]
    without = [word for name in options.without for word in ("--without", name)]
    named = {
        "--delimiter": options.delimiter,
        "--timezone": options.timezone,
        "--align": options.align,
        "--track-name": options.track_name,
    }
    form = [word for flag, text in named.items() if text for word in (flag, text)]
    return [*maps, *without, *form]


def _follow(appliance: Appliance, drive: Drive, trip: dict[str, Any], size: int) -> None:
    """Show the gateway's progress until the truck may leave."""
    operator = Auditor(appliance.rest, appliance.token("operator", "operator"))
    with (
        closing(operator),
        Progress(
            TextColumn("  {task.description:<20}"),
            BarColumn(),
            TextColumn("{task.fields[shown]}"),
            console=_console,
        ) as bars,
    ):
        readings = bars.add_task("readings committed", total=trip["readings"], shown="")
        video = bars.add_task("bytes uploaded", total=size, shown="")

        def has_all() -> bool:
            offload = _visit(operator, trip["trip"])
            done = offload["readings"].get("committed", 0)
            sent = sum(recording["received"] for recording in offload["recordings"])
            bars.update(readings, completed=done, shown=f"{done} of {trip['readings']}")
            bars.update(video, completed=sent, shown=f"{sent} of {size}")
            return bool(done == trip["readings"] and sent == size)

        drive.waited(has_all)
        drive.waited(lambda: drive.status()["may_leave"])
    kept = [each for each in drive.status()["trips"] if each["state"] != "receipted"]
    _expect(not kept, f"the truck still holds {kept}")
    _say("  the receipt verified; the truck deleted its copy, and may leave")


def _visit(operator: Auditor, trip_id: str) -> dict[str, Any]:
    for offload in operator.pages("/v1/offloads"):
        if offload["trip_id"] == trip_id:
            return offload
    return {"readings": {}, "recordings": []}


def _report(findings: Findings) -> None:
    _say(
        f"  readings: {findings.readings}, breaches: {len(findings.breaches)}, "
        f"tamper events: {findings.tampers}, recordings: {len(findings.recordings)} with "
        f"{findings.video_bytes} bytes that hash to what the truck signed"
    )
    for breach in findings.breaches:
        _say(
            f"  breach: {breach['quantity']} up to {breach['extreme']} {breach['unit']}, "
            f"{breach['since']} to {breach['until']}"
        )
    for silence in findings.silences:
        _say(
            f"  longest silence: {silence['quantity']} {silence['longest_s']:g} s of "
            f"{silence['allowed_s']:g} s allowed"
        )
    _say(
        f"  findings of the rules: {len(findings.on_trip)} on the trip, "
        f"{len(findings.on_delivery)} on its delivery"
    )
    for finding in (*findings.on_trip, *findings.on_delivery):
        _say(f"  finding: {finding['rule']}: {finding['detail']}")


def _flip_stored_blob(appliance: Appliance, auditor: Auditor, findings: Findings) -> None:
    """Damage one byte of a stored blob. The check must find it and must not repair it silently."""
    if not findings.video_bytes:
        return
    recording_id = findings.recordings[0]["recording_id"]
    with _step("one byte of a stored blob is flipped"):
        blob = max(
            (path for path in (appliance.gateway_data / "blobs").rglob("0*") if path.is_file()),
            key=lambda path: path.stat().st_size,
        )
        _flip(blob, min(BLOB_FLIP_AT, blob.stat().st_size - 1))
        found = auditor.rotten(recording_id)
        _expect(len(found) == 1, f"expected one rotten blob, found {found}")
        auditor.audit(findings.recordings[0]["trip_id"])
        again = auditor.rotten(recording_id)
        _expect(again == found, f"the damage changed in silence from {found} to {again}")
    _say(f"  caught: rotten is {found[0]}; the video was served from the intact copy")


def _judge(evidence: Path, trust: Path, directory: Path) -> None:
    """Verify the evidence three times: as it is, without keys, and with one byte flipped."""
    desk = directory / "desk"
    with _step("wayseal-verify judges the evidence, offline"):
        status, words = judge(evidence, trust, desk)
        _expect(status == HOLDS, f"the evidence does not hold: {words[-800:]}")
    _say(f"  {words.splitlines()[-1]}")
    status, words = judge(evidence, None, desk)
    _expect(
        status == DOES_NOT_HOLD and "not anchored in a key you trust" in words,
        f"without keys: {words}",
    )
    with _step("one byte of the evidence is flipped"):
        damaged = directory / "damaged.evidence"
        shutil.copy(evidence, damaged)
        _flip(damaged, damaged.stat().st_size // 2)
        status, words = judge(damaged, trust, desk)
        _expect(status == DOES_NOT_HOLD, f"damaged evidence got exit status {status}: {words}")
    problem = next(line for line in words.splitlines() if line.startswith("DOES NOT HOLD"))
    _say(f"  caught: {problem}")
    damaged.unlink()
    shutil.rmtree(desk)


def _flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001
    if not holds:
        raise UnavailableError(otherwise)


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Print a step and how long it took."""
    start = time.monotonic()
    yield
    _say(f"{what} ({time.monotonic() - start:.1f} s)")


def _say(text: str) -> None:
    _console.print(text, markup=False, soft_wrap=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--directory", type=Path, default=Path("build/demo"))
    for name, text in (
        ("readings", "CSV with named columns; each row becomes one reading"),
        ("track", "GPX; stretched over the trip"),
        ("video", "any video file that OpenCV reads"),
    ):
        parser.add_argument(f"--{name}", type=_file, metavar="FILE", help=text)
    for name, shape in (("map", "QUANTITY[/UNIT]=COLUMN"), ("without", "QUANTITY")):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar=shape,
            help="passed on to `wayseal-device record`; may be repeated",
        )
    for name, shape in (("delimiter", "CHARACTER"), ("timezone", "ZONE"), ("track-name", "NAME")):
        parser.add_argument(f"--{name}", metavar=shape, help="passed on likewise")
    parser.add_argument("--align", choices=("stretch", "time"), help="passed on likewise")
    parser.add_argument(
        "--ledger",
        metavar="URL",
        help="a ledger without parties, used instead of a node of the demo's own",
    )
    parser.add_argument(
        "--admin-key",
        type=_file,
        metavar="FILE",
        help="private key that may register parties on that ledger",
    )
    parser.add_argument(
        "--engine",
        choices=("solo", "cometbft"),
        default="solo",
        help=f"what makes the demo's ledger: one node, or {VALIDATORS} validators with CometBFT",
    )
    return parser.parse_args()


def _file(text: str) -> Path | None:
    return Path(text).absolute() if text else None


if __name__ == "__main__":
    main()
