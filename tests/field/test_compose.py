"""Containers, as docs/containers.md tells it: from a checkout to evidence that is judged."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from support.containers.engine import Engine, engine
from support.containers.page import checkout, section, type_lines
from support.containers.standins import VARIABLES, provide
from support.containers.tools import docker_compose
from support.machine.waiting import wait_until
from support.project.pages import ROOT

pytestmark = pytest.mark.field

FIRST: Final = "One machine"
HOLDS: Final = "verdict: holds; every chain of signatures ends in a key you trust"
ALL_BLOBS: Final = "12 of 12 blobs checked"
ONLY_OUTSIDE: Final = "scripts/wheels"
PROMETHEUS: Final = "http://127.0.0.1:9090/api/v1"
ALERTMANAGER: Final = "http://127.0.0.1:9093/api/v2"
REGISTERED: Final = "registered a processor for wayseal 1.0"
FIRES_WITHIN_S: Final = 300.0
ASKED_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Machine:
    """An engine, and a checkout beside it."""

    running: Engine
    there: Path

    def typed(self, lines: list[str]) -> str:
        """Type lines of the page; the engine's network leads nowhere."""
        assert ONLY_OUTSIDE not in lines
        return type_lines(self.running, self.there, lines)

    def compose(self, *words: str) -> str:
        return self.running.compose(*words, cwd=self.there)

    def asked(self, url: str) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON that a published port of the engine answers."""
        return json.loads(self.running.run("curl", "--silent", "--show-error", "--fail", url))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Collect the wheels, and build the images without a network."""
    there = checkout(tmp_path_factory.mktemp("containers"))
    wheels, build, *_ = section(FIRST)
    assert wheels == ONLY_OUTSIDE
    subprocess.run([there / wheels], check=True, cwd=there)  # noqa: S603 - our own script
    with engine(VARIABLES) as running:
        provide(running, "python", "mosquitto", "cassandra", "prometheus", "alertmanager")
        provide(running, "cometbft")
        machine = Machine(running, there)
        machine.typed([build])
        yield machine


@pytest.fixture
def machine(built: Machine) -> Iterator[Machine]:
    yield built
    built.running.forget_containers()


@pytest.mark.parametrize(
    "profile", ["embedded", "site", "network", "sawtooth", "poet", "monitoring", "tools"]
)
def test_compose_accepts_each_profile(profile: str) -> None:
    words = ("--profile", profile, "config", "--services")
    done = subprocess.run(  # noqa: S603 - arguments of ours
        [docker_compose(), *words], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout
    assert not done.stderr


def test_one_machine_as_the_page_tells_it(machine: Machine) -> None:
    _, _, *lines, down = section(FIRST)
    assert down == "docker compose down"
    said = machine.typed(lines)
    assert HOLDS in said
    assert ALL_BLOBS in said
    check_confined(machine.running, 2)
    check_the_ledger_is_closed(machine)
    check_a_second_start(machine)
    machine.typed([down])
    assert not machine.running.run("docker", "ps", "--all", "--quiet")


def check_confined(running: Engine, count: int) -> None:
    """No container has rights that it does not need, and no other machine reaches one."""
    names = running.run("docker", "ps", "--quiet").split()
    assert len(names) == count
    for each in json.loads(running.run("docker", "inspect", *names)):
        host = each["HostConfig"]
        assert each["Config"]["User"] == "10001:10001"
        assert host["ReadonlyRootfs"]
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges:true"]
        assert host["Memory"]
        assert host["PidsLimit"]
        assert host["NanoCpus"]
        assert {port["HostIp"] for ports in host["PortBindings"].values() for port in ports} <= {
            "127.0.0.1"
        }


def check_the_ledger_is_closed(machine: Machine) -> None:
    """Nobody reads it in plain text, and only a certificate opens it."""
    with pytest.raises(AssertionError):
        machine.asked("http://127.0.0.1:8008/blocks")
    words = ("curl", "--silent", "--insecure", "--output", "/dev/null", "--write-out")
    told = machine.running.run(*words, "%{http_code}", "https://127.0.0.1:8008/blocks")
    assert told == "403"


def check_a_second_start(machine: Machine) -> None:
    """The ledger and the gateway's key outlive the containers."""
    before = told(machine, "trust"), told(machine, "key")
    machine.compose("down")
    machine.compose("up", "--detach", "--wait")
    assert (told(machine, "trust"), told(machine, "key")) == before


def told(machine: Machine, command: str) -> object:
    words = ("exec", "--no-TTY", "gateway", "wayseal-gateway", command)
    return json.loads(machine.compose(*words))


def test_a_site_as_the_page_tells_it(machine: Machine) -> None:
    """mosquitto over TLS and Cassandra over mutual TLS, with the lines of the first section."""
    lines = section("A site")
    end = lines.index("docker compose run --rm --no-TTY site-init < /dev/null")
    said = machine.typed([*lines[:end], *trip_and_evidence()])
    assert HOLDS in said
    assert ALL_BLOBS in said
    machine.typed([lines[1], *lines[end:], "docker compose up --detach --wait"])
    check_confined(machine.running, 4)
    machine.typed([without_grafana("site")])
    check_watched(machine, "https://site-gateway:8080/metrics")


def trip_and_evidence() -> list[str]:
    """Return the lines of the first section from the parties to the evidence."""
    first = section(FIRST)
    begin = next(each for each in first if each.startswith("DAIRY_KEY="))
    return first[first.index(begin) : first.index("mkdir -p build/ledger")]


def test_three_sites_as_the_page_tells_it(machine: Machine) -> None:
    """Three nodes of Cassandra, four validators: what one site took, another one exports."""
    network = section("A network on one machine")
    away = network.index("docker compose kill node-4")
    lines = [*network[:away], *trip_and_evidence()]
    other = [
        'gateway() { docker compose exec --no-TTY gateway-c wayseal-gateway "$@" < /dev/null; }',
        "TOKEN=$(gateway token auditor --role auditor | jq -r .token) SITE=http://127.0.0.1:8083",
        *(line for line in lines if "/v1/evidence?" in line or "verify trip.evidence" in line),
    ]
    said = machine.typed([*lines, *other])
    assert said.count(HOLDS) == 2
    assert said.count(ALL_BLOBS) == 2
    trust = json.loads(machine.compose("exec", "--no-TTY", "gateway-a", "wayseal-gateway", "trust"))
    assert len(trust["network"]["validators"]) == 4
    check_confined(machine.running, 10)
    machine.typed([network[1], network[away]])
    check_three_of_four_go_on(machine)
    machine.typed([network[1], *network[away + 1 :]])
    check_confined(machine.running, 10)


def check_three_of_four_go_on(machine: Machine) -> None:
    """What one validator takes, another one knows."""
    other = ("-e", "WAYSEAL_LEDGER__URL=https://node-3:8008")
    run, party = ("run", "--rm", "--no-TTY"), ("party", "--key")
    key = json.loads(machine.compose(*run, *party, "late.key", "make-key"))["public_key"]
    late = ("register-party", "late", "--name", "Late", "--public-key", key, "--role", "seller")
    machine.compose(*run, *party, "admin.key", *late)
    site = ("register-site", "late-dock", "--party", "late", "--name", "Its dock")
    machine.compose(*run, *other, *party, "late.key", *site)


def test_monitoring_tells_of_a_gateway_that_stopped(machine: Machine) -> None:
    """The rules are the site's, with the times that they have there."""
    machine.typed([without_grafana("embedded")])
    check_watched(machine, "http://gateway:8080/metrics")
    check_rules(machine)
    check_confined(machine.running, 4)
    assert "GatewayDown" not in alerts(machine)
    machine.compose("stop", "gateway")
    wait_until(
        lambda: alerts(machine).get("GatewayDown") == "dock-b", FIRES_WITHIN_S, ASKED_EVERY_S
    )
    machine.compose("start", "gateway")
    wait_until(lambda: "GatewayDown" not in alerts(machine), FIRES_WITHIN_S, ASKED_EVERY_S)


def test_sawtooth_s_scripts_and_our_processor_run_in_their_containers(machine: Machine) -> None:
    """Our node is in the validator's place: no image of Sawtooth's can be had here."""
    wheels, build, *_ = section("Sawtooth")
    subprocess.run([machine.there / wheels.split()[0], "processor"], check=True, cwd=machine.there)  # noqa: S603 - our own script
    machine.typed([build.removesuffix("build") + "build wayseal-tp-0"])
    provide(machine.running, "validator")
    up = ("up", "--detach", "--wait", "validator-0", "wayseal-tp-0")
    machine.compose("--profile", "sawtooth", *up)
    wait_until(lambda: log(machine, "validator-0").count(REGISTERED) == 1)
    machine.compose("--profile", "sawtooth", "restart", "validator-0")
    wait_until(lambda: log(machine, "validator-0").count(REGISTERED) == 2)
    assert "ready connect=tcp://validator-0:4004" in log(machine, "wayseal-tp-0")


def log(machine: Machine, service: str) -> str:
    return machine.compose("--profile", "sawtooth", "logs", "--no-log-prefix", service)


def test_monitoring_refuses_to_watch_nothing(machine: Machine) -> None:
    with pytest.raises(AssertionError, match="expected the service gateway or site-gateway"):
        machine.compose("--profile", "monitoring", "run", "--rm", "--no-TTY", "monitoring-init")


def without_grafana(profile: str) -> str:
    """Return the page's line that starts monitoring beside a profile, without Grafana's image."""
    (line,) = (each for each in section("Monitoring") if each.endswith(" alertmanager"))
    assert "--profile embedded" in line
    return line.replace("--profile embedded", f"--profile {profile}")


def check_watched(machine: Machine, gateway: str) -> None:
    """Every target of Prometheus is up, and it has a way to Alertmanager."""
    expected = {
        ("wayseal-gateway", gateway): "up",
        ("wayseal-node", "https://node:8008/metrics"): "up",
        ("prometheus", "http://127.0.0.1:9090/metrics"): "up",
    }
    wait_until(lambda: targets(machine) == expected)
    wait_until(lambda: len(managers(machine)) == 1)


def targets(machine: Machine) -> dict[tuple[str, str], str]:
    active = machine.asked(f"{PROMETHEUS}/targets?state=active")["data"]["activeTargets"]
    return {(each["labels"]["job"], each["scrapeUrl"]): each["health"] for each in active}


def managers(machine: Machine) -> list[Any]:
    return list(machine.asked(f"{PROMETHEUS}/alertmanagers")["data"]["activeAlertmanagers"])


def check_rules(machine: Machine) -> None:
    """Prometheus has evaluated each rule of the file, without an error."""
    file = yaml.safe_load((ROOT / "deploy" / "monitoring" / "rules.yml").read_text("utf-8"))
    names = [rule["alert"] for group in file["groups"] for rule in group["rules"]]
    wait_until(lambda: loaded(machine) == dict.fromkeys(names, "ok"))


def loaded(machine: Machine) -> dict[str, str]:
    groups = machine.asked(f"{PROMETHEUS}/rules?type=alert")["data"]["groups"]
    return {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}


def alerts(machine: Machine) -> dict[str, str | None]:
    """Return the sites of the alerts that Alertmanager has, by their names."""
    told = machine.asked(f"{ALERTMANAGER}/alerts?active=true")
    return {each["labels"]["alertname"]: each["labels"].get("site") for each in told}
