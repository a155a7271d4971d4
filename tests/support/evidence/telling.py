"""A trip whose device tells what is wrong with it: recorded as tests/golden/evidence-remarks.

Run as `python -m support.evidence.telling FOLDER` to write it there.
"""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from contracts.evidence.report import as_json
from contracts.evidence.verify import verify_evidence
from contracts.evidence.words import as_text
from contracts.records.reading import Clock, ClockOrigin, Reading, Tamper
from contracts.records.recording import RecordingDigest
from contracts.records.remark import Remark, RemarkKind, Told
from contracts.rules.version import RulesVersion
from support.evidence.chain import Evidence, digest_of, evidence_of, trust_in
from support.network.world import BOOT, START_MS, Trip, handovers, reading, registrations

WRONG_MS: Final = 86_400_000
"""UTC of the device while it has no clock: the second of January 1970."""
FILM: Final = (digest_of(b"segment 0"), digest_of(b"segment 1"))
LEFT_OUT: Final = digest_of(b"segment 2")
TOO_WARM: Final = 9000
LATER: Final = 6
"""The first reading within the limits: the breach begins without a clock and ends with one."""
LATER_BOOT: Final = b"\x02" * 16


def values() -> list[Reading]:
    """Return the readings: without a clock at first, then right, then after a reboot."""
    found = [_at(number, WRONG_MS, BOOT, ClockOrigin.NONE, None) for number in range(4)]
    found += [_at(number, START_MS, BOOT, ClockOrigin.NTP, 80) for number in range(4, 8)]
    found += [_at(number, START_MS, LATER_BOOT, ClockOrigin.RTC, None) for number in range(8, 10)]
    jump_ms = START_MS - WRONG_MS
    told = {
        1: Told((Remark(RemarkKind.SENSOR_LOST, WRONG_MS + 4_000, "cargo"),)),
        4: Told(
            (
                Remark(RemarkKind.CLOCK_AHEAD, START_MS + 20_000, amount=jump_ms),
                Remark(RemarkKind.CLOCK_CORRECTED, START_MS + 20_000, amount=jump_ms),
            ),
            film=(("ab" * 16, 20_000),),
        ),
        5: Told((Remark(RemarkKind.SENSOR_LOST, START_MS + 24_000, "cargo", ended=True),)),
        6: Told(filmed=((FILM[0].sha256, FILM[0].size),)),
        7: Told(
            (Remark(RemarkKind.CAMERA_COVERED, START_MS + 33_000, "hold"),),
            film=(("ab" * 16, 33_000),),
        ),
        8: Told(
            (
                Remark(RemarkKind.REBOOTED, START_MS + 40_000, amount=5_000),
                Remark(RemarkKind.FILM_LOST, START_MS + 35_000, "hold-000001.mp4", amount=1_900),
            ),
            filmed=((FILM[1].sha256, FILM[1].size),),
        ),
    }
    signs = {1: Tamper.SENSOR_UNPLUGGED, 7: Tamper.CAMERA_BLOCKED, 8: Tamper.REBOOTED}
    return [
        replace(each, told=told.get(number, each.told), tamper=signs.get(number, Tamper.NONE))
        for number, each in enumerate(found)
    ]


def _at(
    number: int, base_ms: int, boot: bytes, origin: ClockOrigin, error_ms: int | None
) -> Reading:
    at_ms = number * 5_000
    clock = Clock(base_ms + at_ms, 100_000 + at_ms, boot, origin, error_ms)
    return replace(reading(number, TOO_WARM if number < LATER else 5000), clock=clock)


def evidence(sealed: tuple[RecordingDigest, ...] = FILM) -> Evidence:
    """Return evidence of the trip, whose seal names these recordings."""
    trip = Trip(version=RulesVersion.V1_2)
    batches = [
        *registrations(),
        *trip.whole(values(), sealed, 4),
        *handovers(trip.trip_id),
    ]
    return evidence_of([[batch] for batch in batches], [trip.trip_id])


def recorded() -> dict[str, Any]:
    """Return the files to record, by name."""
    found = evidence()
    trust = trust_in(found.heads)
    verdict = verify_evidence(io.BytesIO(found.wire()), trust, [])
    keys = {
        "genesis_block_id": trust.genesis_block_id,
        "block_signers": sorted(trust.block_signers),
        "admin_keys": sorted(trust.admin_keys),
    }
    return {
        "trip.evidence": found.wire(),
        "trip.keys.json": json.dumps(keys, indent=1).encode(),
        "trip.verdict.json": json.dumps(as_json(verdict), indent=1).encode(),
        "trip.txt": as_text(verdict).encode(),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, content in recorded().items():
        (folder / name).write_bytes(content)
