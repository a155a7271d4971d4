"""Price and payment terms: the ledger sees salted hashes, the parties' file has the rest."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.party.cli import UsageError
from contracts.party.commercial import (
    SALT_BYTES,
    TEXT_CHARS_MAX,
    check_commercial,
    commit,
    commitments,
    matches,
)

PRICE, TERMS = "1200 EUR", "30 days net, ½ at once"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "D1.json"


def test_the_other_side_signs_the_very_same_hashes(path: Path) -> None:
    first = commitments("D1", path, price=PRICE, payment_terms=TERMS)
    assert len(first.price) == len(first.payment_terms) == 32
    assert first.price != first.payment_terms
    assert commitments("D1", path, price=None, payment_terms=None) == first
    assert commitments("D1", path, price=PRICE, payment_terms=None) == first
    assert path.stat().st_mode & 0o777 == 0o600


def test_equal_words_of_two_deliveries_do_not_look_equal(path: Path, tmp_path: Path) -> None:
    first = commitments("D1", path, price=PRICE, payment_terms=PRICE)
    second = commitments("D2", tmp_path / "D2.json", price=PRICE, payment_terms=PRICE)
    assert len({first.price, first.payment_terms, second.price, second.payment_terms}) == 4


def test_what_was_not_agreed_on_this_way_has_no_hash(path: Path) -> None:
    made = commitments("D1", path, price=PRICE, payment_terms=None)
    assert made.payment_terms == b""
    none = commitments("D1", None, price=None, payment_terms=None)
    assert (none.price, none.payment_terms) == (b"", b"")


def test_text_and_salt_make_the_hash(path: Path) -> None:
    made = commitments("D1", path, price=PRICE, payment_terms=None)
    kept = json.loads(path.read_text("utf-8"))["price"]
    salt = bytes.fromhex(kept["salt"])
    assert len(salt) == SALT_BYTES
    assert made.price == commit(PRICE, salt)
    assert matches(made.price, kept["text"], salt)
    assert not matches(made.price, kept["text"] + " ", salt)
    assert not matches(made.price, kept["text"][1:], salt + kept["text"][:1].encode())


def test_without_a_file_the_words_would_be_lost() -> None:
    with pytest.raises(UsageError, match="--commercial FILE is needed"):
        commitments("D1", None, price=PRICE, payment_terms=None)


def test_a_file_that_is_not_there_needs_words(path: Path) -> None:
    with pytest.raises(UsageError, match="--price or --payment-terms makes it"):
        commitments("D1", path, price=None, payment_terms=None)
    assert not path.exists()


def test_other_words_than_the_files_are_refused(path: Path) -> None:
    commitments("D1", path, price=PRICE, payment_terms=None)
    before = path.read_bytes()
    with pytest.raises(UsageError, match="its price is '1200 EUR', the argument says '1 EUR'"):
        commitments("D1", path, price="1 EUR", payment_terms=None)
    with pytest.raises(UsageError, match="its payment_terms is absent"):
        commitments("D1", path, price=None, payment_terms=TERMS)
    with pytest.raises(UsageError, match="is of delivery 'D1', expected 'D2'"):
        commitments("D2", path, price=None, payment_terms=None)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "a\nb", "a" * (TEXT_CHARS_MAX + 1)])
def test_words_of_another_form_are_refused(path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="printable characters"):
        commitments("D1", path, price=text, payment_terms=None)
    assert not path.exists()


SECRET = {"text": PRICE, "salt": "00" * SALT_BYTES}
GOOD = {"delivery_id": "D1", "price": SECRET}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        json.dumps({"delivery_id": "D1"}),
        json.dumps(GOOD | {"discount": SECRET}),
        json.dumps(GOOD | {"price": PRICE}),
        json.dumps(GOOD | {"price": {"text": PRICE}}),
        json.dumps(GOOD | {"price": {"text": PRICE, "salt": "00"}}),
        json.dumps(GOOD | {"price": {"text": PRICE, "salt": 7}}),
        json.dumps(GOOD | {"price": {"text": 1200, "salt": "00" * SALT_BYTES}}),
    ],
)
def test_a_file_of_another_form_is_refused(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(UsageError, match=r"expected `delivery_id`"):
        commitments("D1", path, price=None, payment_terms=None)


def test_a_name_that_stands_twice_is_refused(path: Path) -> None:
    text = json.dumps(GOOD)
    path.write_text(text[:-1] + f', "price": {json.dumps(SECRET | {"text": "1 EUR"})}}}')
    with pytest.raises(UsageError, match="'price' appears twice"):
        commitments("D1", path, price=None, payment_terms=None)


def test_text_that_has_no_bytes_is_refused(path: Path) -> None:
    path.write_text(json.dumps(GOOD | {"price": SECRET | {"text": "\ud800"}}))
    with pytest.raises(UsageError, match="printable characters"):
        commitments("D1", path, price=None, payment_terms=None)


@pytest.mark.parametrize("text", ["", "nonsense", "[" * 100_000, '"\udce9"'])
def test_a_file_that_is_no_json_is_refused(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match="expected JSON"):
        commitments("D1", path, price=None, payment_terms=None)


def test_a_file_that_cannot_be_made_stops_before_anything_is_signed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnavailableError):
        commitments("D1", tmp_path / "file" / "D1.json", price=PRICE, payment_terms=None)


def test_a_check_without_a_ledger_fails(path: Path) -> None:
    commitments("D1", path, price=PRICE, payment_terms=None)
    options = Namespace(id="D1", commercial=path, ledger="http://127.0.0.1:1")
    with pytest.raises(UnavailableError, match="did not answer"):
        check_commercial(options)
    options.id = "D2"
    with pytest.raises(RejectedError, match="is of delivery 'D1'"):
        check_commercial(options)
