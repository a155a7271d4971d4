"""Who may see what, which trucks wait to be admitted, and the blocks, asked of a real gateway."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest

from contracts.keys import Signer
from contracts.records.clock import now_ms, parse_rfc3339
from gateway.access import Role, Tokens
from gateway.grants import parse_grants
from gateway.people.persons import Persons
from gateway.pki.claims import ClaimCodes
from gateway.pki.unregistered import Unregistered
from gateway.settings import Settings
from gateway.settings_file import load_settings
from support.gateways.passwords import cheap_passwords
from support.trucks.rogue import Site, running_site

pytestmark = pytest.mark.integration

DAY_MS: Final = 86_400_000
PASSWORD: Final = "a sentence of my own"  # noqa: S105 - of nobody


@dataclass
class Scene:
    site: Site
    settings: Settings

    def items(self, path: str) -> list[dict[str, Any]]:
        answer = self.site.operator.get(path)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["items"]
        return found


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with running_site(tmp_path_factory.mktemp("admissions")) as site:
        yield Scene(site, load_settings(site.appliance.settings_file))


def test_an_operator_sees_who_may_see_what_and_until_when(scene: Scene) -> None:
    ends = now_ms() + DAY_MS
    grants = parse_grants(["party:buyer", "lot:00012345678905/L42"])
    token = Tokens(scene.settings.tokens_file).add("insurer", Role.AUDITOR, ends, grants)
    Tokens(scene.settings.tokens_file).add("truck-9", Role.DEVICE)
    with cheap_passwords():
        Persons(scene.settings.people_file).add("inspector", Role.AUDITOR, PASSWORD)
    found = {(each["kind"], each["name"]): each for each in scene.items("/v1/grants")}
    insurer = found["token", "insurer"]
    assert insurer["grants"] == ["lot:00012345678905/L42", "party:buyer"]
    assert parse_rfc3339(insurer["expires"]) == ends
    assert insurer["ended"] is False
    assert found["person", "inspector"]["grants"] is None
    assert ("token", "truck-9") not in found, "a truck sees nothing of the ledger"
    told = json.dumps(list(found.values()))
    assert token not in told
    assert "sha256" not in told
    assert "argon2" not in told


def test_what_has_ended_says_so_and_what_is_revoked_is_gone(scene: Scene) -> None:
    tokens = Tokens(scene.settings.tokens_file)
    tokens.add("late", Role.AUDITOR, now_ms() - 1)
    assert [each["ended"] for each in scene.items("/v1/grants") if each["name"] == "late"] == [True]
    tokens.revoke(["late"])
    assert "late" not in {each["name"] for each in scene.items("/v1/grants")}


def test_an_operator_sees_claim_codes_and_the_keys_of_trucks_that_wait(scene: Scene) -> None:
    assert scene.items("/v1/enrolments") == []
    code, ends_ms = ClaimCodes(scene.settings.claims_file).make("truck-12", 24)
    key = Signer.generate().public_key
    Unregistered(scene.settings.waiting_file).add("truck-11", key)
    waits, coded = scene.items("/v1/enrolments")
    assert (waits["device_id"], waits["state"]) == ("truck-11", "key-waits")
    assert (waits["public_key"], waits["expires"]) == (key, None)
    assert (coded["device_id"], coded["state"]) == ("truck-12", "code-open")
    assert (coded["public_key"], parse_rfc3339(coded["expires"])) == (None, ends_ms)
    assert code not in json.dumps([waits, coded])
    page = scene.site.operator.get("/v1/enrolments?limit=1").json()
    rest = scene.site.operator.get(f"/v1/enrolments?cursor={page['next_cursor']}").json()
    assert [*page["items"], *rest["items"]] == [waits, coded]


def test_a_damaged_file_of_claims_is_one_clear_answer(scene: Scene) -> None:
    kept = scene.settings.claims_file.read_bytes()
    scene.settings.claims_file.write_bytes(b"{")
    try:
        answer = scene.site.operator.get("/v1/enrolments")
    finally:
        scene.settings.claims_file.write_bytes(kept)
    assert answer.status_code == 503
    assert "claim codes" in answer.json()["detail"]


def test_blocks_are_listed_with_time_and_size_and_lead_to_the_first(scene: Scene) -> None:
    ledger = httpx.get(f"{scene.site.appliance.ledger}/blocks?limit=1000", trust_env=False).json()
    scene.site.await_index()
    newest = scene.items("/v1/blocks?order=newest")
    assert newest == scene.items("/v1/blocks")[::-1]
    numbers = [each["block_num"] for each in newest]
    assert numbers == list(range(len(newest)))[::-1]
    status = scene.site.operator.get("/v1/status").json()
    assert newest[0]["block_id"] == status["index_block_id"]
    theirs = {each["header_signature"]: each for each in ledger["data"]}
    for each in newest:
        header = theirs[each["block_id"]]["header"]
        assert each["batches"] == len(header["batch_ids"])
        assert each["signer_public_key"] == header["signer_public_key"]
        assert each["at"] is None or abs(parse_rfc3339(each["at"]) - now_ms()) < DAY_MS
    assert newest[0]["at"] is not None


@pytest.mark.parametrize("path", ["/v1/grants", "/v1/enrolments"])
def test_an_auditor_sees_neither_grants_nor_enrolments(scene: Scene, path: str) -> None:
    assert scene.site.client("auditor", "auditor").get(path).status_code == 403


def test_a_reader_with_grants_sees_no_blocks(scene: Scene) -> None:
    granted = Tokens(scene.settings.tokens_file).add(
        "guest", Role.AUDITOR, grants=parse_grants(["party:buyer"])
    )
    headers = {"Authorization": f"Bearer {granted}"}
    answer = httpx.get(f"{scene.site.appliance.rest}/v1/blocks", headers=headers, trust_env=False)
    assert answer.status_code == 403
    assert scene.site.client("auditor", "auditor").get("/v1/blocks").status_code == 200
