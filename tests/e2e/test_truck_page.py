"""Step 8 of docs/device.md: the first live trip of a truck, as an auditor sees it in a browser."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import expect

from device.camera.simulated import SimulatedCamera
from support.gateways.appliance import QuickAppliance
from support.machine.pages import chromium, visit
from support.trucks.gps import gpsd
from support.trucks.roaming import READINGS, RoamingTruck
from support.trucks.rogue import running_site, until

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_the_first_live_trip_in_a_browser(tmp_path: Path) -> None:
    film = tmp_path / "dock.avi"
    SimulatedCamera(2).film(film)
    camera = f'[[cameras]]\nname = "dock"\ndriver = "file"\nfile = "{film}"\nsegment_s = 600\n'
    with (
        running_site(tmp_path / "site", QuickAppliance(tmp_path / "site-b")) as site,
        ExitStack() as receiver,
    ):
        yard = RoamingTruck(tmp_path / "card", receiver.enter_context(gpsd()), site, camera)
        with yard.running() as said:
            yard.say("absent")
            until("readings are recorded", lambda: yard.readings() >= READINGS)
            receiver.close()  # unplugged
            until("its loss is told", lambda: yard.sensor("gps") == "lost")
            until("a reading says so", lambda: yard.readings() >= 3 * READINGS)
            trip = yard.ends_whole(site, said)
        with chromium() as browser, visit(browser, site.appliance.rest) as seen:
            seen.sign_in(site.appliance.token("technician", "operator"))
            page = seen.page
            page.goto(f"{site.appliance.rest}/trips/{trip['trip']}")
            seal = page.locator("section", has=page.locator("#seal"))
            expect(seal).to_contain_text("Genuine and complete")
            noticed = page.locator("section", has=page.locator("#noticed"))
            expect(noticed).to_contain_text("Sensor gps is lost")
            events = page.locator("section", has=page.locator("#events"))
            expect(events).to_contain_text("otion")
            video = page.locator("video").first
            expect(video).to_be_visible()
            assert video.evaluate(
                "async film => { film.muted = true; await film.play(); return film.videoWidth }"
            )
            page.screenshot(path=tmp_path / "trip.png", full_page=True)
        assert not seen.said
