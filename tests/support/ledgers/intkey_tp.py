"""The intkey family in a sawtooth-sdk transaction processor.

A name that begins with `hold-` makes it wait, in the middle of its transaction,
until a file of that name is in the directory of the second argument; it leaves
a file `NAME.PID` there when it begins to wait. `fail-` makes it report an
internal error until a file of that name is there, and `tell-` makes it refuse with extended data.
The third and fourth arguments are the files of its CURVE key and the port's public key, if any.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from sawtooth_sdk.processor.exceptions import InternalError, InvalidTransaction

from contracts.ledger.processor.host import Service, StateContext, curve_keys
from contracts.ledger.processor.stream import Stream
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import InvalidTransactionError
from support.ledgers import intkey_node

STEP_S = 0.005


class IntkeyHandler:
    family_name = intkey_node.INTKEY.name
    family_versions = (intkey_node.INTKEY.version,)
    namespaces = (intkey_node.NAMESPACE,)

    def __init__(self, link: Stream, directory: Path) -> None:
        self._link = link
        self._directory = directory

    def apply(self, transaction: Any, context: Any) -> None:  # noqa: ANN401  # the SDK has no types
        header = TransactionHeader.FromString(transaction.header_bytes)
        state = StateContext(context, transaction.context_id, self._link)
        try:
            intkey_node.apply(header, transaction.payload, transaction.signature, state)
        except InvalidTransactionError as error:
            raise InvalidTransaction(str(error)) from error
        self._obey(intkey_node.name_in(transaction.payload))

    def _obey(self, name: str) -> None:
        if name.startswith("hold-"):
            (self._directory / f"{name}.{os.getpid()}").touch()
            while not (self._directory / name).exists():
                time.sleep(STEP_S)
        if name.startswith("fail-") and not (self._directory / name).exists():
            raise InternalError("not now")
        if name.startswith("tell-"):
            raise InvalidTransaction("told so", name.encode())


if __name__ == "__main__":
    curve = curve_keys(Path(sys.argv[3]), sys.argv[4]) if len(sys.argv) > 3 else None
    service = Service(sys.argv[1], curve)
    raise SystemExit(service.run(IntkeyHandler(service.link, Path(sys.argv[2]))))
