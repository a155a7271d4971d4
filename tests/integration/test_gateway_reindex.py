"""`wayseal-gateway reindex` beside a gateway at work: trucks offload, questions are answered."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final

import pytest

from gateway.settings_file import load_settings
from support.network.world import Trip, reading
from support.trucks.rogue import DEADLINE_S, Site, nonce, running_site, until

pytestmark = pytest.mark.integration

HELD: Final = """
import sys
from gateway.commands import reindex
from gateway.index import reindexing
from gateway.wayseal_gateway import main

reindexing.TELL_S, say = 0.0, reindex._say

def held(progress):
    say(progress)
    sys.stdin.readline()

reindex._say = held
main()
"""
"""The command, which tells each block, and after each waits for a line or the end of its input."""
PROGRESS: Final = re.compile(r"(\d+) of (\d+) blocks, \d+ readings, \d+%, \d+ s(, \d+ s left)?")
READINGS: Final = 40


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running_site(tmp_path) as made:
        yield made


def counted(site: Site, trip: Trip) -> int:
    """Return how many readings the index has of a trip; it may not know the trip yet."""
    path = f"/v1/trips/{trip.trip_id}/readings"
    if site.operator.get(path).status_code == HTTPStatus.NOT_FOUND:
        return 0
    return len(list(site.listed(path)))


def test_trucks_offload_and_questions_are_answered_while_an_index_is_made(site: Site) -> None:
    settings = load_settings(site.appliance.settings_file)
    before = settings.index_file.stat().st_ino
    old, new = (
        Trip(nonce=nonce(number)).whole([reading(at) for at in range(READINGS)])
        for number in (1, 2)
    )
    old_trip, new_trip = Trip(nonce=nonce(1)), Trip(nonce=nonce(2))
    for batch in old:
        site.commit([batch])
    until("the first trip", lambda: counted(site, old_trip) == READINGS)
    command = [sys.executable, "-c", HELD, "reindex", "--config", str(site.appliance.settings_file)]
    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=site.appliance.directory,
    ) as process:
        assert process.stderr
        first = PROGRESS.match(process.stderr.readline())
        assert first
        assert first[3]  # it says how long it will take
        with site.device() as truck:
            for batch in new:
                assert truck.send(batch).batch_ids
            until("the blocks", lambda: site.committed(new_trip.trip_id) == len(new))
        until("the second trip", lambda: counted(site, new_trip) == READINGS)
        assert counted(site, old_trip) == READINGS
        assert settings.index_file.stat().st_ino == before
        said, progress = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, progress
    told = json.loads(said.splitlines()[-1])
    last = PROGRESS.match(progress.splitlines()[-1])
    assert last
    assert last[1] == last[2] == str(told["blocks"])
    assert told["taken"] is True
    assert settings.index_file.stat().st_ino != before
    assert [counted(site, trip) for trip in (old_trip, new_trip)] == [READINGS, READINGS]
