"""`make demo` ends with one line and a matching exit status, whatever happens on its way."""

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.runtime.files import locked
from demo import pids
from support.ledgers.nodes import PLAIN_NODE
from support.ledgers.nodes import running as node
from support.project.checkout import begin, environment, make, running
from support.trucks.rogue import until

pytestmark = pytest.mark.e2e


def started(checkout: Path, service: str) -> subprocess.Popen[str]:
    """Start a demo and wait until it has started a service."""
    process = begin(checkout, "demo")
    path = pids.pid_file(checkout / "build" / "demo" / "site-b", service)
    until(f"the {service}", lambda: path.exists() or process.poll() is not None)
    return process


@pytest.mark.parametrize("service", pids.SERVICES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_its_line(
    checkout: Path, service: str, number: signal.Signals
) -> None:
    process = started(checkout, service)
    process.send_signal(number)
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said.splitlines()[-1] == f"demo: failed interrupted by {number.name}"
    assert "Traceback" not in said + errors
    assert running(checkout) == []


def test_a_killed_demo_leaves_no_server_and_the_next_one_works(checkout: Path) -> None:
    process = started(checkout, "gateway")
    process.kill()
    process.communicate(timeout=60)
    until("its servers end", lambda: running(checkout) == [])
    done = make(checkout, "demo", TRACK="nowhere.gpx")
    assert done.stdout.splitlines()[-1].startswith("demo: failed TRACK and VIDEO need READINGS")
    assert running(checkout) == []


def test_a_second_demo_touches_nothing_of_the_first(checkout: Path) -> None:
    directory = checkout / "build" / "demo"
    directory.mkdir(parents=True)
    (directory / "of-the-first").touch()
    with locked(checkout / "build" / "demo.lock", "taken"):
        done = make(checkout, "demo")
    assert done.returncode != 0
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"demo: failed another demo is at work in {directory}: ")
    assert [path.name for path in directory.iterdir()] == ["of-the-first"]


def test_a_full_standard_output_is_no_success(checkout: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "demo", "--track", "nowhere.gpx"],
            cwd=checkout,
            env=environment(checkout),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert "demo: failed " in done.stderr
    assert "Traceback" not in done.stderr
    assert running(checkout) == []


def test_a_setup_that_fails_ends_it_with_its_line(checkout: Path) -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "demo", "PYTHON=no-such-python", "VENV=venv"],  # noqa: S607
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "setup: Wayseal needs Python" in done.stderr
    assert done.stdout.splitlines()[-1] == "demo: failed setup"


def test_a_ledger_without_its_admin_key_ends_it_with_its_line(checkout: Path) -> None:
    done = make(checkout, "demo", LEDGER="http://127.0.0.1:1")
    assert (
        done.stdout.splitlines()[-1] == "demo: failed LEDGER and ADMIN_KEY need each other, got one"
    )
    assert running(checkout) == []


@pytest.mark.parametrize(
    ("header", "options", "said"),
    [
        ("Time,T", "", "write --map temperature=T;"),
        ("Time,Wetness,Motion", "", "gives no temperature"),
        ("Time,T", "--map temperature=X", "expected one column 'X'"),
    ],
)
def test_a_log_that_does_not_serve_ends_it_before_anything_starts(
    checkout: Path, tmp_path: Path, header: str, options: str, said: str
) -> None:
    log = tmp_path / "log.csv"
    log.write_text(f"{header}\n2022-01-31 12:00:00{',1' * header.count(',')}\n")
    done = make(checkout, "demo", READINGS=str(log), OPTIONS=options)
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"demo: failed wayseal-device check failed: {log}: ")
    assert last.endswith('; make demo takes them as OPTIONS="--map QUANTITY=COLUMN"') == (
        not options
    )
    assert said in last
    assert not (checkout / "build").exists()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"VIDEO": __file__}, "TRACK and VIDEO need READINGS, got none"),
        ({"READINGS": "/nowhere.csv"}, "READINGS is not a file: /nowhere.csv"),
    ],
)
def test_wrong_files_end_it_before_anything_starts(
    checkout: Path, named: dict[str, str], said: str
) -> None:
    done = make(checkout, "demo", **named)
    assert done.stdout.splitlines()[-1] == f"demo: failed {said}"
    assert not (checkout / "build").exists()


@pytest.mark.long
def test_a_ledger_that_runs_already_is_used(checkout: Path, tmp_path: Path) -> None:
    admin = tmp_path / "admin.key"
    options = ["--admin", Signer.load_or_create(admin).public_key]
    with node(tmp_path / "node", *options, script=PLAIN_NODE) as ledger:
        url = str(ledger.client.base_url)
        done = make(checkout, "demo", LEDGER=url, ADMIN_KEY=str(admin))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "site B comes up: gateway, broker" in done.stdout
        with closing(LedgerClient(url)) as client:
            head = client.head_num()
            assert head > 0
            again = make(checkout, "demo", LEDGER=url, ADMIN_KEY=str(admin))
            assert again.returncode != 0
            assert f"expected a ledger without parties, {url} has dairy" in again.stdout
            assert client.head_num() == head
        assert list((checkout / "build" / "demo").glob("*.evidence"))
    assert not (checkout / "build" / "demo" / "site-b" / "node").exists()
