"""`wayseal-party`: arguments in, one line and an exit status out."""

import json
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.party import wayseal_party as party
from contracts.runtime.commands import FAILED, WORKED, WRONG_USAGE
from support.machine.private import write_private

LEDGER = ["--ledger", "http://127.0.0.1:1"]
DELIVERY = ["sign-delivery", "D1", "--order", "4711", "--lot", "00012345678905:L42"]
TERMS = ["--product", "milk", "--seller", "dairy", "--carrier", "haulier", "--buyer", "shop"]

UNNAMED = ["sign-delivery", "D1", "--order", "4711", *TERMS, "--quantity=1"]


@pytest.fixture
def signed(tmp_path: Path) -> list[str]:
    Signer.generate().save(tmp_path / "party.key")
    return ["--key", str(tmp_path / "party.key"), *LEDGER]


def status_of(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        party.main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def made_key(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert status_of(["--key", str(path), "make-key"]) == WORKED
    public_key = json.loads(capsys.readouterr().out)["public_key"]
    assert isinstance(public_key, str)
    return public_key


def test_make_key_makes_one_that_only_its_owner_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dairy.key"
    public_key = made_key(path, capsys)
    assert Signer.load(path).public_key == public_key
    assert path.stat().st_mode & 0o777 == 0o600


def test_make_key_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dairy.key"
    public_key, content = made_key(path, capsys), path.read_bytes()
    assert made_key(path, capsys) == public_key
    assert path.read_bytes() == content
    write_private(path, "no key")
    assert status_of(["--key", str(path), "make-key"]) == WRONG_USAGE
    assert str(path) in capsys.readouterr().err
    assert path.read_text() == "no key"


def test_a_key_that_cannot_be_made_is_one_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "dairy.key"
    assert status_of(["--key", str(path), "make-key"]) in (FAILED, WRONG_USAGE)
    assert capsys.readouterr().err.count("\n") == 1


def test_make_key_makes_no_directories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kyes" / "dairy.key"
    assert status_of(["--key", str(path), "make-key"]) == WRONG_USAGE
    assert f"{path.parent} is not an existing directory" in capsys.readouterr().err
    assert not path.parent.exists()


def device(signed: list[str], calibrated_until: str) -> list[str]:
    words = ["register-device", "truck-7", "--party", "haulier"]
    return [*signed, *words, "--calibrated-until", calibrated_until]


@pytest.mark.parametrize(
    "moment", ["2026-03-02T06:00:00", "2026-03-02", "noon", "0001-01-01T00:00:00+00:00"]
)
def test_a_time_without_zone_or_form_is_wrong_usage(
    signed: list[str], moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(device(signed, moment)) == WRONG_USAGE
    assert moment in capsys.readouterr().err


def test_a_time_with_zone_gets_as_far_as_the_ledger(
    signed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(device(signed, "2026-03-02T06:00:00+01:00")) == FAILED
    assert "did not answer" in capsys.readouterr().err


@pytest.mark.parametrize("quantity", [str(1 << 64), "-1"])
def test_a_quantity_beyond_the_field_is_wrong_usage(
    signed: list[str], quantity: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*signed, *DELIVERY, *TERMS, f"--quantity={quantity}"]
    assert status_of(arguments) == WRONG_USAGE
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "limit",
    [
        "temperature",
        "heat:1:2:3",
        "temperature:a:8:600",
        "x:::",
        "temperature:1e999990:8:1",
        "temperature:2.0009:8:1",
        "pressure:900.001::1",
        "temperature:NaN:8:1",
        "temperature:2:9999999999:1",
        "temperature:²:8:1",
        "temperature:2:8:1:",
        "temperature:2:8:1:0",
        "temperature:2:8:1:-900",
        "temperature:2:8:1:4294967296",
        "temperature:2:8:1:900:1",
    ],
)
def test_a_limit_of_another_form_is_wrong_usage(
    signed: list[str], limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*signed, *DELIVERY, *TERMS, "--quantity", "1", "--limit", limit]
    assert status_of(arguments) == WRONG_USAGE
    assert limit in capsys.readouterr().err


@pytest.mark.parametrize(
    "limit", ["temperature:-2.125:8.000000:600", "pressure:900.25::0:60", "humidity::95:1"]
)
def test_a_limit_with_decimals_gets_as_far_as_the_ledger(
    signed: list[str], limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*signed, *DELIVERY, *TERMS, "--quantity", "1", "--limit", limit]
    assert status_of(arguments) == FAILED
    assert "did not answer" in capsys.readouterr().err


def test_no_ledger_url_is_one_clear_error(
    signed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*signed, "--ledger", "http://h:port", "register-party", "dairy", "--name", "Dairy"]
    assert status_of(arguments) in (FAILED, WRONG_USAGE)
    assert "http://h:port" in capsys.readouterr().err


TRIP = "0" * 32
AT = ["--at", "2026-03-02T06:00:00Z"]
LOT = "00012345678905/L=4/2=100:LTR"
MADE = ["--input", LOT, "--output", LOT]


@pytest.mark.parametrize(
    "words",
    [
        ["register-party", "dairy", "--name=Dairy", "--role", "seller", "--role", "manufacturer"],
        ["rotate-keys", "dairy", "--add", "02" * 33, "--revoke", "03" * 33],
        ["accept", "D1", "--received", "98"],
        ["cancel-delivery", "D1", "--reason", "twice", *AT],
        ["announce-settlement", "D1", "--authority", "court", "--reason", "case 17"],
        [
            *["settle-delivery", "D1", "--authority", "court"],
            *["--payment", "withheld", "--reason", "case 17"],
        ],
        [
            *["hand-over", "D1", "--trip", TRIP, "--site", "dock", "--giver", "haulier"],
            *["--taker", "shop", "--quantity", "60", "--seal-number", "A17", "--returned", *AT],
        ],
        [
            *[*DELIVERY, *TERMS, "--quantity", "1", "--other-carrier", "store"],
            *["--deadline", "2026-03-09T06:00:00Z", "--authority", "court"],
        ],
        [
            *["sign-delivery", "D1", "--order", "4711", *TERMS, "--quantity", "100"],
            *["--item", "00012345678905:L=4:2=60:C62:milk, 3.5%: fresh"],
            *["--item", "00012345678905:L43=40:LTR:butter=milk", "--sscc", "340123450000000000"],
            *["--require-certificate", "haulier=GDP", "--require-certificate", "dairy=ISO=9001"],
        ],
        ["dispute", "D1", "--reason", "thawed", *AT],
        ["close-delivery", "D1", "--payment", "withheld", *AT],
        ["close-trip", TRIP, "--party", "shop"],
        ["hold", TRIP, "--hold", "case-17", "--party", "shop", "--reason", "inquiry"],
        ["release-hold", TRIP, "--hold", "case-17", "--party", "shop"],
        ["transform", "mix-9", "--party", "dairy", "--site", "dock", *MADE],
    ],
    ids=lambda words: words[0],
)
def test_a_whole_command_gets_as_far_as_the_ledger(
    signed: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of([*signed, *words]) == FAILED
    assert "did not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rotate-keys", "dairy"], "--add KEY"),
        (["close-delivery", "D1", "--payment", "due", *AT], "'due'"),
        (["close-delivery", "D1", "--payment", "released"], "--at"),
        (["register-party", "dairy", "--name", "Dairy", "--role", "baker"], "'baker'"),
        (["accept", "D1", "--at", "noon"], "'noon'"),
        (["accept", "D1", "--received", "-1"], "-1"),
        (["cancel-delivery", "D1", "--reason", "twice"], "--at"),
        (["settle-delivery", "D1", "--authority", "court", "--payment", "due"], "'due'"),
        ([*DELIVERY, *TERMS, "--quantity=1", "--deadline", "soon"], "'soon'"),
        ([*UNNAMED, "--require-certificate", "haulier"], "--lot GTIN:LOT, or --item GTIN:LOT="),
        ([*DELIVERY, *TERMS, "--quantity=1", "--lot", "L42"], "a lot is GTIN:LOT, got 'L42'"),
    ],
)
def test_words_that_say_nothing_are_wrong_usage(
    signed: list[str], words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of([*signed, *words]) == WRONG_USAGE
    assert told in capsys.readouterr().err


def test_who_signs_needs_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["make-key"], ["accept", "D1"]):
        assert status_of([*LEDGER, *words]) == WRONG_USAGE
        assert "--key FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "lot", ["1234", "1/L", "1/L=4", "1/L=x:LTR", "1/L=-4:LTR", "1=4:LTR", "1/L=²:LTR"]
)
def test_a_lot_of_another_form_is_wrong_usage(
    signed: list[str], lot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["transform", "mix-9", "--party", "dairy", "--site", "dock", "--output", lot]
    assert status_of([*signed, *words]) == WRONG_USAGE
    error = capsys.readouterr().err
    assert lot in error
    assert "GTIN/LOT=QUANTITY:UNIT" in error


@pytest.mark.parametrize(
    ("flag", "text", "told"),
    [
        ("--item", "1:L", "an item is GTIN:LOT=QUANTITY:UNIT:PRODUCT"),
        ("--item", "1:L=4:LTR", "an item is GTIN:LOT=QUANTITY:UNIT:PRODUCT"),
        ("--item", "1:L=x:LTR:milk", "an item is GTIN:LOT=QUANTITY:UNIT:PRODUCT"),
        ("--item", "1:L=-4:LTR:milk", "an item is GTIN:LOT=QUANTITY:UNIT:PRODUCT"),
        ("--item", "1:L=²:LTR:milk", "an item is GTIN:LOT=QUANTITY:UNIT:PRODUCT"),
        ("--item", "1:L=4:LTR:milk=5:LTR:", "with one amount"),
        ("--item", "1L=4:LTR:milk", "a lot is GTIN:LOT"),
        ("--item", f"1:L={1 << 64}:LTR:milk", str(1 << 64)),
        ("--require-certificate", "haulier", "a required certificate is PARTY=KIND"),
        ("--require-certificate", "=GDP", "a required certificate is PARTY=KIND"),
        ("--require-certificate", "haulier=", "a required certificate is PARTY=KIND"),
    ],
)
def test_goods_or_a_certificate_of_another_form_are_wrong_usage(
    signed: list[str], flag: str, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of([*signed, *DELIVERY, *TERMS, "--quantity=1", flag, text]) == WRONG_USAGE
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


JSON_LOTS = """{"outputs": [{"gtin": "1", "lot": "L", "quantity": 4, "unit": "LTR"}]}"""
TOML_LOTS = """[[outputs]]\ngtin = "1"\nlot = "L"\nquantity = 4\nunit = "LTR"\n"""


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("lots.json", JSON_LOTS, "did not answer"),
        ("lots.toml", TOML_LOTS, "did not answer"),
        ("lots.json", TOML_LOTS, "expected JSON"),
        ("lots.toml", JSON_LOTS, "expected TOML"),
        ("lots.json", "[]", "an object with `inputs` and `outputs`"),
        ("lots.json", "{}", "at least one output is needed"),
        ("lots.json", '{"outputs": 3}', "must be a list, got 3"),
        ("lots.json", JSON_LOTS.replace("4", "true"), "a whole number"),
        ("lots.json", JSON_LOTS.replace("4", str(1 << 64)), "outputs"),
        ("lots.json", JSON_LOTS.replace("unit", "units"), "'units'"),
        ("lots.json", JSON_LOTS[:-1] + ', "outputs": []}', "'outputs' appears twice"),
        ("lots.json", "[" * 100_000, "expected JSON"),
        ("lots.json", " " * (1 << 20) + JSON_LOTS, "at most 1048576 bytes"),
        ("none.json", None, "none.json"),
    ],
)
def test_lots_come_from_a_file(
    signed: list[str],
    tmp_path: Path,
    name: str,
    text: str | None,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    words = ["transform", "mix-9", "--party", "dairy", "--site", "dock", "--file", str(path)]
    assert status_of([*signed, *words]) == (FAILED if "answer" in told else WRONG_USAGE)
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_lots_are_told_one_way_only(signed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["transform", "mix-9", "--party", "dairy", "--site", "dock", "--file", "lots.json"]
    assert status_of([*signed, *words, "--output", LOT]) == WRONG_USAGE
    assert "not by both" in capsys.readouterr().err
