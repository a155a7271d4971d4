"""The command line of `wayseal-device`: commands, options and their help."""

import argparse
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final, TypeVar

from contracts.errors import RejectedError
from contracts.records.clock import parse_rfc3339
from contracts.runtime.commands import add_version
from device.commands import enrol_parser
from device.commands.epilog import EPILOG
from device.commands.once import add_file
from device.sensors.mapping import ABSENT, MEASURES, ROLES, ColumnMap, delimiter_of
from device.sensors.times import zone_of
from device.settings_types import check_host_port, check_public_key, check_url, parse_speed

_MB: Final = 1_000_000
_VIDEO_BYTES_MAX: Final = 64 * 1_000 * _MB
_ValueT = TypeVar("_ValueT")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; `command` is the chosen command."""
    parser = argparse.ArgumentParser(
        prog="wayseal-device",
        description="Records trips on a truck, signs every reading, and offloads to gateways.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, TOML")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    common = _common()

    commands.add_parser("init", parents=[common], help="create key, folders and journal")
    _add_check(commands.add_parser("check", parents=[common], help="say what files would give"))
    _add_record(commands.add_parser("record", parents=[common], help="record one trip, offline"))
    commands.add_parser("close", parents=[common], help="seal the interrupted trip")
    simulate = commands.add_parser(
        "simulate", parents=[common], help="write a simulated trip as files"
    )
    simulate.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to fill")
    _add_simulator(simulate)
    offload = commands.add_parser(
        "offload", parents=[common], help="send everything to the gateway at hand"
    )
    offload.add_argument(
        "--site",
        metavar="ID",
        help="the only site of [[gateways]] to try (default: in their order, the first to answer)",
    )
    offload.add_argument(
        "--wait-s",
        type=_seconds,
        default=60,
        metavar="N",
        help="give up after N seconds without any progress (default: %(default)s)",
    )
    check = commands.add_parser(
        "check-config", parents=[common], help="check what the settings name; change nothing"
    )
    doctor = commands.add_parser(
        "doctor",
        parents=[common],
        help="check truck, card, clock and offload, with remedies",
    )
    for each in (check, doctor):
        each.add_argument("--offline", action="store_true", help="do not ask the gateways")
    enrol_parser.add(commands, common)
    commands.add_parser("status", parents=[common], help="show what waits here for an offload")
    _add_join(
        commands.add_parser(
            "run", parents=[common], help="record [source] and offload, until SIGTERM"
        )
    )
    commands.add_parser("depart", parents=[common], help="say that the truck leaves now")
    commands.add_parser("arrive", parents=[common], help="say that the truck is at a site now")
    share = commands.add_parser(
        "share",
        parents=[common],
        help="write the trip's start to a file, so that other devices can join",
    )
    share.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to create")
    _add_fleet(
        commands.add_parser(
            "fleet", parents=[common], help="send simulated trucks, as fast as a gateway takes them"
        )
    )
    return parser


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--config", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="settings, TOML"
    )
    common.add_argument("--json", action="store_true", help="print one JSON line")
    return common


def _add_record(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    add_file(source, "--readings", "CSV", "sensor log with named columns")
    source.add_argument("--simulate", action="store_true", help="record a simulated trip")
    add_file(parser, "--track", "GPX", "track of positions, stretched over the trip")
    parser.add_argument(
        "--video",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="video that starts with the trip; may be repeated",
    )
    parser.add_argument(
        "--start",
        type=_moment,
        metavar="RFC3339",
        help="when the trip starts (default: the log's first time)",
    )
    parser.add_argument(
        "--speed",
        type=_checked(parse_speed),
        default="max",
        metavar="max|FACTOR",
        help="times faster than real time (default: %(default)s)",
    )
    parser.add_argument(
        "--again", action="store_true", help="record a log of an earlier trip as one more trip"
    )
    _add_log_options(parser)
    _add_join(parser)
    _add_simulator(parser)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="CSV logs, GPX tracks and videos"
    )
    parser.add_argument(
        "--limited",
        choices=MEASURES,
        action="append",
        default=[],
        metavar="QUANTITY",
        help="refuse a log that does not give QUANTITY, as trip.limited does; may be repeated",
    )
    _add_log_options(parser)


def _add_log_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--map",
        type=_checked(lambda text: str(ColumnMap.parse(text))),
        action="append",
        default=[],
        metavar="QUANTITY[/UNIT]=COLUMN",
        help=f"the log's COLUMN gives QUANTITY ({', '.join(ROLES)}); may be repeated",
    )
    parser.add_argument(
        "--without",
        choices=ABSENT,
        action="append",
        default=[],
        metavar="QUANTITY",
        help=f"the log does not give QUANTITY ({', '.join(ABSENT)}), and the ledger shall say so; "
        "may be repeated",
    )
    parser.add_argument(
        "--delimiter",
        type=_checked(delimiter_of),
        metavar="CHARACTER",
        help="what separates cells: `,`, `;`, `|` or `tab` (default: as the log's header shows)",
    )
    parser.add_argument(
        "--align",
        choices=("stretch", "time"),
        help="with `time`, the track's times are the log's (default: stretch)",
    )
    parser.add_argument(
        "--track-name", metavar="NAME", help="read only this track of the GPX file (default: all)"
    )
    parser.add_argument(
        "--timezone",
        type=_checked(lambda text: zone_of(text).key),
        metavar="ZONE",
        help="zone of times that name none, such as Europe/Vienna (default: UTC)",
    )


def _add_fleet(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--trucks",
        type=_count,
        default=50,
        metavar="N",
        help="number of trucks (default: %(default)s)",
    )
    add(
        "--readings",
        type=_count,
        default=1_000,
        metavar="M",
        help="readings of each truck (default: 1,000)",
    )
    add(
        "--video-mb",
        type=_megabytes,
        default=20_000_000,
        metavar="V",
        dest="video_bytes",
        help="video of each truck, MB (10^6 bytes), decimals allowed, 0 for none (default: 20)",
    )
    add(
        "--mqtt",
        type=_checked(check_host_port),
        required=True,
        metavar="HOST:PORT",
        help="the gateway's broker",
    )
    add(
        "--rest",
        type=_checked(check_url),
        required=True,
        metavar="URL",
        help="the gateway's REST API",
    )
    add(
        "--gateway-key",
        required=True,
        action="append",
        type=_checked(check_public_key),
        metavar="KEY",
        help="public key whose receipts count, from `wayseal-gateway key`; may be repeated",
    )
    add(
        "--tokens",
        type=Path,
        required=True,
        metavar="FILE",
        help="output of `wayseal-gateway token NAME... --role device`, a line for each truck",
    )
    add(
        "--ledger",
        type=_checked(check_url),
        required=True,
        metavar="URL",
        help="where to register the trucks",
    )
    add("--admin", type=Path, required=True, metavar="FILE", help="key that may register parties")
    add(
        "--work",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="folder for the trucks' files, deleted at the end (default: here)",
    )
    add("--per-transaction", type=_count, default=1, metavar="N", help="readings signed as one")
    add("--at-once", type=_count, metavar="N", help="trucks offloading at once (default: up to 64)")
    add(
        "--seed",
        type=_seconds,
        default=1,
        metavar="S",
        help="seed of readings and video (default: 1)",
    )
    add("--wait-s", type=_seconds, default=60, metavar="N", help="give up a truck after N seconds")


def _add_join(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--join",
        type=Path,
        metavar="FILE",
        help="join the trip in FILE, which another device shared",
    )


def _add_simulator(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--minutes",
        type=int,
        default=90,
        metavar="N",
        help="length of a simulated trip (default: 90)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="seed of a simulated trip (default: 1)"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def _megabytes(text: str) -> int:
    try:
        size = Decimal(text) * _MB
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError(f"expected a number of MB, got {text!r}") from error
    if not (size.is_finite() and 0 <= size <= _VIDEO_BYTES_MAX):
        raise argparse.ArgumentTypeError(f"expected 0..{_VIDEO_BYTES_MAX // _MB} MB, got {text!r}")
    return int(size)


def _checked(check: Callable[[str], _ValueT]) -> Callable[[str], _ValueT]:
    def parse(text: str) -> _ValueT:
        try:
            return check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse


def _moment(text: str) -> int:
    try:
        return parse_rfc3339(text)
    except RejectedError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _seconds(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected whole seconds, got {text!r}")
    return int(text)
