"""`make up`: a gateway to try things on, running until `make down`."""

import argparse
import errno
import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx

from contracts.errors import UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.runtime.files import OWNER_ONLY, locked, make_directory, write_file
from demo import pids
from demo.appliance import Appliance, Ports
from demo.auditor import Auditor
from demo.ending import failing_in_one_line, reason

DIRECTORY: Final = Path("build/up")
DEMO_DIRECTORY: Final = Path("build/demo/site-b")
"""What a finished `make demo` leaves; it can be looked at again."""
STATE: Final = Path("build/up.json")
RUNS: Final = Path("build/bench/runs")
"""Where `make bench` writes: the page Storage has its reports."""
IN_USE: Final = (os.strerror(errno.EADDRINUSE), f"[Errno {errno.EADDRINUSE}]")
OTHER_PORTS: Final = "choose ports that are free with REST_PORT=…, MQTT_PORT=… and LEDGER_PORT=…"
_MALFORMED: Final = (AttributeError, LookupError, TypeError, ValueError)
"""What a state file with other values than ours leads to."""
BUSY: Final = "another `make up` or `make down` is at work"


def main() -> None:
    """Start node and gateway, and return once both serve; if they already do, say so."""
    directory = DIRECTORY.absolute()
    with failing_in_one_line("up"):
        options = _parse()
        make_directory(directory)
        with locked(directory / "lock", BUSY):
            if options.of_demo:
                directory = _directory_of_demo()
            found = pids.running(directory)
            dead = [name for name in pids.SERVICES if name not in found]
            if not dead and STATE.exists():
                text = _checked_state()
                _say(f"already up, see {STATE}; `make down` stops it")
                _tell_other_ports(json.loads(text), options)
            else:
                _stop_rest(directory, found, dead)
                text = _start(directory, Ports(options.rest, options.mqtt, options.ledger))
    print(text, end="")
    _say(f"open {json.loads(text)['rest']}/ in a browser; operator_token signs you in")


def directory_of(state: dict[str, str]) -> Path:
    """Return where the appliance that is up keeps everything."""
    return Path(state.get("directory", DIRECTORY)).absolute()


def _directory_of_demo() -> Path:
    """Return what a demo left, if nothing else is up.

    Raises:
        UnavailableError: There is nothing, or something else is up.
    """
    wanted = DEMO_DIRECTORY.absolute()
    if not (wanted / "node").is_dir():
        raise UnavailableError(f"expected a finished `make demo` in {wanted}, got none")
    if STATE.exists() and directory_of(json.loads(STATE.read_text("utf-8"))) != wanted:
        raise UnavailableError("another appliance is up: `make down` comes first")
    return wanted


def _tell_other_ports(state: dict[str, str], asked: argparse.Namespace) -> None:
    """Say which of the ports that were asked for are not those in use."""
    for name in ("rest", "mqtt", "ledger"):
        port = int(state[name].rpartition(":")[2])
        if getattr(asked, name) not in {0, port}:
            _say(
                f"expected {name} at port {getattr(asked, name)}, it stays at {port}: "
                "a choice of ports counts after `make down`"
            )


def _stop_rest(directory: Path, found: dict[str, int], dead: list[str]) -> None:
    """Stop services that an earlier start left running."""
    if found:
        why = f"the {dead[0]} is dead" if dead else "an earlier start did not finish"
        _say(f"{why}: stopping the {' and the '.join(found)}, then starting afresh")
    pids.stop(directory)


def _checked_state() -> str:
    """Return the text of the state file, once gateway and node have answered.

    Raises:
        UnavailableError: One of them does not.
    """
    try:
        text = STATE.read_text("utf-8")
        _ask(json.loads(text))
    except (WaysealError, httpx.HTTPError, OSError, *_MALFORMED) as error:
        raise UnavailableError(
            f"gateway and node run, but do not serve; `make down` stops them: {reason(error)}"
        ) from error
    return text


def _ask(state: dict[str, str]) -> None:
    with closing(Auditor(state["rest"], state["operator_token"])) as operator:
        operator.ask("/v1/status")
    with closing(LedgerClient(state["ledger"])) as ledger:
        ledger.head_id()


def _start(directory: Path, ports: Ports) -> str:
    """Start node and gateway; return the text of the state file."""
    variables = {"WAYSEAL_BENCHMARKS__FOLDER": str(RUNS.absolute())}
    appliance = Appliance(directory, ports, lasting=True, variables=variables)
    STATE.unlink(missing_ok=True)  # an existing file is of an earlier start
    try:
        appliance.start()
        state = {
            "directory": str(directory),
            "rest": appliance.rest,
            "mqtt": appliance.mqtt,
            "ledger": appliance.ledger,
            "operator_token": appliance.token("operator", "operator"),
            "auditor_token": appliance.token("auditor", "auditor"),
            "trust": str(appliance.trust_file()),
            "settings": str(appliance.settings_file),
            "admin_key": str(appliance.key_file("admin")),
        }
        text = json.dumps(state, indent=2) + "\n"
        temporary = STATE.with_suffix(".json.new")
        write_file(STATE, text.encode(), temporary=temporary, mode=OWNER_ONLY)
    except UnavailableError as error:
        appliance.stop()
        if any(words in str(error) for words in IN_USE):
            raise UnavailableError(f"{error}; {OTHER_PORTS}") from error
        raise
    except BaseException:
        appliance.stop()
        raise
    return text


def _say(text: str) -> None:
    print(f"up: {text}", file=sys.stderr)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make up", description=__doc__)
    for name in ("rest", "mqtt", "ledger"):
        parser.add_argument(f"--{name}", type=int, default=0, help="port; 0 lets the system choose")
    parser.add_argument("--of-demo", action="store_true", help="serve what `make demo` left")
    return parser.parse_args()


if __name__ == "__main__":
    main()
