"""Commands for goods: lots made from lots, their status, and logistic units."""

from argparse import Namespace
from pathlib import Path
from typing import Any, Final

from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.party.cli import (
    AT,
    NEEDED,
    SOME,
    Command,
    UsageError,
    read_document,
    signing,
    time_of,
)
from contracts.proto.payload_pb2 import LotQuantity, PackUnit, SetLotStatus, TransformLots

_MEMBERS: Final = {"gtin": str, "lot": str, "quantity": int, "unit": str}
STATUSES: Final = [name.lower() for name, _ in SetLotStatus.Status.items()]
_FORM: Final = "GTIN/LOT=QUANTITY:UNIT"


def _transform(options: Namespace) -> Action:
    if options.file and (options.input or options.output):
        raise UsageError("lots are given by --file, or by --input and --output, not by both")
    if options.file:
        document = _document(options.file)
        inputs = _lots(options.file, document, "inputs")
        outputs = _lots(options.file, document, "outputs")
    else:
        inputs = list(map(_lot, options.input))
        outputs = list(map(_lot, options.output))
    if not outputs:
        raise UsageError("at least one output is needed: --output, or `outputs` in the file")
    return TransformLots(
        transformation_id=options.id,
        party_id=options.party,
        site_id=options.site,
        inputs=inputs,
        outputs=outputs,
        at_ms=time_of(options),
    )


def _set_lot_status(options: Namespace) -> Action:
    gtin, slash, lot = options.id.partition("/")
    if not slash:
        raise UsageError(f"a lot is GTIN/LOT, got {options.id[:80]!r}")
    return SetLotStatus(
        party_id=options.party,
        gtin=gtin,
        lot=lot,
        status=options.status.upper(),
        reason=options.reason,
        at_ms=time_of(options),
    )


def _pack(options: Namespace) -> Action:
    return PackUnit(
        party_id=options.party,
        sscc=options.id,
        site_id=options.site,
        lots=map(_lot, options.lot),
        units=options.unit,
        at_ms=time_of(options),
    )


def _lot(text: str) -> LotQuantity:
    gtin, slash, rest = text.partition("/")
    lot, equals, amount = rest.rpartition("=")  # a lot may contain any character
    quantity, colon, unit = amount.partition(":")
    if not (slash and equals and colon) or not (quantity.isascii() and quantity.isdigit()):
        raise UsageError(f"a lot is {_FORM}, got {text[:80]!r}")
    return LotQuantity(gtin=gtin, lot=lot, quantity=int(quantity), unit=unit)


def _document(path: Path) -> dict[str, Any]:
    document = read_document(path)
    if not isinstance(document, dict) or not document.keys() <= {"inputs", "outputs"}:
        raise UsageError(f"{path}: expected an object with `inputs` and `outputs`")
    return document


def _lots(path: Path, document: dict[str, Any], side: str) -> list[LotQuantity]:
    entries = document.get(side, [])
    if not isinstance(entries, list):
        raise UsageError(f"{path}: {side} must be a list, got {entries!r:.80}")
    for entry in entries:
        if not isinstance(entry, dict) or _types(entry) != _MEMBERS:
            raise UsageError(
                f"{path}: each of {side} has gtin, lot, unit (text) and quantity (a whole "
                f"number), got {entry!r:.120}"
            )
    try:
        return [LotQuantity(**entry) for entry in entries]
    except ValueError as error:
        raise RejectedError(f"{path}: {side}: {error}") from error


def _types(entry: dict[str, Any]) -> dict[str, type]:
    return {name: type(value) for name, value in entry.items()}


COMMANDS: Final = [
    Command(
        "transform",
        "TRANSFORMATION",
        "record that lots were made, from other lots or without inputs; the maker signs",
        {
            "--party": NEEDED,
            "--site": NEEDED,
            "--input": SOME | {"metavar": _FORM, "help": "used up; may be repeated"},
            "--output": SOME | {"metavar": _FORM, "help": "made; may be repeated"},
            "--file": {
                "type": Path,
                "help": "JSON, or TOML by its suffix: `inputs` and `outputs`, lists of gtin, lot, "
                "quantity, unit",
            },
            "--at": AT,
        },
        signing(_transform),
        "transform mix-9 --party dairy --site dock-1 \\\n"
        "      --input 00012345678905/L42=100:LTR --output 00012345678912/Y7=80:KGM",
    ),
    Command(
        "set-lot-status",
        "GTIN/LOT",
        "clear, quarantine or recall a lot; its maker or an authority signs",
        {
            "--party": NEEDED,
            "--status": NEEDED | {"choices": STATUSES},
            "--reason": NEEDED,
            "--at": AT,
        },
        signing(_set_lot_status),
        "set-lot-status 00012345678905/L42 --party dairy --status recalled --reason listeria",
    ),
    Command(
        "pack",
        "SSCC",
        "say what a pallet or case holds from now on; without contents, it is unpacked",
        {
            "--party": NEEDED,
            "--site": NEEDED,
            "--lot": SOME | {"metavar": _FORM, "help": "in it; may be repeated"},
            "--unit": SOME | {"metavar": "SSCC", "help": "another unit in it; may be repeated"},
            "--at": AT,
        },
        signing(_pack),
        "pack 340123450000000000 --party dairy --site dock-1 --lot 00012345678905/L42=40:C62",
    ),
]
