"""The second verifier says what the first one says, in a real browser, from a file, offline."""

import base64
import io
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from contracts.evidence.container import Part
from contracts.evidence.report import as_json
from contracts.evidence.verify import verify_evidence
from support.evidence.chain import evidence_of, frame_starts, trust_in
from support.machine.browser import Page, browser
from support.network.world import Trip, reading, registrations
from support.verifier.cases import PUBLISHED, Case, path_of, told, trust_of
from support.verifier.lively import Lively
from support.verifier.page import asked, shown
from support.verifier.unshown import unshown

pytestmark = pytest.mark.e2e

TABLE: Final[dict[str, Any]] = json.loads((PUBLISHED / "vectors.json").read_text("utf-8"))
OUTCOME: Final = ("exit", "verdict", "problems")
SEALED_STEP: Final = 5
STEP: Final = 41
"""Of this many changes one is tried here, over all parts eight times fewer."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield shown(tab)


@pytest.mark.parametrize("number", range(len(TABLE["cases"])))
def test_each_file_of_the_table(page: Page, number: int) -> None:
    case = TABLE["cases"][number]
    accept = case.get("accept_format_1", False)
    (found,) = asked(page, path_of(case["file"]).read_bytes(), case["trust"], [{}], accept=accept)
    assert found == {name: case[name] for name in OUTCOME}, case["file"]


READ: Final = """(async (wire, trust) => {
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const [file, keys] = [wire, trust].map((text) => new Blob([bytes(text)]));
  const told = await waysealVerify({ file, trust: keys });
  return told.verdict !== "not-checked";
})"""


def test_each_trust_file_of_the_table(page: Page) -> None:
    wire = json.dumps(base64.b64encode(path_of("small").read_bytes()).decode())
    for row in TABLE["trust_files"]:
        trust = json.dumps(base64.b64encode(bytes.fromhex(row["hex"])).decode())
        assert page.value(f"{READ}({wire}, {trust})") is row["read"], row["what"]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 112))
def test_random_worlds_in_which_anything_is_said(page: Page, seed: int) -> None:
    """What the rules took, and every fourth batch that they refused."""
    world = Lively(seed)
    for evidence in (*world.evidence, *(each.evidence for each in world.no[::4])):
        wire, trust = evidence.wire(), trust_in(evidence.heads)
        (found,) = asked(page, wire, json.loads(trust.to_json()), [{}])
        assert found == told(Case("lively", wire, trust)), evidence.header.trip_ids


def altered(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the changes that a row of the table stands for."""
    places = range(row["from"], row["to"] + 1)
    if row["how"] == "flip":
        return [{"flip": [at, at % 255 + 1], "sealed": row["sealed"]} for at in places]
    return [{"cut": at, "sealed": row["sealed"]} for at in places]


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=[pytest.mark.long] * (part % 2)) for part in range(8)]
)
def test_altered_bytes_and_cuts(page: Page, part: int) -> None:
    """Each change of the table takes too long here; these are spread over the whole file."""
    small = TABLE["cases"][0]
    wire = path_of(small["file"]).read_bytes()
    todo = [(change, row) for row in TABLE["altered"] for change in altered(row)]
    assert len(todo) > 4 * (len(wire) - 100)
    chosen = todo[part * STEP :: 8 * STEP]
    found = asked(page, wire, small["trust"], [change for change, _ in chosen])
    wrong = [
        (change, said, row)
        for (change, row), said in zip(chosen, found, strict=True)
        if said != {name: row[name] for name in OUTCOME}
    ]
    assert not wrong, (len(wrong), wrong[:5])


def test_altered_bytes_of_what_validators_signed(page: Page) -> None:
    row = next(each for each in TABLE["cases"] if each["file"] == "network-sealed")
    wire, trust = path_of(row["file"]).read_bytes(), trust_of(json.dumps(row["trust"]))
    kind, start, end = list(frame_starts(wire))[-2]
    assert kind == Part.SEALED_HEADER
    places = range(start - 5, end, SEALED_STEP)
    changes: list[dict[str, Any]] = [{"flip": [at, at % 255 + 1], "sealed": True} for at in places]
    expected = [told(Case(row["file"], wire, trust, change)) for change in changes]
    assert not any(each["exit"] == 0 for each in expected)
    assert asked(page, wire, row["trust"], changes) == expected


@pytest.mark.parametrize("forged", [None, 150, 398])
def test_a_key_that_signs_often(page: Page, forged: int | None) -> None:
    """After so many signatures of one key the page adds points by tables, for many at once."""
    trip = Trip()
    readings = [trip.record(reading(number)) for number in range(400)]
    if forged is not None:
        readings[forged].header_signature = trip.signer.sign(b"something else")
    signed = trip.batches([trip.sign(trip.start), *readings, trip.seal()], 100)
    evidence = evidence_of([registrations(), signed], [trip.trip_id])
    wire, trust = evidence.wire(), trust_in(evidence.heads)
    (found,) = asked(page, wire, json.loads(trust.to_json()), [{}])
    assert found == told(Case("often", wire, trust))
    assert found["problems"] == ([] if forged is None else [[3]])


STORY: Final = """(async (wire, trust) => {
  const bytes = Uint8Array.from(atob(wire), (c) => c.charCodeAt(0));
  const told = await waysealVerify({ file: new Blob([bytes]), trust: new Blob([trust]) });
  return { keys: told.keys, ledger: told.ledger, trips: told.trips, recordings: told.recordings };
})"""
TOLD: Final = (
    *("remarks", *(f"remarks-by-chance-{seed}" for seed in range(4)), "world-0", "lively-0"),
    *("times-proved", "nodes-as-they-are", "packed-known", "film-two", "network-sealed"),
    *("breaches-many", "signed-by-a-stranger"),
)
"""Files of which both verifiers must tell the same story, as far as the page tells it."""


def check_same(ours: object, theirs: object, where: str) -> None:
    """Compare what the page tells, member by member; it may tell less."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in ours.keys() & theirs.keys():
            check_same(ours[name], theirs[name], f"{where}.{name}")
    elif isinstance(ours, list) and isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for mine, other in zip(_sorted(ours), _sorted(theirs), strict=True):
            check_same(mine, other, f"{where}[]")
    else:
        assert ours == theirs, where


def _sorted(items: list[Any]) -> list[Any]:
    """Put breaches in order of time: the page has them by address."""
    if items and isinstance(items[0], dict) and "since_corrected" in items[0]:
        return sorted(
            items,
            key=lambda each: (
                each["first_sequence"],
                each["device_id"],
                each["quantity"],
                each["delivery_id"],
            ),
        )
    return items


@pytest.mark.parametrize("name", TOLD)
def test_the_page_tells_what_the_first_verifier_tells(page: Page, name: str) -> None:
    wire = path_of(name).read_bytes()
    trust = next(each["trust"] for each in TABLE["cases"] if each["file"] == name)
    wire64 = json.dumps(base64.b64encode(wire).decode())
    found = page.value(f"{STORY}({wire64}, {json.dumps(json.dumps(trust))})")
    verdict = verify_evidence(io.BytesIO(wire), trust_of(json.dumps(trust)), [])
    check_same(found, as_json(verdict), name)
    assert {"holds", "findings", "tampers"} <= found["trips"][0].keys()


def test_trips_are_told_in_the_order_of_their_starts(page: Page) -> None:
    """A header may name them in another order, as another exporter's does."""
    first, second = (Trip(nonce=bytes([at]) * 16) for at in (2, 1))
    groups = [each.whole([reading(0)]) for each in (first, second)]
    for named in ([first, second], [second, first]):
        evidence = evidence_of([registrations(), *groups], [each.trip_id for each in named])
        wire, trust = evidence.wire(), trust_in(evidence.heads).to_json()
        wire64 = json.dumps(base64.b64encode(wire).decode())
        found = page.value(f"{STORY}({wire64}, {json.dumps(trust)})")
        told_by_command = as_json(verify_evidence(io.BytesIO(wire), trust_of(trust), []))
        for each in (found, told_by_command):
            assert [trip["trip_id"] for trip in each["trips"]] == [first.trip_id, second.trip_id]


def test_the_page_asks_for_nothing(page: Page) -> None:
    shown(page)
    asked(page, path_of("small").read_bytes(), TABLE["cases"][0]["trust"], [{}])
    sent = [each for each in page.asked_for if not each.startswith(("file:", "data:", "blob:"))]
    assert sent == []
    assert page.complaints == []
    tried = page.value("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    assert tried == "refused"


CHOOSE: Final = """(async (wire, trust) => {
  const put = (id, name, data) => {
    const files = new DataTransfer();
    files.items.add(new File([data], name));
    const input = document.getElementById(id);
    input.files = files.files;
    input.dispatchEvent(new Event("change"));
  };
  put("evidence", "trip.evidence", Uint8Array.from(atob(wire), (c) => c.charCodeAt(0)));
  if (trust) put("trust", "keys.json", trust);
  document.getElementById("verify").click();
  const status = document.getElementById("status");
  await new Promise((done) => {
    const look = () => status.textContent.includes("below") && done();
    new MutationObserver(look).observe(status, { childList: true });
    look();
  });
  return [document.getElementById("verdict").textContent,
          document.getElementById("result").innerText,
          document.documentElement.scrollWidth <= innerWidth];
})"""


@pytest.mark.parametrize("width", [1280, 390])
def test_files_are_chosen_and_the_verdict_is_read(page: Page, width: int) -> None:
    case = next(each for each in TABLE["cases"] if each["file"] == "rich")
    wire = json.dumps(base64.b64encode(path_of("rich").read_bytes()).decode())
    trust = json.dumps(json.dumps(case["trust"]))
    shown(page, width=width, dark=width < 600)
    title, text, fits = page.value(f"{CHOOSE}({wire}, null)")
    assert (title, fits) == ("Unanchored", True)
    assert "anyone could have made it" in text
    shown(page, width=width, dark=width < 600)
    title, text, fits = page.value(f"{CHOOSE}({wire}, {trust})")
    assert (title, fits) == ("Holds", True)
    assert "temperature" in text
    assert "2 breaches, 0 tamper events" in text
    assert "1 breach, 0 tamper events" in text
    assert page.complaints == []


def test_what_was_not_there_is_not_said_to_hold(page: Page) -> None:
    """No leaf hashes, no video, replayed readings, a key revoked later, and nothing of the lots."""
    told = unshown()
    wire = json.dumps(base64.b64encode(told.wire()).decode())
    trust = json.dumps(trust_in(told.heads).to_json())
    shown(page)
    title, _, _ = page.value(f"{CHOOSE}({wire}, {trust})")
    assert title == "Holds"
    text = page.value("document.getElementById('result').textContent")
    for said in (
        "the file has no leaf hashes",
        "the file has no video",
        "0 of 1 blobs are in the file",
        "1 of 2 readings were replayed or shifted",
        "which is revoked by now",
        "the file was exported without lots",
        "Whether agreed limits were kept",
    ):
        assert said in text, said
