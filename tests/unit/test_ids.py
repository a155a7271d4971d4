"""Ids and GS1 keys."""

import pytest

from contracts.errors import RejectedError
from contracts.ids import ID_MAX, check_gln, check_gtin, check_id, check_trip_id


@pytest.mark.parametrize("text", ["a", "truck-1", "4006381333931", "A.b_c-9", "x" * ID_MAX])
def test_an_id_comes_back(text: str) -> None:
    assert check_id("device", text) == text


@pytest.mark.parametrize(
    "text",
    ["", " ", "a b", "a/b", "a\n", "+", "#", "é", "\0", "x" * 65, ".", "..", "-rf", "_", "a\u0660"],
)
def test_what_could_be_a_path_a_wildcard_or_an_option_is_no_id(text: str) -> None:
    with pytest.raises(RejectedError, match=r"device id must be 1\.\.64"):
        check_id("device", text)


@pytest.mark.parametrize(
    "text", ["", "0" * 31, "0" * 33, "A" * 32, "0" * 31 + "g", "0" * 32 + "\n"]
)
def test_a_trip_id_is_32_lower_case_hexadecimal_digits(text: str) -> None:
    assert check_trip_id("0123456789abcdef" * 2)
    with pytest.raises(RejectedError, match="trip id must be 32"):
        check_trip_id(text)


@pytest.mark.parametrize("text", ["96385074", "614141000036", "4006381333931", "10614141000415"])
def test_gtins_of_all_lengths(text: str) -> None:
    assert check_gtin(text) == text


@pytest.mark.parametrize(
    "text", ["", "1", "96385075", "400638133393", "400638133393\uff11", "-4006381333931"]
)
def test_what_is_no_gtin(text: str) -> None:
    with pytest.raises(RejectedError, match="GTIN"):
        check_gtin(text)


def test_a_wrong_check_digit_names_the_right_one() -> None:
    with pytest.raises(RejectedError, match="check digit must be 1, got 2"):
        check_gln("4006381333932")
    assert check_gln("4006381333931") == "4006381333931"
    with pytest.raises(RejectedError, match="GLN must be 13 digits"):
        check_gln("96385074")
