"""Foreign forms of CSV: read as the same samples, or refused with line, value and remedy."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.records.clock import parse_rfc3339
from device.sensors.mapping import LogOptions
from device.sensors.replay_csv import CsvReplay
from device.wayseal_device import main

TIME = "2022-01-31 12:00:00"
PLAIN = f"Time,Temperature,Humidity\n{TIME},4.5,50\n2022-01-31 12:00:05,5.5,51\n"
COMMAS = PLAIN.replace(",", ";").replace(".5", ",5")
SPRING, AUTUMN = "2022-03-27 02:30:00", "2022-10-30 02:30:00"


def log(folder: Path, content: str | bytes) -> Path:
    path = folder / "log.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def options(delimiter: str | None = None, timezone: str | None = None) -> LogOptions:
    return LogOptions.parse((), (), delimiter, timezone)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (COMMAS, "decimal comma in 'Temperature'"),
        (COMMAS, "delimiter ';'"),
        (PLAIN.replace(",", "\t"), "delimiter '\\t'"),
        (PLAIN.replace(",", "|"), "delimiter '|'"),
        (PLAIN.replace("4.5", '"4,5"').replace("5.5", '"5,5"'), "decimal comma in 'Temperature'"),
        ("sep=;\r\n" + COMMAS.replace("\n", "\r\n"), "delimiter ';'"),
        ('"SEP=|"\n' + PLAIN.replace(",", "|"), "delimiter '|'"),
        (PLAIN.encode("utf-16"), ""),
        (b"\xfe\xff" + COMMAS.replace("\n", "\r\n").encode("utf-16-be"), "delimiter ';'"),
        (b"\xff\xfe" + ("sep=;\n" + COMMAS[:-1]).encode("utf-16-le"), "delimiter ';'"),
        ("# logger 7\n\n#, a, b, c\n" + PLAIN, "2 comment lines are ignored before the header"),
        (PLAIN.replace("\n", "\n,°C,%RH\n", 1), "a row of units below the header"),
        (PLAIN.replace("\n", "\nyyyy-mm-dd,Cel,\n", 1), "a row of units below the header"),
    ],
)
def test_a_foreign_form_gives_the_same_samples(
    tmp_path: Path, content: str | bytes, note: str
) -> None:
    plain = list(CsvReplay.check(log(tmp_path, PLAIN)).samples())
    replay = CsvReplay.check(log(tmp_path, content))
    assert list(replay.samples()) == plain
    assert not note or note in replay.contents.notes()


def test_a_delimiter_that_is_named_wins(tmp_path: Path) -> None:
    text = PLAIN.replace(",", "|").replace("Humidity", "Humidity|a,b,c,d,e").replace("0\n", "0|\n")
    path = log(tmp_path, text.replace("51\n", "51|\n"))
    assert CsvReplay.check(path, options("|")).rows == 2
    with pytest.raises(RejectedError, match=r"Humidity\|a,b,c,d,e"):
        CsvReplay.check(path)


def test_long_utf_16_is_read_whole(tmp_path: Path) -> None:
    text = PLAIN.split("\n", 1)[0] + f"\n{TIME},4.5,50" * 3_000
    assert CsvReplay.check(log(tmp_path, text.encode("utf-16"))).rows == 3_000


@pytest.mark.parametrize("absent", ["N/A", "nan", "NULL", "-", "#N/A", ""])
def test_a_word_for_nothing_is_not_measured(tmp_path: Path, absent: str) -> None:
    replay = CsvReplay.check(log(tmp_path, PLAIN.replace("4.5", absent)))
    assert [sample.temperature_mcel for sample in replay.samples()] == [None, 5_500]
    note = "1 cell is read as not measured, such as N/A"
    assert (note in replay.contents.notes()) == bool(absent)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2022-01-31T12:00", "2022-01-31T12:00:00Z"),
        ("2022-01-31 12:00:01,25", "2022-01-31T12:00:01.250Z"),
        ("2022-01-31 12:00:01.2599999", "2022-01-31T12:00:01.259Z"),
        ("2022-01-31T12:00:00+0100", "2022-01-31T11:00:00Z"),
        ("2022-01-31T12:00:00+01", "2022-01-31T11:00:00Z"),
        ("2022-01-31 12:00:00 +01:30", "2022-01-31T10:30:00Z"),
        ("2022-01-31 12:00:00 UTC", "2022-01-31T12:00:00Z"),
        ("2022/01/31 12:00:00z", "2022-01-31T12:00:00Z"),
        ("31.01.2022 12:00", "2022-01-31T12:00:00Z"),
        ("1643630400", "2022-01-31T12:00:00Z"),
        ("1643630400.5", "2022-01-31T12:00:00.500Z"),
        ("1643630400250", "2022-01-31T12:00:00.250Z"),
    ],
)
def test_forms_of_times(tmp_path: Path, text: str, moment: str) -> None:
    path = log(tmp_path, f"Time;Temperature\n{text};4\n")
    assert CsvReplay.check(path).first_ms == parse_rfc3339(moment)


def test_a_zone_for_times_that_name_none(tmp_path: Path) -> None:
    path = log(tmp_path, f"Time,Temperature\n{TIME},4\n2022-01-31T12:00:00Z,5\n")
    replay = CsvReplay.check(path, options(timezone="Europe/Vienna"))
    assert replay.first_ms == parse_rfc3339("2022-01-31T11:00:00Z")
    assert replay.duration_ms == 3_600_000
    assert "1 time is without a zone and read as Europe/Vienna" in replay.contents.notes()
    assert replay.options.text() == "--timezone Europe/Vienna"


@pytest.mark.parametrize(
    ("content", "how", "named"),
    [
        (PLAIN + "# end\n", {}, "line 4: expected a row, got a comment below the header, '# end'"),
        (PLAIN.replace("\n", "\n,°F,%\n", 1), {}, "line 2, column 'Temperature': the row of units"),
        (PLAIN.replace("\n", "\n,°F,%\n", 1), {}, "write --map temperature/degF=Temperature"),
        (PLAIN.replace("\n", "\n,V,%\n", 1), {}, "expected a unit of temperature (Cel, degF, K)"),
        (COMMAS.replace("5,5", "5.5"), {}, "line 3, column 'Temperature': expected the decimal"),
        (COMMAS.replace("4,5", "1.004,5"), {}, "expected a decimal number, got '1.004,5'"),
        (PLAIN.replace("4.5", "4,5"), {}, "a decimal comma needs another --delimiter"),
        (PLAIN.replace(TIME, "01/02/2022 12:00"), {}, "write the year first, got '01/02/2022"),
        (PLAIN.replace(TIME, "12:00:00"), {}, "join date and time of day in one column"),
        (PLAIN.replace(TIME, "2022-01-31"), {}, "join date and time of day in one column"),
        (PLAIN.replace(TIME, "1.64363E+12"), {}, "line 2, column 'Time': expected a time such as"),
        (PLAIN.replace(TIME, "N/A"), {}, "line 2, column 'Time': expected a time such as"),
        (PLAIN.replace(TIME, "2022-01-31 12:00.5"), {}, "expected a time such as"),
        (PLAIN.replace(TIME, SPRING), {"timezone": "Europe/Vienna"}, "which it has never"),
        (PLAIN.replace(TIME, AUTUMN), {"timezone": "Europe/Vienna"}, "which it has twice"),
        (PLAIN.replace(TIME, "12.5"), {}, "names no moment: write date and time of day into each"),
        (PLAIN.replace(TIME, "44592"), {}, "a spreadsheet's days, names no moment"),
        (PLAIN + PLAIN, {}, "line 4: expected a row, got the header again"),
        (PLAIN.replace("4.5", '"4.5'), {}, "got a quote that is not closed: a row is one line"),
        (PLAIN.replace("Time,", "Time,°,").encode("latin-1"), {}, "iconv -f WINDOWS-1252 -t UTF-8"),
        (PLAIN + "\0" * 99, {}, "line 4: expected text, got NUL bytes, as a power cut leaves them"),
        (PLAIN.replace("4.5", "ERR"), {}, "got 'ERR': make the cell empty, or N/A, if it stands"),
        (PLAIN.replace("\n", "\r"), {}, "line 1: expected lines that end with LF or CR LF"),
        ("<gpx><trk/></gpx>\n", {}, "expected CSV, got XML: a GPX track goes to --track"),
        (PLAIN.encode("utf-16-le"), {}, "UTF-16 needs its byte order mark"),
        (PLAIN.encode("utf-16")[:-1], {}, "line 3: expected UTF-16, as the byte order mark says"),
        ("x".encode("utf-16") * 40_000, {}, "expected at most"),
    ],
)
def test_a_form_that_is_refused(
    tmp_path: Path, content: str | bytes, how: dict[str, str], named: str
) -> None:
    with pytest.raises(RejectedError) as caught:
        CsvReplay.check(log(tmp_path, content), options(**how))
    assert named in str(caught.value)
    assert str(caught.value).count(", got ") <= 1


@pytest.mark.parametrize("zone", ["Europe", "Nowhere/City", "../etc/passwd", ""])
def test_a_zone_that_does_not_exist(
    zone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["check", str(log(tmp_path, PLAIN)), "--timezone", zone])
    assert caught.value.code == 2
    assert "expected a time zone of the IANA database" in capsys.readouterr().err
