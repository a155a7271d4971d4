"""deploy/monitoring: rules, routes and dashboard are well-formed, and every alert has a runbook."""

import re
import shutil
from pathlib import Path
from typing import Final

import pytest
import yaml

from support.project.alerts import FOLDER, alerts, dashboard, metrics_of, panel_expressions, tool
from support.project.pages import ROOT

RUNBOOKS: Final = ROOT / "docs" / "runbooks.md"
NAMES: Final = [each["alert"] for each in alerts()]
SEVERITIES: Final = {"page": "pager", "ticket": "tickets", "watchdog": "dead-mans-switch"}


@pytest.fixture(scope="module", autouse=True)
def has_tools() -> None:
    assert shutil.which("promtool"), "scripts/packages prometheus"
    assert shutil.which("amtool"), "scripts/packages prometheus-alertmanager"


def test_prometheus_takes_the_configuration(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "etc")
    (tmp_path / "etc" / "wayseal.token").write_text("token")
    checked = tool("promtool", "check", "config", tmp_path / "etc" / "prometheus.yml")
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout


def test_each_alert_fires_and_is_quiet_as_its_tests_say() -> None:
    tested = tool("promtool", "test", "rules", FOLDER / "rules_test.yml")
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_each_alert_has_a_test_that_fires_and_one_that_does_not() -> None:
    tests = yaml.safe_load((FOLDER / "rules_test.yml").read_text("utf-8"))["tests"]
    fires: set[str] = set()
    quiet: set[str] = set()
    for each in tests:
        for case in each["alert_rule_test"]:
            (fires if case["exp_alerts"] else quiet).add(case["alertname"])
    assert fires == set(NAMES)
    assert quiet == set(NAMES) - {"Watchdog"}  # which always fires


def test_alertmanager_sends_each_severity_to_its_receiver() -> None:
    file = FOLDER / "alertmanager.yml"
    checked = tool("amtool", "check-config", file)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    for severity, receiver in SEVERITIES.items():
        words = ("amtool", "config", "routes", "test", f"--config.file={file}")
        assert tool(*words, f"severity={severity}").stdout.strip() == receiver
    assert {each["labels"]["severity"] for each in alerts()} == set(SEVERITIES)


def test_names_of_alerts_in_alertmanager_s_rules_exist() -> None:
    text = (FOLDER / "alertmanager.yml").read_text("utf-8")
    assert set(re.findall(r'alertname!?="(\w+)"', text)) <= set(NAMES)


def test_each_alert_has_one_runbook_and_each_runbook_an_alert() -> None:
    assert len(NAMES) == len(set(NAMES))
    sections = re.findall(r"^### (.+)$", RUNBOOKS.read_text("utf-8"), re.MULTILINE)
    assert sections == NAMES
    for each in alerts():
        annotations = each["annotations"]
        assert annotations["runbook"] == f"docs/runbooks.md#{each['alert'].lower()}"
        assert annotations["summary"].endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_a_runbook_says_what_it_means_and_what_to_look_at_and_do(name: str) -> None:
    section = RUNBOOKS.read_text("utf-8").split(f"\n### {name}\n", 1)[1]
    section = re.split(r"^##", section, maxsplit=1, flags=re.MULTILINE)[0].lower()
    assert [word for word in ("**means:**", "**look at**", "do:**") if word not in section] == []


def test_silence_is_told_for_every_job() -> None:
    """A target that is gone has no metrics, so that no other alert about it can fire."""
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
    jobs = [each["job_name"] for each in config["scrape_configs"]]
    expressions = [each["expr"] for each in alerts()]
    for job in jobs:
        if job.startswith("wayseal-"):
            assert f'up{{job="{job}"}} == 0' in expressions
            assert f'absent(up{{job="{job}"}})' in expressions


def test_grafana_imports_the_dashboard_for_any_data_source() -> None:
    board = dashboard()
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    assert {each["name"] for each in board["__inputs"]} == {"DS"}
    for panel in board["panels"]:
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${DS}", panel["title"]
            assert panel["targets"], panel["title"]
            # An empty panel must not look as if all were well.
            assert panel["fieldConfig"]["defaults"]["noValue"], panel["title"]
    assert board["schemaVersion"] >= 37


def test_each_expression_of_the_dashboard_is_promql() -> None:
    for expression in panel_expressions():
        assert metrics_of(expression), expression
    with pytest.raises(ValueError, match="end of input"):
        metrics_of("rate(wayseal_connections[5m")
