"""Sign-in at a known issuer, a process of its own, in a real Chromium; and without the issuer."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from contracts.runtime.checks import Finding
from contracts.runtime.ports import free_port
from demo.appliance import Ports
from gateway.access import Role
from gateway.doctor import issuer as doctor
from gateway.people.persons import Persons
from gateway.settings import Settings
from gateway.settings_file import load_settings
from support.gateways.appliance import QuickAppliance
from support.gateways.issuers import known_issuer
from support.machine.pages import DESK, PHONE, Scheme, Visit, chromium, visit

pytestmark = pytest.mark.e2e

PASSWORD: Final = "a sentence of my own"  # noqa: S105 - of nobody
ANNA: Final = {"sub": "anna", "email": "anna@dairy.example", "groups": ["quality"]}
GUEST: Final = {"sub": "guest", "groups": ["guests"]}
ACCESS: Final = {"quality": {"claim": "groups", "value": "quality", "role": "auditor"}}
LOOKS: Final[list[tuple[tuple[int, int], Scheme]]] = [(PHONE, "dark"), (DESK, "light")]


@dataclass
class Scene:
    """A gateway without a ledger, and the issuer that its settings name."""

    appliance: QuickAppliance
    issuer: str

    @property
    def settings(self) -> Settings:
        return load_settings(self.appliance.settings_file)


def variables(issuer: str, folder: Path, rest: str) -> dict[str, str]:
    secret = folder / "client.secret"
    secret.write_text("known to issuer and gateway alone\n")
    secret.chmod(0o600)
    return {
        "WAYSEAL_DOCUMENTS__ADDRESS": rest,
        "WAYSEAL_OIDC__ISSUER": issuer,
        "WAYSEAL_OIDC__CLIENT_ID": "wayseal",
        "WAYSEAL_OIDC__CLIENT_SECRET_FILE": str(secret),
        "WAYSEAL_OIDC__TITLE": "Dairy Ltd",
        "WAYSEAL_OIDC__ACCESS": json.dumps(ACCESS),
    }


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("issuer")
    made = QuickAppliance(folder / "site-b", Ports(free_port(), free_port(), free_port()))
    with pytest.MonkeyPatch.context() as patch, known_issuer(ANNA, GUEST) as issuer:
        made.variables.update(variables(issuer, folder, made.rest))
        for name, value in made.variables.items():
            patch.setenv(name, value)  # this process reads the settings too
        made.start_gateway()
        try:
            settings = load_settings(made.settings_file)
            Persons(settings.people_file).add("chief", Role.OPERATOR, PASSWORD)
            yield Scene(made, issuer)
        finally:
            made.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


def go_to_issuer(seen: Visit, who: str) -> None:
    """Press the button, and sign in at the issuer."""
    seen.page.get_by_role("button", name="Sign in with Dairy Ltd").click()
    seen.page.get_by_placeholder("sub").fill(who)
    seen.page.get_by_role("button", name="Authorize").click()


def test_a_person_signs_in_at_the_issuer_and_out_again(browser: Browser, scene: Scene) -> None:
    with visit(browser, scene.appliance.rest) as seen:
        seen.page.goto(f"{seen.base}/access?from=here")
        for size, scheme in LOOKS:
            seen.look(size, scheme)
            expect(seen.page.get_by_role("button", name="Sign in with Dairy Ltd")).to_be_visible()
            assert not seen.violations(), (size, scheme)
            assert not seen.is_too_wide(), (size, scheme)
        go_to_issuer(seen, "anna")
        expect(seen.page.get_by_role("heading", name="You")).to_be_visible()
        assert seen.page.url == f"{seen.base}/access?from=here"
        expect(seen.page.get_by_label("You").get_by_text("oidc:anna")).to_be_visible()
        cookies = {each.get("name"): each for each in seen.page.context.cookies()}
        assert cookies["wayseal"].get("httpOnly") is True
        assert "wayseal-signing-in" not in cookies
        assert seen.page.evaluate("document.cookie") == ""
        seen.page.get_by_role("button", name="Sign out").click()
        expect(seen.page.get_by_role("heading", name="Sign in")).to_be_visible()
    log = (scene.appliance.directory / "gateway.log").read_text()
    assert "oidc:anna signs in by the issuer's word, role auditor" in log
    for secret in ("code=", "state=", "known to issuer", cookies["wayseal"].get("value", "")):
        assert secret not in log


def test_who_is_not_let_in_is_told_so_and_has_a_password_still(
    browser: Browser, scene: Scene
) -> None:
    with visit(browser, scene.appliance.rest) as seen:
        seen.page.goto(seen.base)
        go_to_issuer(seen, "guest")
        told = seen.page.get_by_role("alert")
        expect(told).to_contain_text("nobody has let you in here")
        for size, scheme in LOOKS:
            seen.look(size, scheme)
            assert not seen.violations(), (size, scheme)
            assert not seen.is_too_wide(), (size, scheme)
        assert seen.page.url == f"{seen.base}/"  # nothing to say again when it is loaded again
        seen.page.get_by_label("Name", exact=True).fill("chief")
        seen.page.get_by_label("Password", exact=True).fill(PASSWORD)
        seen.page.get_by_role("button", name="Sign in", exact=True).click()
        expect(seen.page.get_by_role("button", name="Sign out")).to_be_visible()
        seen.page.goto(f"{seen.base}/access")
        row = seen.page.get_by_role("row").filter(has_text="oidc:guest")
        expect(row).to_contain_text("stranger")
        expect(row).to_contain_text("nothing")


def diagnosed(settings: Settings, *, offline: bool = False) -> list[Finding]:
    """Return what the doctor finds; in another thread, since Playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: list(doctor.findings(settings, offline=offline))).result()


def test_the_doctor_says_whether_the_issuer_answers(scene: Scene) -> None:
    settings = scene.settings
    (found,) = diagnosed(settings)
    assert (found.severity, found.subject) == ("ok", "oidc.issuer")
    assert f"{scene.appliance.rest}/v1/session/callback" in found.words
    assert not diagnosed(settings, offline=True)
    oidc = settings.oidc.model_copy(update={"issuer": "http://127.0.0.1:9"})
    (found,) = diagnosed(settings.model_copy(update={"oidc": oidc}))
    assert (found.severity, found.subject) == ("warning", "oidc.issuer")
    assert "passwords and tokens" in found.remedy
    secret = settings.oidc.client_secret_file or Path()
    secret.chmod(0o644)
    (found,) = diagnosed(settings, offline=True)
    secret.chmod(0o600)
    assert found.severity == "error"
    assert found.remedy.startswith("chmod 600")


def test_an_issuer_that_is_away_costs_a_sentence(browser: Browser, scene: Scene) -> None:
    """Comes last: the gateway starts again with another issuer, which is not there."""
    scene.appliance.stop()
    scene.appliance.variables["WAYSEAL_OIDC__ISSUER"] = "http://127.0.0.1:9"
    scene.appliance.start_gateway()
    with visit(browser, scene.appliance.rest) as seen:
        seen.page.goto(seen.base)
        seen.page.get_by_role("button", name="Sign in with Dairy Ltd").click()
        expect(seen.page.get_by_role("alert")).to_contain_text("The issuer does not answer")
        expect(seen.page.get_by_label("Password", exact=True)).to_be_visible()
