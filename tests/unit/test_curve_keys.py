"""CURVE keys in files."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.ledger.curvekeys import load_or_create

PUBLIC, SECRET = b"p" * 40, b"s" * 40


def test_a_key_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "tp.key"
    assert load_or_create(path, lambda: (PUBLIC, SECRET)) == SECRET.decode()
    assert load_or_create(path, lambda: (b"q" * 40, b"t" * 40)) == SECRET.decode()
    assert path.with_name("tp.key.pub").read_bytes() == PUBLIC + b"\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_key_never_looks_like_an_option(tmp_path: Path) -> None:
    made = iter([(b"-" + PUBLIC[1:], b"x" * 40), (PUBLIC, SECRET)])
    assert load_or_create(tmp_path / "k", lambda: next(made)) == SECRET.decode()


@pytest.mark.parametrize("text", ["", "s" * 39, "s" * 41, '"' * 40, "secret\nsecret"])
def test_what_is_no_key_is_refused_and_not_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k"
    path.touch(0o600)
    path.write_text(text)
    with pytest.raises(RejectedError, match="expected 40 characters of Z85, got") as caught:
        load_or_create(path, lambda: (PUBLIC, SECRET))
    assert "secret" not in str(caught.value)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k"
    path.write_bytes(SECRET)
    path.chmod(0o640)
    with pytest.raises(RejectedError, match="expected a file for its owner alone"):
        load_or_create(path, lambda: (PUBLIC, SECRET))
