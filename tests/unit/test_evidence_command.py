"""`wayseal-verify` as people and programs call it."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.evidence.chain import seal, story, trust_in, unseal

VIDEO = b"a short clip" * 60
STORY = story([VIDEO])
WIRE = STORY.evidence.wire()
TRUST = trust_in(STORY.evidence.heads)


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    path = tmp_path / "trip.evidence"
    path.write_bytes(WIRE)
    return path


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.write_text(TRUST.to_json())
    return path


def verify(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "WAYSEAL_TRUST"}
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "contracts.evidence.wayseal_verify", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**clean, **environment},
    )


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_holds_exits_0(evidence: Path, keys: Path) -> None:
    done = verify(evidence, "--trust", keys)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("every chain of signatures ends in a key you trust\n")
    assert verify(evidence, WAYSEAL_TRUST=str(keys)).returncode == 0


def test_the_video_is_saved_once_all_is_proved(evidence: Path, keys: Path, tmp_path: Path) -> None:
    directory = tmp_path / "video"
    done = verify(evidence, "--trust", keys, "--save-video", directory)
    (saved,) = directory.iterdir()
    assert (done.returncode, saved.read_bytes()) == (0, VIDEO)
    assert saved.name == f"{hashlib.sha256(VIDEO).hexdigest()}.mp4"
    assert done.stdout.endswith(f"saved {saved}\n")
    again = verify(evidence, "--trust", keys, "--save-video", directory)
    assert (again.returncode, again.stdout) == (2, "")
    assert f"expected an empty or a new directory for the video, got {directory}" in again.stderr
    assert saved.read_bytes() == VIDEO


def test_no_video_is_saved_of_evidence_that_does_not_hold(
    evidence: Path, keys: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "video"
    done = verify(evidence, "--trust", keys, "--save-video", directory, "--trip", "0" * 32)
    assert (done.returncode, list(directory.iterdir())) == (1, [])
    assert done.stdout.endswith("it is saved only if the verdict is that the evidence holds\n")
    told = verify(evidence, "--trust", keys, "--save-video", directory, "--json")
    assert document(told)["saved"] == [str(each) for each in directory.iterdir()] != []


def test_json_for_programs(evidence: Path, keys: Path) -> None:
    done = verify(evidence, "--trust", keys, "--json")
    found = document(done)
    assert done.returncode == 0
    assert (found["verdict"], found["problems"]) == ("holds", [])
    assert found["keys"]["genesis_block_id"] == TRUST.genesis_block_id
    (trip,) = found["trips"]
    assert (trip["trip_id"], trip["readings"]) == (STORY.trip.trip_id, 10)
    assert trip["device_keys"] == [STORY.trip.signer.public_key]
    assert trip["first_reading_at"] == "2025-06-15T15:06:40.000Z"
    (breach,) = trip["breaches"]
    assert (breach["quantity"], breach["extreme"], breach["unit"]) == ("temperature", 9.5, "CEL")
    (recording,) = found["recordings"]
    assert recording["blobs"] == recording["blobs_checked"] == 1


def test_without_keys_it_exits_1_and_names_those_found(evidence: Path) -> None:
    done = verify(evidence, "--json")
    assert done.returncode == 1
    assert document(done)["verdict"] == "unanchored"
    assert document(done)["keys"]["admin_keys"] == sorted(TRUST.admin_keys)


@pytest.mark.parametrize("broken", [WIRE[:-1], seal(unseal(WIRE)[:-1]), WIRE + b"!"])
def test_what_does_not_hold_exits_1_and_says_what(
    evidence: Path, keys: Path, broken: bytes
) -> None:
    evidence.write_bytes(broken)
    done = verify(evidence, "--trust", keys)
    assert (done.returncode, done.stderr) == (1, "")
    first, second, *_, last = done.stdout.splitlines()
    assert first == last == "verdict: does not hold"
    assert second.startswith("DOES NOT HOLD: ")
    found = verify(evidence, "--trust", keys, "--json")
    assert (found.returncode, document(found)["verdict"]) == (1, "does-not-hold")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty; expected one that begins with 'WAYSEAL EVIDENCE 2'"),
        (b"{}", "begins with '{}'; expected"),
        (b"WAYSEAL EVIDENCE 3\n", "begins with 'WAYSEAL EVIDENCE 3\\n'; expected"),
    ],
)
def test_no_evidence_file_exits_2(evidence: Path, keys: Path, content: bytes, said: str) -> None:
    evidence.write_bytes(content)
    done = verify(evidence, "--trust", keys)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"wayseal-verify: not an evidence file: it {said}")
    found = verify(evidence, "--trust", keys, "--json")
    assert (found.returncode, document(found)["verdict"]) == (2, "no-evidence")


def test_a_missing_file_exits_2(tmp_path: Path, keys: Path) -> None:
    done = verify(tmp_path / "none", "--trust", keys)
    assert done.returncode == 2
    assert "No such file" in done.stderr


def test_wrong_usage_exits_2(evidence: Path) -> None:
    assert verify().returncode == 2
    assert verify(evidence, "--trust").returncode == 2
    assert verify(evidence, "--unknown").returncode == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        TRUST.to_json().replace("genesis_block_id", "genesis").encode(),
        TRUST.to_json().replace(TRUST.genesis_block_id, "00").encode(),
        TRUST.to_json().upper().encode(),
        json.dumps({**json.loads(TRUST.to_json()), "admin_keys": []}).encode(),
        json.dumps({**json.loads(TRUST.to_json()), "admin_keys": "02"}).encode(),
        json.dumps({**json.loads(TRUST.to_json()), "block_signers": [2]}).encode(),
    ],
    ids=range(11),
)
def test_malformed_keys_exit_2_and_are_named(evidence: Path, keys: Path, content: bytes) -> None:
    keys.write_bytes(content)
    done = verify(evidence, "--trust", keys)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"trust file {keys}: " in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_json_is_told_where_keys_come_from(evidence: Path, keys: Path) -> None:
    keys.write_text("genesis", "utf-8")
    assert "expected the file that `wayseal-gateway trust` prints" in (
        verify(evidence, "--trust", keys).stderr
    )


def test_missing_keys_exit_2(evidence: Path, tmp_path: Path) -> None:
    assert verify(evidence, "--trust", tmp_path / "none").returncode == 2
    assert verify(evidence, WAYSEAL_TRUST=str(tmp_path)).returncode == 2


def test_video_files_are_compared(evidence: Path, keys: Path, tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(VIDEO)
    done = verify(evidence, "--trust", keys, "--video", clip)
    assert done.returncode == 0
    assert f"  {clip} is recording {hashlib.sha256(VIDEO).hexdigest()}, 1 blob\n" in done.stdout
    (recording,) = document(verify(evidence, "--video", clip, "--json"))["recordings"]
    assert recording["files"] == [str(clip)]
    clip.write_bytes(VIDEO[:-1])
    done = verify(evidence, "--trust", keys, "--video", clip)
    assert done.returncode == 1
    assert "is no recording of the evidence, which has 1" in done.stdout


def test_a_video_that_cannot_be_read_was_not_checked(
    evidence: Path, keys: Path, tmp_path: Path
) -> None:
    missing = tmp_path / "missing.avi"
    done = verify(evidence, "--trust", keys, "--video", missing)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"wayseal-verify: recording {missing}: [Errno 2] No such file")
    found = verify(evidence, "--trust", keys, "--video", tmp_path, "--json")
    assert (found.returncode, document(found)["verdict"]) == (2, "not-checked")


def test_help_teaches() -> None:
    done = verify("--help")
    assert done.returncode == 0
    for word in ("exit status", "genesis_block_id", "examples", "--video"):
        assert word in done.stdout
