"""Clips that are cut in a process of their own, from real videos of each kind."""

import gc
import io
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import av
import pytest

from contracts.errors import RejectedError, UnavailableError
from gateway.clips.clips import (
    CLIP_S_MAX,
    CLIPS_AT_ONCE_MAX,
    CLIPS_OPEN_MAX,
    Clip,
    Clips,
    NoClipsError,
)
from support.trucks.films import KINDS, RATE, SECONDS, SHADE, film

COPIED: Final = {"fragmented", "plain"}


@pytest.fixture(scope="module")
def films() -> dict[str, bytes]:
    return {kind: film(kind) for kind in KINDS}


class InMemory:
    """Recordings: one, of which reads may fail."""

    def __init__(self, content: bytes, *, rotten: bool = False) -> None:
        self.content = content
        self.rotten = rotten

    def read(self, recording_id: bytes, start: int, stop: int) -> Iterator[bytes]:
        assert recording_id == sha256(self.content).digest()
        if self.rotten:
            raise RejectedError("no copy of blob 0 is intact")
        yield self.content[start:stop]

    def cut(self, from_ms: int, to_ms: int) -> Clip:
        digest = sha256(self.content).digest()
        return Clips(self).cut(digest, len(self.content), from_ms, to_ms)


def seconds_of(content: bytes) -> list[int]:
    """Return of which second each picture of a clip is; it is played from its beginning."""
    opened: Any = av.open(io.BytesIO(content))
    with opened:
        pictures = list(opened.decode(video=0))
    assert pictures[0].time == 0
    shades = [float(picture.to_ndarray(format="gray").mean()) for picture in pictures]
    return [round(shade / SHADE) - 1 for shade in shades]


def shows(clip: Clip, seconds: list[int]) -> bool:
    """Say whether a clip shows the seconds, and if it is copied, what these need to be decoded."""
    with clip.file as file:
        found = seconds_of(file.read())
    asked = [second for second in seconds for _ in range(RATE)]
    more = len(found) - len(asked)
    assert more <= (2 if clip.is_copied else 0)
    return found[: len(asked)] == asked


@pytest.mark.parametrize("kind", KINDS)
def test_a_clip_shows_its_time_and_plays_by_itself(films: dict[str, bytes], kind: str) -> None:
    clip = InMemory(films[kind]).cut(3_000, 5_000)
    assert clip.is_copied == (kind in COPIED)
    assert shows(clip, [3, 4])
    assert clip.blobs == [0]


@pytest.mark.parametrize("kind", ["plain", "avi"])
def test_a_clip_names_the_blobs_that_show_it(films: dict[str, bytes], kind: str) -> None:
    """Zeros in place of all other blobs give the same clip: these blobs prove it."""
    content = _stretched(films[kind])
    clip = InMemory(content).cut(3_000, 5_000)
    assert 0 < len(clip.blobs) < len(content) >> 20
    partial = bytearray(len(content))
    for index in clip.blobs:
        partial[index << 20 : (index + 1) << 20] = content[index << 20 : (index + 1) << 20]
    again = InMemory(bytes(partial)).cut(3_000, 5_000)
    assert shows(clip, [3, 4])
    assert shows(again, [3, 4])


def _stretched(content: bytes) -> bytes:
    """Return a video followed by eight blobs that no player reads."""
    return content + bytes(8 << 20)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no video " * 1000, "its bytes cannot be read as a video"),
        (b"", "its bytes cannot be read as a video"),
    ],
)
def test_bytes_that_are_no_video(content: bytes, said: str) -> None:
    with pytest.raises(RejectedError, match=said):
        InMemory(content).cut(0, 1_000)


@pytest.mark.parametrize(
    "playlist",
    [
        b"ffconcat version 1.0\nfile '%s'\n",
        b"v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n# %s\n",
    ],
)
def test_a_recording_opens_no_other_file(
    films: dict[str, bytes], tmp_path: Path, playlist: bytes
) -> None:
    other = tmp_path / "other.mp4"
    other.write_bytes(films["plain"])
    relative = str(other).lstrip("/").encode()  # which FFmpeg calls safe
    with pytest.raises(RejectedError, match="its bytes cannot be read as a video"):
        InMemory(playlist % relative).cut(0, 1_000)


def test_a_clip_that_is_too_large(films: dict[str, bytes]) -> None:
    content = films["plain"]
    clips = Clips(InMemory(content), bytes_max=1_000)
    with pytest.raises(RejectedError, match="it has more than 1000 bytes; ask for a shorter part"):
        clips.cut(sha256(content).digest(), len(content), 0, 8_000)


def test_clips_that_nobody_has_read_yet_are_limited(films: dict[str, bytes]) -> None:
    content = films["plain"]
    clips, digest = Clips(InMemory(content)), sha256(content).digest()
    unread = [clips.cut(digest, len(content), 0, 500) for _ in range(CLIPS_OPEN_MAX)]
    with pytest.raises(UnavailableError, match=f"{CLIPS_OPEN_MAX} clips are being read"):
        clips.cut(digest, len(content), 0, 500)
    unread.pop()  # forgotten, as when a client leaves before the first byte
    gc.collect()
    clips.cut(digest, len(content), 0, 500).file.close()
    for each in unread:
        each.file.close()


def test_a_time_without_a_picture(films: dict[str, bytes]) -> None:
    for kind in ("plain", "avi"):
        with pytest.raises(RejectedError, match="it has no picture in that time"):
            InMemory(films[kind]).cut(SECONDS * 1_000 + 500, SECONDS * 1_000 + 900)


def test_a_video_that_is_cut_off_shows_what_is_there(films: dict[str, bytes]) -> None:
    content = films["fragmented"]
    clip = InMemory(content[: len(content) * 3 // 4]).cut(1_000, 2_000)
    assert shows(clip, [1])


def test_damaged_bytes_end_it(films: dict[str, bytes]) -> None:
    with pytest.raises(RejectedError, match="no copy of blob 0 is intact"):
        InMemory(films["plain"], rotten=True).cut(0, 1_000)


@pytest.mark.parametrize(("from_ms", "to_ms"), [(0, CLIP_S_MAX * 1000 + 1), (5, 5), (-1, 5)])
def test_a_time_that_is_no_clip(films: dict[str, bytes], from_ms: int, to_ms: int) -> None:
    with pytest.raises(RejectedError, match=f"expected a clip of up to {CLIP_S_MAX} s"):
        InMemory(films["plain"]).cut(from_ms, to_ms)


def test_only_so_many_at_once(films: dict[str, bytes]) -> None:
    """Each is asked for while the ones before it read their first blob."""

    class Nested(InMemory):
        depth = 0

        def read(self, recording_id: bytes, start: int, stop: int) -> Iterator[bytes]:
            Nested.depth += 1
            if Nested.depth <= CLIPS_AT_ONCE_MAX:
                clips.cut(recording_id, len(self.content), 0, 1_000)
            return super().read(recording_id, start, stop)

    recordings = Nested(films["plain"])
    clips = Clips(recordings)
    with pytest.raises(UnavailableError, match=f"{CLIPS_AT_ONCE_MAX} clips are being made"):
        clips.cut(sha256(recordings.content).digest(), len(recordings.content), 0, 1_000)
    Nested.depth = CLIPS_AT_ONCE_MAX
    clips.cut(sha256(recordings.content).digest(), len(recordings.content), 0, 1_000).file.close()


def test_a_gateway_without_the_library_says_so(
    films: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.clips.clips.find_spec", lambda _: None)
    with pytest.raises(NoClipsError, match="its role is gateway, expected gateway-clips"):
        InMemory(films["plain"]).cut(0, 1_000)
