"""Sorted files give back what was put in, and whatever was changed in one is an error."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.ledger.state.run import (
    BUCKET_RECORDS,
    KEY_BYTES,
    RECORD_BYTES,
    VALUE_BYTES,
    DamagedIndexError,
)
from contracts.ledger.state.runs import FANOUT, SUFFIX, Runs, packed

Records = dict[bytes, bytes]


def some(count: int, seed: int) -> Records:
    chance = random.Random(seed)  # no secrets here
    return {chance.randbytes(KEY_BYTES): chance.randbytes(VALUE_BYTES) for _ in range(count)}


def add(runs: Runs, records: Records) -> None:
    runs.take(runs.with_new(sorted(key + value for key, value in records.items())))


def merge(runs: Runs) -> None:
    while sources := runs.due():
        new = runs.merged(sources, lambda: True)
        assert new is not None
        runs.take(runs.without(sources, new))


def check(runs: Runs, records: Records, absent: Sequence[bytes]) -> None:
    assert {key: runs.find(key) for key in records} == records
    assert {runs.find(key) for key in absent if key not in records} <= {None}


keys = st.one_of(
    st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES),
    # Neighbours share buckets and slots.
    st.binary(max_size=2).map(lambda head: head.ljust(KEY_BYTES, b"\0")),
)
records_of = st.dictionaries(keys, st.binary(min_size=VALUE_BYTES, max_size=VALUE_BYTES))


@settings(max_examples=60, deadline=None)
@given(st.lists(records_of, max_size=2 * FANOUT), st.integers(0, 60), st.lists(keys, max_size=20))
def test_what_was_put_is_found_however_it_is_merged(
    layers: list[Records], more: int, absent: list[bytes]
) -> None:
    with TemporaryDirectory() as folder:
        runs, everything = Runs(Path(folder), b""), Records()
        for number, drawn in enumerate(layers):
            layer = drawn | some(more * BUCKET_RECORDS, number)
            new = {key: value for key, value in layer.items() if key not in everything}
            add(runs, new)
            everything |= new
            check(runs, everything, absent)
            merge(runs)
            check(runs, everything, absent)
        listed = packed(runs.listed)
        again = Runs(Path(folder), listed)
        check(again, everything, absent)
        assert packed(again.listed) == listed
        assert len(list(Path(folder).iterdir())) == len(listed) // 17


def test_a_change_of_any_byte_is_an_error(tmp_path: Path) -> None:
    records = some(100, 1)
    runs = Runs(tmp_path, b"")
    add(runs, records)
    listed = packed(runs.listed)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(DamagedIndexError) as found:
            check(Runs(tmp_path, listed), records, [])
        assert path.name in str(found.value)
        assert f"delete {tmp_path} and start it again" in str(found.value)


def test_a_cut_at_every_byte_is_an_error(tmp_path: Path) -> None:
    runs = Runs(tmp_path, b"")
    add(runs, some(40, 1))
    listed = packed(runs.listed)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with pytest.raises(DamagedIndexError, match=path.name):
            Runs(tmp_path, listed)
    path.unlink()
    with pytest.raises(DamagedIndexError, match="is missing"):
        Runs(tmp_path, listed)


def test_another_file_of_the_same_length_is_an_error(tmp_path: Path) -> None:
    runs = Runs(tmp_path, b"")
    add(runs, some(40, 1))
    add(runs, some(41, 2))
    first, second = sorted(tmp_path.glob(f"*{SUFFIX}"))
    shutil.copy(first, second)
    with pytest.raises(DamagedIndexError, match="has 40 records, its list says 41"):
        Runs(tmp_path, packed(runs.listed))


def test_files_that_the_list_does_not_name_are_removed(tmp_path: Path) -> None:
    runs = Runs(tmp_path, b"")
    add(runs, some(40, 1))
    listed = packed(runs.listed)
    before = set(tmp_path.iterdir())
    runs.with_new([bytes(RECORD_BYTES)])  # and then the power is cut
    (tmp_path / "00000009.part").write_bytes(b"half")
    check(Runs(tmp_path, listed), some(40, 1), [])
    assert set(tmp_path.iterdir()) == before


def test_a_merge_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    runs = Runs(tmp_path, b"")
    for seed in range(FANOUT):
        add(runs, some(1_000, seed))
    before = set(tmp_path.iterdir())
    assert runs.merged(runs.due(), lambda: False) is None
    assert set(tmp_path.iterdir()) == before
