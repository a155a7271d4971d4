"""Which buckets count as marked, and for which blobs."""

import pytest

from contracts.errors import UnavailableError
from storage.blobs.cassandra.marks import MARK_KEPT_S, MARKS_MAX, Marks, later_us
from support.storage.blobsuite import recording

ONE, TWO = recording("one"), recording("two")


def test_a_mark_is_good_for_each_blob_of_its_bucket_once() -> None:
    marks = Marks()
    assert marks.recall(ONE, 0, [1]) is None
    marks.note(ONE, 0, 77, [0, 1])
    assert marks.recall(ONE, 0, [2, 3]) == 77
    assert marks.recall(ONE, 0, [4, 1]) is None
    assert marks.recall(ONE, 0, [4, 2]) is None
    assert marks.recall(ONE, 0, [4]) == 77
    assert (marks.recall(ONE, 1, [64]), marks.recall(TWO, 0, [5])) == (None, None)


def test_a_recording_is_forgotten_alone() -> None:
    marks = Marks()
    for one, bucket in [(ONE, 0), (ONE, 1), (TWO, 0)]:
        marks.note(one, bucket, 77, [])
    marks.forget(ONE)
    found = [marks.recall(one, bucket, [5]) for one, bucket in [(ONE, 0), (ONE, 1), (TWO, 0)]]
    assert found == [None, None, 77]


def test_a_mark_is_kept_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 5.0
    monkeypatch.setattr("storage.blobs.cassandra.marks.time.monotonic", lambda: now_s)
    marks = Marks()
    marks.note(ONE, 0, 77, [])
    now_s += MARK_KEPT_S - 0.1
    assert marks.recall(ONE, 0, [1]) == 77
    now_s += 0.2
    assert marks.recall(ONE, 0, [2]) is None


def test_only_so_many_are_kept_and_the_oldest_goes() -> None:
    marks = Marks()
    for bucket in range(MARKS_MAX + 1):
        marks.note(ONE, bucket, bucket, [])
    assert marks.recall(ONE, 0, [1]) is None
    assert [marks.recall(ONE, bucket, [1]) for bucket in (1, MARKS_MAX)] == [1, MARKS_MAX]


def test_a_timestamp_is_later_than_all_before() -> None:
    assert later_us(5, 0, 3) == 5
    assert later_us(5, 0, 5) == 6
    assert later_us(5, 2**63 - 2) == 2**63 - 1


def test_the_greatest_timestamp_is_said_to_be_wrong() -> None:
    with pytest.raises(UnavailableError, match="9223372036854775807"):
        later_us(5, 0, 2**63 - 1)
