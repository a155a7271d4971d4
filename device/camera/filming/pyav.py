"""Adapter: the only module that imports PyAV, and only when a live camera films."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import now_ms, parse_rfc3339, rfc3339
from device.camera.filming.plan import LATE_S, CameraPlan
from device.camera.filming.port import Piece
from device.camera.filming.segments import SegmentFile

FRAGMENT_S: Final = 2.0
"""Time between two key pictures, each of which begins a fragment: what a power cut can cost."""
OPEN_S: Final = 10.0
PIXELS_MAX: Final = 3_840 * 2_160
"""A picture of more would take all of a small machine's memory."""
MILLISECONDS: Final = Fraction(1, 1000)
SOFTWARE: Final = "libx264"
"""The encoder that works everywhere."""
_FRAGMENTS: Final = "frag_keyframe+empty_moov+default_base_moof"
_GROUP_PICTURES: Final = 1_000
"""More than a fragment has: this module says which picture is a key picture."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where PyAV finds a camera.

    Attributes:
        place: Device, URL, file or filter.
        shown: The place without a password.
        format: FFmpeg's name of the input; None if it can tell.
        options: FFmpeg's options.
        paced: The input would come faster than real time.
        remedy: What to look at if it cannot be opened.
    """

    place: str
    shown: str
    format: str | None
    options: Mapping[str, str]
    paced: bool
    remedy: str


class AvFeed:
    """Feed: a camera, a stream from the network, or a file that is repeated as if it were a camera.

    Args:
        origin: Where it is.
        wait: Waits for a time, seconds.

    Raises:
        UnavailableError: It cannot be opened, or PyAV is not installed.
    """

    def __init__(self, origin: Origin, wait: Callable[[float], object]) -> None:
        self._origin = origin
        self._wait = wait
        self._input = self._open()

    @property
    def copied(self) -> Any:  # noqa: ANN401
        """See `Feed.copied`: a camera that is paced by nobody and gives H.264 is kept as it is."""
        stream = self._input.streams.video[0]
        return stream if stream.codec.name == "h264" and not self._origin.paced else None

    def pieces(self) -> Iterator[Piece]:
        """See `Feed.pieces`."""
        with self._errors("gives no more pictures"):
            while True:
                yield from self._once()
                if not self._origin.paced:
                    raise UnavailableError(f"{self._origin.shown} ended: {self._origin.remedy}")
                self._input.close()
                self._input = self._open()

    def close(self) -> None:
        """See `Feed.close`."""
        self._input.close()

    def _once(self) -> Iterator[Piece]:
        is_copied, first_s = self.copied is not None, None
        began_s = time.monotonic()
        for packet in self._input.demux(video=0):
            pictures = packet.decode()
            if self._origin.paced and pictures and pictures[0].time is not None:
                first_s = pictures[0].time if first_s is None else first_s
                self._wait(began_s + pictures[0].time - first_s - time.monotonic())
            yield Piece(packet if is_copied and packet.size else None, pictures)

    def _open(self) -> Any:  # noqa: ANN401
        av, origin = library(), self._origin
        with self._errors("cannot be opened"):
            opened = av.open(
                origin.place,
                format=origin.format,
                options=dict(origin.options),
                timeout=(OPEN_S, LATE_S),
            )
        if not opened.streams.video:
            opened.close()
            raise UnavailableError(f"{origin.shown} has no video: {origin.remedy}")
        pixels = opened.streams.video[0].width * opened.streams.video[0].height
        if pixels > PIXELS_MAX:
            opened.close()
            raise UnavailableError(
                f"{origin.shown}: expected pictures of up to {PIXELS_MAX} pixels, got {pixels}"
            )
        return opened

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except library().FFmpegError as error:  # its text names the place, with a password
            why = error.strerror or type(error).__name__
            raise UnavailableError(
                f"{self._origin.shown} {what}: {why}; {self._origin.remedy}"
            ) from error


class OpenSegment:
    """A segment that is being written.

    Args:
        path: Its file while it is open.
        title: Its name.
        plan: The camera's.
        copied: The stream whose packets are kept as they are; None encodes pictures.
        began_s: When its first picture came, by the monotonic clock, seconds.
        utc_ms: Returns what time it is, milliseconds UTC.

    Raises:
        UnavailableError: The file cannot be made, or there is no such encoder.
    """

    def __init__(
        self,
        path: Path,
        title: str,
        plan: CameraPlan,
        copied: Any,  # noqa: ANN401
        began_s: float,
        utc_ms: Callable[[], int] = now_ms,
    ) -> None:
        av = library()
        self.file = SegmentFile(path)
        self._plan = plan
        self._stream: Any = None
        self._first: int | None = None
        self._last_pts = -1
        self._shown_s: list[Fraction] = []
        self._key_s = float("-inf")
        self._output = av.open(
            self.file, "w", format="mp4", options={"movflags": _FRAGMENTS, "flush_packets": "1"}
        )
        began_ms = utc_ms() - round((time.monotonic() - began_s) * 1000)
        self._output.metadata.update({"title": title, "date": rfc3339(began_ms)})
        self._began_s = began_s
        if copied is not None:
            self._stream = self._output.add_stream_from_template(copied)

    @property
    def length_ms(self) -> int:
        """From its first picture to its latest one, milliseconds; 0 while it has none."""
        return int((self._shown_s[1] - self._shown_s[0]) * 1000) if self._shown_s else 0

    def lasts_s(self, at_s: float) -> float:
        """Return how long it is with a picture that came then, seconds."""
        return at_s - self._began_s

    def add_packet(self, packet: Any) -> None:  # noqa: ANN401
        """Add a packet of H.264; the first one has to be a key picture.

        Raises:
            UnavailableError: The disk is full or failed.
        """
        if packet.dts is None or packet.pts is None:
            return
        self._first = packet.dts if self._first is None else self._first
        is_key = packet.is_keyframe
        packet.dts, packet.pts = packet.dts - self._first, packet.pts - self._first
        packet.stream, shown_s = self._stream, packet.pts * packet.time_base
        self._put(packet, is_key=is_key)
        self._note(shown_s)

    def add_picture(self, picture: Any, at_s: float) -> None:  # noqa: ANN401
        """Encode a picture and add it.

        Args:
            picture: `av.VideoFrame`.
            at_s: When it came, by the monotonic clock, seconds.

        Raises:
            UnavailableError: The disk is full or failed, or there is no such encoder.
        """
        if self._stream is None:
            self._stream = self._encoder(picture)
        av = library()
        picture = picture.reformat(format="yuv420p")
        picture.pts = max(self._last_pts + 1, round((at_s - self._began_s) * 1000))
        picture.time_base, self._last_pts = MILLISECONDS, picture.pts
        is_key = at_s - self._key_s >= FRAGMENT_S
        kinds = av.video.frame.PictureType
        picture.pict_type = kinds.I if is_key else kinds.NONE
        self._key_s = at_s if is_key else self._key_s
        for packet in self._stream.encode(picture):
            self._put(packet, is_key=packet.is_keyframe)
        self._note(self._last_pts * MILLISECONDS)

    def close(self) -> None:
        """Write what the encoder still has, and close the file.

        Raises:
            UnavailableError: The disk is full or failed; the file is closed anyway.
        """
        try:
            if self._stream is not None:
                for packet in self._stream.encode(None) if self._last_pts >= 0 else ():
                    self._put(packet, is_key=False)
            self._output.close()
        except library().FFmpegError as error:
            raise UnavailableError(f"film {self.file.path}: {error.strerror}") from error
        finally:
            self.file.close()

    def _note(self, shown_s: Fraction) -> None:
        """Note when a picture is shown, seconds; packets do not come in that order."""
        first_s, last_s = self._shown_s or (shown_s, shown_s)
        self._shown_s = [min(first_s, shown_s), max(last_s, shown_s)]

    def _put(self, packet: Any, *, is_key: bool) -> None:  # noqa: ANN401
        self._output.mux(packet)
        if is_key:  # the fragment before it has been written
            self.file.sync()

    def _encoder(self, picture: Any) -> Any:  # noqa: ANN401
        plan = self._plan
        try:
            stream = self._output.add_stream(plan.encoder, rate=plan.pictures_per_s)
        except (library().FFmpegError, ValueError) as error:
            raise UnavailableError(f"FFmpeg has no encoder {plan.encoder}: {error}") from error
        stream.width, stream.height = picture.width, picture.height
        stream.pix_fmt, stream.bit_rate = "yuv420p", plan.bits_per_s
        stream.time_base = stream.codec_context.time_base = MILLISECONDS
        stream.codec_context.gop_size = _GROUP_PICTURES
        if plan.encoder == SOFTWARE:  # no picture waits in the encoder for later ones
            stream.options = {"preset": "ultrafast", "tune": "zerolatency", "forced-idr": "1"}
        return stream


def encoder_of(plan: CameraPlan) -> tuple[str, str]:
    """Return the encoder that works here, and why it is not the plan's; empty if it is.

    Whether hardware encodes is known only once it has encoded a picture.
    """
    if plan.encoder == SOFTWARE:
        return plan.encoder, ""
    av = library()
    try:
        context = av.CodecContext.create(plan.encoder, "w")
        context.width, context.height, context.pix_fmt = plan.width, plan.height, "yuv420p"
        context.time_base, context.bit_rate = MILLISECONDS, plan.bits_per_s
        picture = av.VideoFrame(plan.width, plan.height, "yuv420p")
        picture.pts = 0
        context.encode(picture)
    except (av.FFmpegError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return SOFTWARE, f"{plan.encoder} does not work here ({why!s:.100}), so {SOFTWARE} encodes"
    return plan.encoder, ""


def times_of(path: Path) -> tuple[int, int]:
    """Return when a closed segment was begun, milliseconds UTC, and its duration, milliseconds.

    Either is 0 if the file does not say.
    """
    av = library()
    try:
        with av.open(str(path), format="mp4", options={"protocol_whitelist": "file"}) as film:
            stream = film.streams.video[0]
            times = [packet.pts for packet in film.demux(stream) if packet.pts is not None]
            length = (max(times) - min(times)) * stream.time_base if times else 0
            said = film.metadata.get("date", "")
    except (av.FFmpegError, IndexError):
        return 0, 0
    try:
        return parse_rfc3339(said), round(length * 1000)
    except RejectedError:
        return 0, round(length * 1000)


def small(picture: Any, width: int, height: int) -> Any:  # noqa: ANN401
    """Return a picture as (height, width, 3) uint8, BGR."""
    return picture.reformat(width=width, height=height, format="bgr24").to_ndarray()


def library() -> Any:  # noqa: ANN401 - a module that may be missing has no static type
    """Return the module av.

    Raises:
        UnavailableError: It is not installed.
    """
    try:
        import av  # noqa: PLC0415 - see the module's first lines
    except ImportError as error:
        raise UnavailableError(
            "PyAV is not installed: live cameras need the extra camera; in a checkout, "
            "scripts/install device-camera installs it"
        ) from error
    av.logging.set_level(av.logging.PANIC)
    return av
