"""A real Prometheus with the project's rules, which watches a gateway and a node."""

import json
import re
import subprocess
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import yaml

from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from support.machine.private import write_private
from support.project.alerts import FOLDER
from support.trucks.rogue import until

STOP_S: Final = 10
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Prometheus:
    """Prometheus by deploy/monitoring, quicker: it asks often, and no alert waits for its `for`.

    Args:
        folder: For its files.
        gateway: HOST:PORT of the gateway.
        token: An operator's there.
        node: HOST:PORT of the node.

    Attributes:
        token_file: The file that it reads the token from at each scrape.
    """

    def __init__(self, folder: Path, gateway: str, token: str, node: str) -> None:
        folder.mkdir()
        self._folder = folder
        self._port = free_port()
        self.token_file = write_private(folder / "wayseal.token", token)
        rules = (FOLDER / "rules.yml").read_text("utf-8")
        (folder / "rules.yml").write_text(re.sub(r"\n        for: \w+", "", rules))
        config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
        config["global"] = {"scrape_interval": "200ms", "evaluation_interval": "200ms"}
        del config["alerting"]
        targets = {"wayseal-gateway": gateway, "wayseal-node": node}
        for job in config["scrape_configs"]:
            job["static_configs"][0]["targets"] = [
                targets.get(job["job_name"], f"127.0.0.1:{self._port}")
            ]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            "prometheus",
            f"--config.file={self._folder}/prometheus.yml",
            f"--storage.tsdb.path={self._folder}/tsdb",
            f"--web.listen-address=127.0.0.1:{self._port}",
            "--log.level=warn",
        ]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(tied(command), stdout=log, stderr=log)  # noqa: S603
        until("Prometheus", self._is_ready)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(STOP_S)

    def ask(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """Return `data` of an answer of Prometheus' API."""
        with _OPENER.open(f"http://127.0.0.1:{self._port}/api/v1/{path}") as answer:
            return json.load(answer)["data"]

    def value(self, expression: str) -> float | None:
        """Return the value of an expression now; None if it has none."""
        found = self.ask(f"query?{urllib.parse.urlencode({'query': expression})}")["result"]
        return float(found[0]["value"][1]) if found else None

    def firing(self) -> set[str]:
        """Return the names of the alerts that fire."""
        return {
            each["labels"]["alertname"]
            for each in self.ask("alerts")["alerts"]
            if each["state"] == "firing"
        }

    def _is_ready(self) -> bool:
        with suppress(OSError):
            _OPENER.open(f"http://127.0.0.1:{self._port}/-/ready")
            return True
        return False
