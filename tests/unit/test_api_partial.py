"""The part of a content that a client wants, and answers that send nothing of it."""

from fastapi.responses import Response

from gateway.api.conditions import Conditions
from gateway.api.partial import Part, part_of

ETAG = '"abc"'


def test_a_part_says_where_it_lies_and_the_whole_does_not() -> None:
    part = part_of(Conditions(range="bytes=2-3"), ETAG, 9)
    assert part == Part(ETAG, 9, 2, 4)
    assert (part.status, part.headers["Content-Range"]) == (206, "bytes 2-3/9")
    for asked in (Conditions(), Conditions(range="bytes=2-3", if_range='"other"')):
        whole = part_of(asked, ETAG, 9)
        assert whole == Part(ETAG, 9, 0, 9)
        assert (whole.status, whole.headers["Content-Length"]) == (200, "9")
        assert "Content-Range" not in whole.headers


def test_an_empty_content_is_answered_whole() -> None:
    part = part_of(Conditions(range="bytes=0-"), ETAG, 0)
    assert part == Part(ETAG, 0, 0, 0)
    assert part.status == 200


def test_a_range_outside_and_a_known_content_send_nothing() -> None:
    for asked, status in (
        (Conditions(range="bytes=9-"), 416),
        (Conditions(if_none_match=ETAG, range="bytes=9-"), 304),
    ):
        answer = part_of(asked, ETAG, 9)
        assert isinstance(answer, Response)
        assert answer.status_code == status
    assert Conditions(range="bytes=9-").without_range() == Conditions()
