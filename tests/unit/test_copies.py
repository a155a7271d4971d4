"""The text form of copies, and when copies meet a policy."""

import pytest

from contracts.copies import DEFAULT_POLICY, REQUIREMENTS_MAX, Copy, Place, Policy, Requirement
from contracts.errors import RejectedError

VOLUME = Copy(Place.VOLUME, "main", "fsync")
QUORUM = Copy(Place.BLOBS, "cassandra", "QUORUM")
BOTH = Copy(Place.BLOBS, "files+cassandra", "fsync+QUORUM")


@pytest.mark.parametrize("copy", [VOLUME, QUORUM, BOTH])
def test_a_copy_has_one_text(copy: Copy) -> None:
    assert Copy.parse(str(copy)) == copy


@pytest.mark.parametrize(
    "text",
    [
        "",
        "volume",
        "volume:main",
        "tape:main:fsync",
        "volume:Main:fsync",
        "volume:main:hope",
        "blobs:cassandra:QUORUM+",
        "volume:" + "m" * 60 + ":fsync",
        "volume:main:fsync\n",
    ],
)
def test_other_texts_are_no_copies(text: str) -> None:
    with pytest.raises(RejectedError, match="got"):
        Copy.parse(text)


@pytest.mark.parametrize("text", ["", "tape", "volume:", "blobs:QUORUM+", "blobs:quorum"])
def test_other_texts_are_no_requirements(text: str) -> None:
    with pytest.raises(RejectedError, match="got"):
        Requirement.parse(text)


def test_a_policy_asks_for_something_and_not_for_everything() -> None:
    with pytest.raises(RejectedError, match="got none"):
        Policy.parse([])
    with pytest.raises(RejectedError, match=f"got {REQUIREMENTS_MAX + 1}"):
        Policy.parse(["volume"] * (REQUIREMENTS_MAX + 1))


@pytest.mark.parametrize(
    ("requirement", "copy", "met"),
    [
        ("volume", VOLUME, True),
        ("volume:fsync", VOLUME, True),
        ("volume", QUORUM, False),
        ("blobs", QUORUM, True),
        ("blobs:ONE", QUORUM, True),
        ("blobs:QUORUM", QUORUM, True),
        ("blobs:LOCAL_QUORUM", QUORUM, False),
        ("blobs:ALL", QUORUM, False),
        ("blobs:fsync", QUORUM, False),
        ("blobs:fsync", BOTH, True),
        ("blobs:fsync+QUORUM", BOTH, True),
        ("blobs:fsync+ALL", BOTH, False),
    ],
)
def test_a_requirement_is_met_by_as_much_or_more(requirement: str, copy: Copy, met: bool) -> None:  # noqa: FBT001
    assert Requirement.parse(requirement).met_by(copy) is met
    assert str(Requirement.parse(requirement)) == requirement


def test_the_default_policy_wants_both_kinds() -> None:
    assert DEFAULT_POLICY.missing([VOLUME, QUORUM]) == ()
    assert [str(each) for each in DEFAULT_POLICY.missing([QUORUM])] == ["volume"]
    assert [str(each) for each in DEFAULT_POLICY.missing([])] == ["volume", "blobs"]
