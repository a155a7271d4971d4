"""An offload waits for progress, and commits are progress."""

from device.offload.progress import Progress


def test_only_more_commits_are_a_move() -> None:
    progress = Progress()
    assert not progress.note_committed(0)
    assert progress.note_committed(3)
    assert not progress.note_committed(3)
    assert not progress.note_committed(2)
    assert progress.moves == 1
    assert progress.note_committed(4)
    assert progress.moves == 2


def test_after_a_receipt_the_count_begins_again() -> None:
    progress = Progress()
    progress.note_committed(40)
    progress.note_receipt()
    assert progress.note_committed(1)
    assert progress.moves == 3
