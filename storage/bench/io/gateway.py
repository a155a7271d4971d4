"""A gateway on each volume: a video in, the same video out, and both at once."""

import argparse
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from storage.bench.arguments import video_gb
from storage.bench.disk import require_room
from storage.bench.io.auditors import Auditor
from storage.bench.io.ground import Ground
from storage.bench.io.videos import Checkpoint, both_at_once, in_and_out
from storage.bench.ledger.committing import commit
from storage.bench.run.directories import scratch
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Place, Step, StepGroup
from storage.bench.run.volumetarget import VolumeTarget
from storage.bench.servers.checkpoint import GatewayFiles, node
from storage.bench.trucks.filmed import DEVICE, registrations
from storage.bench.trucks.payload import PIECE_BYTES, pieces_of

IN_AND_OUT: Final = "gateway"
MIXED: Final = "gateway-mixed"
VIDEO_GB: Final = 1.0
QUICK_VIDEO_GB: Final = 0.128
AUDITORS: Final = 4
AUDITORS_MAX: Final = 64
_COPIES: Final = 2
"""A whole file on the volume, and blobs."""
_SLACK_BYTES: Final = 1 << 30
_START_S: Final = 10.0
_GUESSED: Final = 100e6
"""B/s of each way, for the time left."""


@dataclass(frozen=True, slots=True)
class GatewayLoad:
    """The load on each gateway.

    Attributes:
        pieces: Of each video.
        auditors: Number that read while a truck uploads.
        seed: Of the video that they read.
    """

    pieces: int
    auditors: int
    seed: int


def add_gateway_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the gateway."""
    parser.add_argument(
        "--gateway-video-gb",
        type=video_gb,
        metavar="GB",
        help=f"size of each video; default {VIDEO_GB}, quick {QUICK_VIDEO_GB}; 0 skips the gateway",
    )
    parser.add_argument(
        "--auditors",
        type=int,
        choices=range(1, AUDITORS_MAX + 1),
        default=AUDITORS,
        metavar="N",
        help="auditors that read while a truck uploads; default %(default)s",
    )


def prepare_gateway(options: argparse.Namespace, setup: Setup, _stack: ExitStack) -> Prepared:
    """Check the free space, and return the group.

    Raises:
        RejectedError: A disk is too full.
    """
    size_gb = options.gateway_video_gb
    if size_gb is None:
        size_gb = QUICK_VIDEO_GB if setup.quick else VIDEO_GB
    settings = {"gateway": {"video_gb": size_gb, "auditors": options.auditors}}
    if not size_gb:
        return Prepared((), settings)
    pieces = pieces_of(size_gb)
    size = pieces * PIECE_BYTES
    videos = 1 + len((IN_AND_OUT, MIXED)) * setup.repetitions
    for volume in setup.volumes:
        require_room(volume.directory, videos * _COPIES * size + _SLACK_BYTES)
    require_room(setup.work, size + _SLACK_BYTES)
    each_s = _START_S + (videos + setup.repetitions) * size / _GUESSED
    chosen = GatewayLoad(pieces, options.auditors, setup.seed)
    group = StepGroup(
        Part.IO,
        "a gateway on each volume",
        len(setup.volumes) * each_s,
        partial(_opened, chosen, setup.volumes),
        setup.repetitions,
    )
    return Prepared((group,), settings)


@contextmanager
def _opened(chosen: GatewayLoad, volumes: Sequence[VolumeTarget]) -> Iterator[Sequence[Step]]:
    """Start node and gateway on each volume, and upload the video that auditors will read."""
    with ExitStack() as stack:
        steps = []
        for volume in volumes:
            checkpoint = stack.enter_context(_checkpoint(volume, chosen.auditors))
            with scratch() as directory:
                audited, path = checkpoint.film(Place(directory, chosen.seed), chosen.pieces)
                checkpoint.take(audited, path)
            checkpoint.auditors[0].wait_until_listed(audited)
            steps += [
                Step(IN_AND_OUT, volume.name, partial(in_and_out, checkpoint, chosen.pieces)),
                Step(MIXED, volume.name, partial(both_at_once, checkpoint, audited, chosen.pieces)),
            ]
        yield steps


@contextmanager
def _checkpoint(volume: VolumeTarget, auditors: int) -> Iterator[Checkpoint]:
    """Run node and gateway on a volume; remove their data at the end."""
    home = volume.work / "checkpoint"
    try:
        with ExitStack() as stack:
            ledger = stack.enter_context(node(home / "node")).addresses["rest"]
            commit(ledger, registrations())
            files = GatewayFiles.made(home / "gateway", ledger)
            device, operator = files.token(DEVICE, "device"), files.token("bench", "operator")
            gateway = stack.enter_context(files.serving())
            rest = gateway.addresses["rest"]
            readers = [
                stack.enter_context(closing(Auditor(rest, operator))) for _ in range(auditors)
            ]
            yield Checkpoint(
                Ground.of(volume, buffered=True),
                files.data,
                gateway.pid,
                rest,
                gateway.addresses["mqtt"],
                device,
                ledger,
                readers,
            )
    finally:
        shutil.rmtree(home, ignore_errors=True)
