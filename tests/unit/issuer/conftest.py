"""An issuer in a thread, and settings that name it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.oidcsettings import OidcSettings
from gateway.people.oidc.issuer import OidcIssuer
from support.gateways.issuers import ADDRESS, Attempt, FakeIssuer, fake_issuer, settings_for


@pytest.fixture
def fake() -> Iterator[FakeIssuer]:
    with fake_issuer() as made:
        made.person["groups"] = ["quality"]
        yield made


@pytest.fixture
def settings(fake: FakeIssuer, tmp_path: Path) -> OidcSettings:
    return settings_for(fake, tmp_path)


@pytest.fixture
def attempt(fake: FakeIssuer, settings: OidcSettings) -> Attempt:
    return Attempt(fake, OidcIssuer(settings, ADDRESS))
