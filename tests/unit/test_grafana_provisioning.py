"""What docker-compose.yml's profile `monitoring` gives Grafana, whose image cannot be had here."""

import json
from pathlib import Path
from typing import Any, Final

import yaml

from support.project.alerts import FOLDER

CONTAINERS: Final = FOLDER / "containers"


def services() -> dict[str, Any]:
    told = yaml.safe_load((CONTAINERS / "compose.yml").read_text("utf-8"))["services"]
    assert isinstance(told, dict)
    return told


def mounted(service: dict[str, Any], target: str) -> Path:
    """Return the file or folder that a service has at a path."""
    places = (volume.split(":")[:2] for volume in service["volumes"] if isinstance(volume, str))
    return (CONTAINERS / {there: here for here, there in places}[target]).resolve()


def test_the_data_source_is_prometheus_as_the_dashboard_asks() -> None:
    grafana, prometheus = services()["grafana"], services()["prometheus"]
    file = mounted(grafana, "/etc/grafana/provisioning/datasources/wayseal.yml")
    told = yaml.safe_load(file.read_text("utf-8"))
    (source,) = told["datasources"]
    assert told["apiVersion"] == 1
    assert source["url"] == "http://prometheus:9090"
    assert f"127.0.0.1:9090:{source['url'].rpartition(':')[2]}" in prometheus["ports"]
    assert set(grafana["networks"]) & set(prometheus["networks"])
    dashboard = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
    (variable,) = (each for each in dashboard["templating"]["list"] if each["type"] == "datasource")
    assert variable["query"] == source["type"]
    assert source["isDefault"]


def test_the_dashboard_is_in_the_folder_that_grafana_reads() -> None:
    grafana = services()["grafana"]
    file = mounted(grafana, "/etc/grafana/provisioning/dashboards/wayseal.yml")
    told = yaml.safe_load(file.read_text("utf-8"))
    (provider,) = told["providers"]
    assert told["apiVersion"] == 1
    assert provider["type"] == "file"
    assert (mounted(grafana, provider["options"]["path"]) / "grafana.json").is_file()


def test_the_password_is_where_it_is_made() -> None:
    told, init = services(), (CONTAINERS / "init.sh").read_text("utf-8")
    folder, _, name = told["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD__FILE"].rpartition(
        "/"
    )
    assert f"cd {folder}\n" in init
    assert f"mv {name}.new {name}\n" in init
    assert f"monitoring-token:{folder}" in told["monitoring-init"]["volumes"]
