"""One site, one trip and one browser for the tests of all pages.

They take 9 s to start, so `make test` gives this folder to one process (tests/conftest.py).
"""

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, StorageState

from demo.appliance import Appliance
from demo.auditor import Auditor
from demo.truck import Truck
from gateway.settings_file import load_settings
from support.gateways.pages import Scene
from support.machine.pages import Visit, chromium, visit


@pytest.fixture(scope="package")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    directory = tmp_path_factory.mktemp("pages")
    appliance = Appliance(directory / "site-b")
    try:
        appliance.start()
        appliance.register_network()
        truck = Truck(directory / "truck", "truck-7")
        truck.join(appliance)
        trip_id = truck.ask("record", "--simulate", "--seed", "1")["trip"]
        truck.ask("offload")
        appliance.hand_over(trip_id)
        operator, auditor = (appliance.token(role, role) for role in ("operator", "auditor"))
        with closing(Auditor(appliance.rest, operator)) as asker:
            delivery_id = asker.ask(f"/v1/trips/{trip_id}")["delivery_ids"][0]
        trust, data = appliance.trust_file(), load_settings(appliance.settings_file).data
        yield Scene(appliance.rest, trip_id, delivery_id, operator, auditor, trust, data)
    finally:
        appliance.stop()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="package")
def kept(browser: Browser, scene: Scene) -> StorageState:
    """Return what the browser of an operator keeps who has signed in."""
    with visit(browser, scene.base) as made:
        made.sign_in(scene.operator)
        return made.page.context.storage_state()


@pytest.fixture(scope="package")
def signed_in(browser: Browser, scene: Scene, kept: StorageState) -> Iterator[Visit]:
    with visit(browser, scene.base, kept=kept) as made:
        yield made


@pytest.fixture
def operator(signed_in: Visit) -> Iterator[Visit]:
    """Yield the one page of an operator; each test goes where it looks, and changes no session."""
    signed_in.said.clear()
    yield signed_in
    signed_in.page.unroute_all(behavior="wait")  # an answer that a test changes may be on its way


@pytest.fixture
def board(operator: Visit) -> Visit:
    """Return the operator's page at the board."""
    operator.page.goto(operator.base)
    return operator


@pytest.fixture(scope="package")
def trip(signed_in: Visit, scene: Scene) -> Iterator[Page]:
    """Yield a tab with the trip, loaded once; a test may move its moment, and changes no more."""
    page = signed_in.page.context.new_page()
    page.goto(scene.trip)
    yield page
    page.close()
