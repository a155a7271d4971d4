"""Sawtooth's `sawset`, as far as our scripts call it, for tests without the real one.

The batches are real ones, signed with the given key.
"""

import argparse
from pathlib import Path

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import BatchList, Transaction
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import AUTHORIZED_KEYS, propose


def main() -> None:
    """Write the BatchList that the command line asks for."""
    words = _parser().parse_args()
    signer = Signer.load(Path(words.key))
    batch = build_batch(signer, _proposals(signer, words))
    Path(words.output).write_bytes(BatchList(batches=[batch]).SerializeToString())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sawset")
    commands = parser.add_subparsers(dest="command", required=True)
    genesis = commands.add_parser("genesis")
    create = commands.add_parser("proposal").add_subparsers(required=True).add_parser("create")
    for each in (genesis, create):
        each.add_argument("-k", dest="key", required=True)
        each.add_argument("-o", dest="output", required=True)
    create.add_argument("settings", nargs="+")
    return parser


def _proposals(signer: Signer, words: argparse.Namespace) -> list[Transaction]:
    if words.command == "genesis":
        return [propose(signer, AUTHORIZED_KEYS, signer.public_key)]
    return [propose(signer, *each.split("=", 1)) for each in words.settings]


if __name__ == "__main__":
    main()
