"""`make demo`: the main job from the truck's departure to a verdict that needs nobody's word.

Ends with one line, `demo: ok …` or `demo: failed …`, and a matching exit status.
"""

import argparse
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from contracts.errors import RejectedError, UnavailableError
from contracts.files import locked, make_directory
from contracts.proto.payload_pb2 import HandOver
from contracts.records.clock import now_ms
from demo import pids
from demo.appliance import DELIVERY_ID, Appliance, Existing
from demo.auditor import Auditor, Findings, judge
from demo.ending import conclude
from demo.processes import BIN
from demo.truck import Truck, simulate

POLL_S: Final = 0.1
BLOB_FLIP_AT: Final = 4096
HOLDS, DOES_NOT_HOLD = 0, 1

_console = Console(highlight=False)


@dataclass(frozen=True, slots=True)
class Drive:
    """The files that the truck replays."""

    readings: Path
    track: Path | None
    videos: list[Path]


def main() -> NoReturn:
    """Run the demo and exit."""
    conclude("demo", run)


def run() -> str:
    """Run the demo as the command line says; return what it came to.

    Raises:
        RejectedError: The files are not what they should be.
        UnavailableError: Something did not work, or another demo uses the directory.
    """
    options = _parse()
    directory: Path = options.directory.absolute()
    make_directory(directory.parent)
    lock = directory.with_name(f"{directory.name}.lock")
    with locked(lock, f"another demo is at work in {directory}"):
        appliance = Appliance(directory / "site-b", existing=_existing(options))
        pids.stop(appliance.directory)  # what an earlier demo left running when it was killed
        shutil.rmtree(directory, ignore_errors=True)
        make_directory(directory)
        try:
            return _demo(appliance, directory, options)
        finally:
            appliance.stop()


def _demo(appliance: Appliance, directory: Path, options: argparse.Namespace) -> str:
    ledger = "ledger node, " if appliance.existing is None else ""
    with _step(f"site B comes up: {ledger}gateway, broker"):
        appliance.start()
        appliance.register_network()
        truck = Truck(directory / "truck", "truck-7")
        truck.join(appliance)
    with _step("the truck leaves site A and records, offline"):
        drive = _drive(directory, options)
        trip = truck.ask("record", *_arguments(drive))
    trip_id = trip["trip"]
    _say(f"  trip {trip_id}: {trip['readings']} readings, {trip['bytes']} bytes of video")
    _say("the truck arrives at site B and offloads")
    _offload(appliance, truck, trip)
    _check_forgotten(truck)
    with _step("seller, carrier and buyer sign the handovers"):
        _hand_over(appliance, trip_id)
    auditor = Auditor(appliance.rest, appliance.token("auditor", "auditor"))
    try:
        with _step("an auditor reads it all over REST"):
            findings = auditor.audit(trip_id)
        _report(findings)
        _expect(findings.readings == trip["readings"], f"{findings.readings} readings over REST")
        evidence = directory / f"{trip_id}.evidence"
        with _step("and exports the evidence"):
            auditor.export(trip_id, evidence)
        _flip_stored_blob(appliance, auditor, findings)
    finally:
        auditor.close()
    trust = appliance.trust_file().rename(directory / "trust.json")
    with _step("site B is shut down and its data put away"):
        appliance.stop()
        away = appliance.directory.rename(directory / "put-away")
    _judge(evidence, trust, directory)
    away.rename(appliance.directory)
    _say(f"judge it yourself: {BIN / 'wayseal-verify'} {evidence} --trust {trust}")
    return (
        f"readings={findings.readings} recordings={len(findings.recordings)} "
        f"bytes={findings.video_bytes} trip={trip_id} evidence={evidence}"
    )


def _existing(options: argparse.Namespace) -> Existing | None:
    """Return the ledger to use instead of a node of the demo's own, if one is named."""
    if bool(options.ledger) != bool(options.admin_key):
        raise RejectedError("LEDGER and ADMIN_KEY need each other, got one")
    return Existing(options.ledger, options.admin_key) if options.ledger else None


def _drive(directory: Path, options: argparse.Namespace) -> Drive:
    """Return the files to replay: those asked for, or a drive of our own simulator's."""
    if options.readings:
        return Drive(options.readings, options.track, [options.video] if options.video else [])
    if options.track or options.video:
        raise RejectedError("TRACK and VIDEO need READINGS, got none")
    out = directory / "drive"
    simulate(out)
    return Drive(out / "readings.csv", out / "track.gpx", [out / "video.avi"])


def _arguments(drive: Drive) -> list[str]:
    track = ["--track", str(drive.track)] if drive.track else []
    videos = [word for video in drive.videos for word in ("--video", str(video))]
    return ["--readings", str(drive.readings), *track, *videos, "--speed", "max"]


def _offload(appliance: Appliance, truck: Truck, trip: dict[str, Any]) -> None:
    """Let the truck offload, and draw what the gateway says of it meanwhile."""
    operator = Auditor(appliance.rest, appliance.token("operator", "operator"))
    agent = truck.begin("offload")
    try:
        with Progress(
            TextColumn("  {task.description:<20}"),
            BarColumn(),
            TextColumn("{task.fields[shown]}"),
            console=_console,
        ) as bars:
            readings = bars.add_task("readings committed", total=trip["readings"], shown="")
            video = bars.add_task("bytes uploaded", total=trip["bytes"], shown="")
            ended = False
            while not ended:
                ended = agent.poll() is not None
                offload = _visit(operator, trip["trip"])
                done = offload["readings"].get("committed", 0)
                sent = sum(recording["received"] for recording in offload["recordings"])
                bars.update(readings, completed=done, shown=f"{done} of {trip['readings']}")
                bars.update(video, completed=sent, shown=f"{sent} of {trip['bytes']}")
                time.sleep(POLL_S)
    except BaseException:
        agent.kill()
        raise
    finally:
        operator.close()
        agent.wait()
    said = agent.stdout.read().strip() if agent.stdout else ""
    _expect(agent.returncode == 0, f"wayseal-device offload failed: {said[-500:]}")


def _visit(operator: Auditor, trip_id: str) -> dict[str, Any]:
    for offload in operator.ask("/v1/offloads"):
        if offload["trip_id"] == trip_id:
            found: dict[str, Any] = offload
            return found
    return {"readings": {}, "recordings": []}


def _check_forgotten(truck: Truck) -> None:
    kept = [trip for trip in truck.ask("status")["trips"] if trip["state"] != "receipted"]
    _expect(not kept, f"the truck still holds {kept}")
    _say("  the receipt verified; the truck deleted its copy")


def _hand_over(appliance: Appliance, trip_id: str) -> None:
    """Let both sides sign each change of hands: loading, and delivery."""
    for site_id, giver, taker in (("site-a", "dairy", "haulier"), ("site-b", "haulier", "shop")):
        terms = HandOver(
            trip_id=trip_id,
            delivery_id=DELIVERY_ID,
            site_id=site_id,
            from_party_id=giver,
            to_party_id=taker,
            at_ms=now_ms(),
        )
        appliance.sign(giver, terms)
        appliance.sign(taker, terms)


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


def _flip_stored_blob(appliance: Appliance, auditor: Auditor, findings: Findings) -> None:
    """Damage one byte of one stored blob; it must be found, and not be mended in silence."""
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
    """Have the evidence judged: as it is, without keys, and with one byte flipped."""
    desk = directory / "desk"
    with _step("wayseal-verify judges the evidence, offline"):
        status, words = judge(evidence, trust, desk)
        _expect(status == HOLDS, f"the evidence does not hold: {words[-800:]}")
    _say(f"  {words.splitlines()[-1]}")
    status, words = judge(evidence, None, desk)
    _expect(status == DOES_NOT_HOLD and "no key you trust" in words, f"without keys: {words}")
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
    """Say what happens, and how long it took."""
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
    parser.add_argument(
        "--ledger", metavar="URL", help="a ledger without parties yet, instead of a node"
    )
    parser.add_argument(
        "--admin-key", type=_file, metavar="FILE", help="private key that registers parties there"
    )
    return parser.parse_args()


def _file(text: str) -> Path | None:
    return Path(text).absolute() if text else None


if __name__ == "__main__":
    main()
