"""The command about lots made from lots."""

from argparse import Namespace
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError
from contracts.party.command import AT, NEEDED, SOME, Command, UsageError, signing, time_of
from contracts.party.files import read_document
from contracts.payload import Action
from contracts.proto.payload_pb2 import LotQuantity, TransformLots

_MEMBERS: Final = {"gtin": str, "lot": str, "quantity": int, "unit": str}
_FORM: Final = "GTIN/LOT=QUANTITY:UNIT"


def _transform(options: Namespace) -> Action:
    if options.file and (options.input or options.output):
        raise UsageError("lots are told by --file, or by --input and --output, not by both")
    if options.file:
        document = _document(options.file)
        inputs, outputs = (
            _lots(options.file, document, "inputs"),
            _lots(options.file, document, "outputs"),
        )
    else:
        inputs, outputs = list(map(_lot, options.input)), list(map(_lot, options.output))
    if not outputs:
        raise UsageError("at least one lot is made: --output, or `outputs` in the file")
    return TransformLots(
        transformation_id=options.id,
        party_id=options.party,
        site_id=options.site,
        inputs=inputs,
        outputs=outputs,
        at_ms=time_of(options),
    )


def _lot(text: str) -> LotQuantity:
    gtin, slash, rest = text.partition("/")
    lot, equals, amount = rest.rpartition("=")  # a lot may have any sign in it
    quantity, colon, unit = amount.partition(":")
    if not (slash and equals and colon) or not (quantity.isascii() and quantity.isdigit()):
        raise UsageError(f"a lot is {_FORM}, got {text[:80]!r}")
    return LotQuantity(gtin=gtin, lot=lot, quantity=int(quantity), unit=unit)


def _document(path: Path) -> dict[str, Any]:
    document = read_document(path)
    if not isinstance(document, dict) or not document.keys() <= {"inputs", "outputs"}:
        raise UsageError(f"{path}: an object with `inputs` and `outputs` expected")
    return document


def _lots(path: Path, document: dict[str, Any], side: str) -> list[LotQuantity]:
    entries = document.get(side, [])
    if not isinstance(entries, list):
        raise UsageError(f"{path}: {side} must be a list, got {entries!r:.80}")
    for entry in entries:
        if not isinstance(entry, dict) or {
            name: type(value) for name, value in entry.items()
        } != dict(_MEMBERS):
            raise UsageError(
                f"{path}: each of {side} has gtin, lot, unit (text) and quantity (a whole "
                f"number), got {entry!r:.120}"
            )
    try:
        return [LotQuantity(**entry) for entry in entries]
    except ValueError as error:
        raise RejectedError(f"{path}: {side}: {error}") from error


COMMANDS: Final = [
    Command(
        "transform",
        "TRANSFORMATION",
        "put on record that lots were made, from other lots or from nothing; the maker signs",
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
]
