"""The checker of histories finds what it is there for."""

from support.ledgers.history import History, Sent, check


def history(*sent: Sent) -> History:
    made = History()
    for each in sent:
        made.sent.setdefault(each.client, []).append(each)
    return made


A = Sent("a", 0, 1.0, committed_s=2.0)
B = Sent("b", 1, 3.0, committed_s=4.0)
BESIDE = Sent("c", 1, 1.5, committed_s=5.0)
UNKNOWN = Sent("d", 2, 1.0)


def test_what_holds_is_no_problem() -> None:
    seen = history(A, B, BESIDE, UNKNOWN)
    for chain in (["x", "a", "b", "c"], ["c", "a", "b", "d"], ["a", "d", "c", "b"]):
        assert check(seen, {0: chain, 3: chain}) == []


def test_what_was_seen_committed_and_is_not_there_is_lost() -> None:
    (problem,) = check(history(A, B), {0: ["b"]})
    assert problem.startswith("lost: client 0 saw batch a")


def test_twice_is_doubled() -> None:
    (problem,) = check(history(A, B), {0: ["a", "b", "a"]})[:1]
    assert problem.startswith("doubled: batch a")


def test_later_before_earlier_is_reordered() -> None:
    (problem,) = check(history(A, B, BESIDE), {0: ["b", "a", "c"]})
    assert problem.startswith("reordered: batch b of client 1 stands before a")


def test_one_of_unknown_fate_is_ordered_too() -> None:
    late = Sent("late", 0, 9.0)
    (problem,) = check(history(A, late), {0: ["late", "a"]})
    assert problem.startswith("reordered: batch late")


def test_validators_that_differ_are_named() -> None:
    assert check(history(), {0: ["a", "b"], 2: ["a", "c"]}) == [
        "validators 0 and 2 differ from batch 1 on"
    ]
    assert check(history(), {0: ["a", "b"], 1: ["a"]}) == [
        "validators 0 and 1 differ from batch 1 on"
    ]
