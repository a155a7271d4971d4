"""Counts how often a message is parsed."""

from collections import Counter

import pytest

from contracts.proto.sawtooth_pb2 import Batch, BatchHeader, TransactionHeader


def count_parsing(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """Return a counter of the bytes that batches and headers are parsed from, from now on."""
    parsed: Counter[bytes] = Counter()
    for kind in (Batch, BatchHeader, TransactionHeader):
        _count(monkeypatch, kind, parsed)
    return parsed


def _count(
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Batch | BatchHeader | TransactionHeader],
    parsed: Counter[bytes],
) -> None:
    parse = kind.FromString

    def counting(wire: bytes) -> Batch | BatchHeader | TransactionHeader:
        parsed[wire] += 1
        return parse(wire)

    monkeypatch.setattr(kind, "FromString", counting)
