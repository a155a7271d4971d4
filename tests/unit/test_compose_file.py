"""docker-compose.yml and what it includes: no service has more rights or room than it needs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.project.pages import ROOT, code_lines

TOP = ROOT / "docker-compose.yml"
MOUNTED = re.compile(r"(\.{1,2}/[\w/.-]+\.(?:sh|toml|ya?ml|xml|properties)):")
PROFILES = {"embedded", "site", "network", "sawtooth", "poet", "monitoring", "tools"}


def files() -> list[Path]:
    return [TOP, *(ROOT / name for name in yaml.safe_load(TOP.read_text("utf-8"))["include"])]


def services() -> Iterator[Any]:
    for path in files():
        for name, service in yaml.safe_load(path.read_text("utf-8"))["services"].items():
            yield pytest.param(service, id=name)


every_service = pytest.mark.parametrize("service", list(services()))


@every_service
def test_a_service_has_no_rights_and_bounded_room(service: dict[str, Any]) -> None:
    assert service["user"] == "10001:10001"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert service["logging"]["options"]["max-size"]
    assert set(service["profiles"]) <= PROFILES


@every_service
def test_a_service_that_goes_on_is_restarted_bounded_in_cpu_and_asked_how_it_is(
    service: dict[str, Any],
) -> None:
    if service["restart"] == "no":
        return
    assert service["cpus"]
    if service.get("ports"):
        assert service["healthcheck"]["test"]


def test_a_gateway_has_ten_times_the_usual_share_of_the_cores() -> None:
    shares = {each.id: each.values[0].get("cpu_shares", 1024) for each in services()}
    gateways = {"gateway", "site-gateway", "gateway-a", "gateway-b", "gateway-c"}
    assert {name for name, share in shares.items() if share == 10 * 1024} == gateways
    assert {share for name, share in shares.items() if name not in gateways} == {1024}


@every_service
def test_an_image_has_a_version_and_ours_are_never_pulled(service: dict[str, Any]) -> None:
    default = service["image"].partition(":-")[2].removesuffix("}")
    _, _, tag = default.partition(":")
    assert tag
    assert tag != "latest"
    assert service["image"].startswith("${")
    if default.startswith("wayseal/"):
        assert service["pull_policy"] == "never"
    else:
        assert default.startswith("docker.io/")


@every_service
def test_ports_are_published_at_loopback_unless_a_site_says_where(service: dict[str, Any]) -> None:
    for port in service.get("ports", []):
        assert port.startswith(("127.0.0.1:", "${SITE_ADDRESS:-127.0.0.1}:"))


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_mounted_is_there(path: Path) -> None:
    """Docker would make a directory in the place of a file that is missing."""
    names = MOUNTED.findall(path.read_text("utf-8"))
    assert names
    for name in names:
        assert (path.parent / name).is_file(), name


def test_a_plain_up_starts_the_profile_for_one_machine() -> None:
    assert "\nCOMPOSE_PROFILES=embedded\n" in (ROOT / ".env").read_text("utf-8")


def test_the_settings_of_cassandra_are_those_of_its_page() -> None:
    page = (ROOT / "docs" / "storage.md").read_text("utf-8")
    told = yaml.safe_load(
        page.split("cassandra.yaml", 1)[1].split("```yaml\n", 1)[1].split("```")[0]
    )
    used = yaml.safe_load((ROOT / "deploy/containers/site/cassandra.yaml").read_text("utf-8"))
    assert told.items() <= used.items()


def test_each_profile_is_on_the_page() -> None:
    text = (ROOT / "docs" / "containers.md").read_text("utf-8")
    assert {name for name in PROFILES if f"`{name}`" not in text} == set()
    assert any("docker compose up" in line for line in code_lines(ROOT / "docs/containers.md"))
