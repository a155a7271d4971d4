"""Video in and beside evidence: only what the device signed is accepted."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.evidence.report import as_json, not_shown
from contracts.evidence.savedvideo import SavedVideo
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.evidence.words import as_text
from contracts.proto.evidence_pb2 import Blob
from contracts.proto.payload_pb2 import RecordVideo, RegisterDevice
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import (
    blobs_of,
    digest_of,
    evidence_of,
    trust_in,
)
from support.evidence.forgery import (
    LONG,
    SHORT,
    STORY,
    TRUST,
    SpyTrip,
    honest,
    problems,
    verdict_on,
)
from support.network.world import Trip, device, key, one, reading, registrations

# Video.


def test_altered_leaf_hashes() -> None:
    evidence = honest()
    hashes = bytearray(evidence.leaves[0].hashes)
    hashes[40] ^= 1
    evidence.leaves[0].hashes = bytes(hashes)
    assert "leaf hashes do not lead to the signed root" in problems(evidence)
    evidence.leaves[0].hashes = bytes(hashes[:32])
    assert "32 bytes of leaf hashes for 2 blobs" in problems(evidence)


def test_leaf_hashes_given_twice() -> None:
    evidence = honest()
    evidence.leaves.append(evidence.leaves[0])
    assert "its leaf hashes come twice" in problems(evidence)


def blob(index: int, data: bytes, of: bytes = LONG) -> Blob:
    return Blob(recording_sha256=digest_of(of).sha256, index=index, data=data)


FRONT, BACK = blobs_of(LONG)
NAME = digest_of(LONG).sha256


@pytest.mark.parametrize(
    ("blobs", "problem"),
    [
        ([blob(0, b"\x01" + FRONT[1:])], "blob 0: not the video that the device signed"),
        ([blob(0, FRONT), blob(1, b"less.")], "blob 1: not the video"),
        ([blob(0, FRONT), blob(1, BACK[:-1])], "blob 1: 4 bytes, expected 5"),
        ([blob(0, BACK), blob(1, FRONT)], "blob 0: 5 bytes, expected 1048576"),
        ([blob(1, BACK), blob(0, FRONT)], "blob 0: out of order"),
        ([blob(0, FRONT), blob(0, FRONT)], "blob 0: out of order"),
        ([blob(2, BACK)], "blob 2 of a file with 2 blobs"),
        ([blob(0, SHORT[::-1], SHORT)], "blob 0: not the video"),
        ([blob(0, b"clip", b"clip")], "no committed digest names it"),
    ],
)
def test_other_video_than_the_device_signed(blobs: list[Blob], problem: str) -> None:
    evidence = honest()
    evidence.blobs = blobs
    assert problem in problems(evidence)


def digest_message(content: bytes) -> RecordVideo:
    found = digest_of(content)
    return RecordVideo(sha256=found.sha256, size=found.size, media_type="video/mp4")


def test_a_part_of_a_video_is_saved_at_its_place(tmp_path: Path) -> None:
    evidence = honest()
    evidence.blobs = [blob(1, BACK), blob(0, SHORT, SHORT)]
    with SavedVideo(tmp_path / "saved") as saved:
        verdict = verify_evidence(io.BytesIO(evidence.wire()), TRUST, [], take=saved.put)
        assert verdict.holds
        part, whole = saved.keep()
    assert part.name == f"{NAME.hex()}.part.mp4"
    assert part.read_bytes() == bytes(len(FRONT)) + BACK
    assert whole.read_bytes() == SHORT
    assert set((tmp_path / "saved").iterdir()) == {part, whole}


def test_video_that_is_not_kept_leaves_nothing(tmp_path: Path) -> None:
    with SavedVideo(tmp_path) as saved:
        saved.put(digest_message(LONG), 1, BACK)
        saved.put(digest_message(SHORT), 0, SHORT)
        saved.put(digest_message(LONG), 0, FRONT)  # frames of two recordings may alternate
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == []


def test_video_without_leaf_hashes() -> None:
    evidence = honest()
    evidence.leaves.clear()
    assert "no leaf hashes came before it" in problems(evidence)


def test_a_part_of_the_video_holds_and_is_counted() -> None:
    evidence = honest()
    evidence.blobs = [blob(1, BACK)]
    verdict = verdict_on(evidence.wire())
    assert verdict.holds
    assert f"{len(LONG)} bytes, 1 of 2 blobs checked" in as_text(verdict)


def videos_not_shown(verdict: Verdict) -> list[str]:
    """Return what text and JSON alike say of videos that are not shown whole."""
    found = [each for each in not_shown(verdict) if each.startswith("the video of ")]
    assert as_json(verdict)["not_shown"] == not_shown(verdict)
    assert all(f"\nnot shown: {each}\n" in as_text(verdict) for each in found)
    return found


def test_a_video_that_is_not_in_the_file_is_told_as_not_shown(tmp_path: Path) -> None:
    assert videos_not_shown(verdict_on(honest().wire())) == []
    evidence = honest()
    evidence.blobs = [each for each in evidence.blobs if each.recording_sha256 != NAME]
    verdict = verdict_on(evidence.wire())
    assert verdict.holds
    (told,) = videos_not_shown(verdict)
    assert told.startswith(f"the video of recording {NAME.hex()}: 0 of 2 blobs are in the file;")
    evidence.blobs.append(blob(1, BACK))
    assert "1 of 2 blobs are in the file" in videos_not_shown(verdict_on(evidence.wire()))[0]
    (path := tmp_path / "camera.mp4").write_bytes(LONG)
    assert videos_not_shown(verdict_on(evidence.wire(), TRUST, [path])) == []


def test_a_false_blob_is_not_told_as_one_that_the_file_lacks() -> None:
    evidence = honest()
    evidence.blobs = [blob(0, FRONT), blob(1, b"less.")]
    verdict = verdict_on(evidence.wire())
    assert not verdict.holds
    assert "1 of 2 blobs checked" in as_text(verdict)
    assert "in the file" not in "\n".join(videos_not_shown(verdict))
    ended = "1 of 2 blobs were checked before a problem ended the check"
    assert f"the video of recording {NAME.hex()}: {ended}" in videos_not_shown(verdict)


def test_a_device_that_lies_about_the_whole_file() -> None:
    lie = replace(digest_of(SHORT), sha256=digest_of(b"another").sha256)
    trip = Trip()
    evidence = evidence_of([registrations(), trip.whole([reading(0)], [lie])], [trip.trip_id])
    evidence.add_video(SHORT)
    evidence.leaves[0].recording_sha256 = evidence.blobs[0].recording_sha256 = lie.sha256
    assert "whole file hashes to" in problems(evidence, trust_in(evidence.heads))
    empty = replace(digest_of(b""), sha256=lie.sha256)
    evidence = evidence_of([registrations(), Trip().whole([], [empty])], [trip.trip_id])
    assert "whole file hashes to" in problems(evidence, trust_in(evidence.heads))


def test_a_second_device_that_gives_a_video_another_tree() -> None:
    spy = RegisterDevice(device_id="spy", party_id="buyer", public_keys=[key("spy").public_key])
    trip, made = Trip(others=["spy"]), digest_of(LONG)
    fake = digest_of(LONG[::-1])
    theirs = SpyTrip(device_id="spy", signer=key("spy"))
    start = build_batch(trip.signer, [trip.sign(trip.start)])
    lie = replace(made, tree_root=fake.tree_root)
    seal = theirs.seal([lie])
    rest = build_batch(trip.signer, [trip.record(reading(0)), sealed := trip.seal([made])])
    groups = [
        [*registrations(), one(key("buyer"), spy), start],
        [build_batch(theirs.signer, [seal]), theirs.video(lie, seal.header_signature)],
        [rest, trip.video(made, sealed.header_signature)],
    ]
    evidence = evidence_of(groups, [trip.trip_id])
    evidence.add_video(LONG[::-1], blobs=[0])
    evidence.leaves[0].recording_sha256 = evidence.blobs[0].recording_sha256 = made.sha256
    found = problems(evidence, trust_in(evidence.heads))
    assert "spy and truck-1 signed different sizes or trees" in found


def test_a_second_device_that_withholds_its_video() -> None:
    cam = SpyTrip(device_id="cam", signer=key("cam"))
    groups = [
        [*registrations(), device("cam", "carrier"), *Trip(others=["cam"]).whole([reading(0)])],
        [build_batch(cam.signer, [cam.seal([digest_of(SHORT)])])],
    ]
    evidence = evidence_of(groups, [cam.trip_id])
    found = problems(evidence, trust_in(evidence.heads))
    assert "device cam: recording" in found
    assert "is sealed, its digest is missing" in found


def test_video_files_beside_the_evidence(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    wire = STORY.evidence.wire()
    path.write_bytes(LONG)
    verdict = verdict_on(wire, TRUST, [path])
    assert verdict.holds
    assert [each.files for each in verdict.videos if each.files] == [[str(path)]]
    assert f"{path} is recording {digest_of(LONG).sha256.hex()}, all 2 blobs" in as_text(verdict)
    for other in (LONG[:-1], LONG + b"!", b"", LONG[::-1]):
        path.write_bytes(other)
        verdict = verdict_on(wire, TRUST, [path])
        assert "is no recording of the evidence, which has 2" in "\n".join(verdict.problems)
