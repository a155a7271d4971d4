"""Root asks whether the service's user can use what the settings name."""

import os
import pwd
from pathlib import Path

import pytest

from contracts.runtime.checks import Finding
from device import service as device_service
from device.commands import check_service
from device.commands.check_service import service, usable
from device.settings_file import load
from device.station import make
from support.trucks.truck import Truck

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone may ask as another user")

NOBODY = pwd.getpwnam("nobody")


@pytest.fixture
def truck(tmp_path: Path) -> Truck:
    """A truck whose files all belong to the service's user."""
    for each in (tmp_path, *tmp_path.parents):
        if each.stat().st_uid == 0 and each.stat().st_mode & 0o777 == 0o700:
            each.chmod(0o711)  # pytest's own folders
    made = Truck(tmp_path / "truck", '[source]\ndriver = "replay"\nreadings = "log.csv"\n')
    (made.folder / "log.csv").write_text("")
    make(load(made.config, {}))
    for path in (made.folder, *made.folder.rglob("*")):
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
    return made


def asked(truck: Truck) -> list[Finding]:
    """Ask, and see that nothing of this process has changed."""
    before = (os.geteuid(), os.getegid(), os.getgroups())
    found = [*usable(load(truck.config, {}), truck.config, NOBODY)]
    assert (os.geteuid(), os.getegid(), os.getgroups()) == before
    return found


def test_a_service_that_may_use_all_is_one_line(truck: Truck) -> None:
    (found,) = asked(truck)
    assert (found.severity, found.subject) == ("ok", "service")


@pytest.mark.parametrize("name", ["device.toml", "log.csv"])
def test_what_its_user_may_not_read_is_named(truck: Truck, name: str) -> None:
    path = truck.folder / name
    os.chown(path, 0, 0)
    path.chmod(0o600)
    (found,) = asked(truck)
    assert (found.severity, found.words) == ("error", f"its user nobody may not read {path}")
    assert found.remedy == f"chown -R nobody: {path}"


def test_a_journal_that_root_has_made_is_named(truck: Truck) -> None:
    for name in ("journal.sqlite", "device.key"):
        os.chown(truck.data / name, 0, 0)
    (found,) = asked(truck)
    assert found.severity == "error"
    assert f"nobody may not write {truck.data}" in found.words
    assert " more" in found.words
    assert found.remedy == f"chown -R nobody: {truck.data}"


def test_a_folder_that_is_closed_is_named_and_not_the_files_in_it(truck: Truck) -> None:
    os.chown(truck.folder, 0, 0)
    truck.folder.chmod(0o700)
    found = asked(truck)
    assert found
    for each in found:
        assert each.remedy == f"chmod a+x {truck.folder}"


def test_only_the_services_own_file_is_asked_about(
    truck: Truck, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load(truck.config, {})
    assert not [*service(settings, truck.config)]
    monkeypatch.setattr(check_service, "USUAL", truck.config)
    monkeypatch.setattr(check_service, "USER", "no-such-user")
    assert not [*service(settings, truck.config)]
    monkeypatch.setattr(check_service, "USER", "nobody")
    systemctl(monkeypatch, truck.folder, "LoadState=not-found")
    monkeypatch.setattr(device_service, "_TEMPORARY", ())
    first, second = service(settings, truck.config)
    assert (first.severity, second.severity) == ("ok", "warning")
    assert "it may write below /var/lib/wayseal/device alone" in second.words
    assert "systemctl does not tell" in second.words
    assert "ReadWritePaths=" in second.remedy


def systemctl(monkeypatch: pytest.MonkeyPatch, folder: Path, *says: str) -> None:
    """Have systemd say so of the unit."""
    path = folder / "bin" / "systemctl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join(says) + "\nEND\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("system", "paths", "shown", "severities"),
    [
        ("strict", "", True, ["ok", "error"]),
        ("strict", "/srv -{folder}", True, ["ok"]),
        ("no", "", True, ["ok"]),
        ("strict", "{folder}", False, ["ok", "error", "error", "error"]),  # data, key, log.csv
    ],
)
def test_what_the_unit_allows_is_asked(
    truck: Truck,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    paths: str,
    severities: list[str],
    *,
    shown: bool,
) -> None:
    monkeypatch.setattr(check_service, "USUAL", truck.config)
    monkeypatch.setattr(check_service, "USER", "nobody")
    monkeypatch.setattr(device_service, "_TEMPORARY", (truck.folder,))
    says = [
        "LoadState=loaded",
        f"ProtectSystem={system}",
        f"ReadWritePaths={paths.format(folder=truck.folder)}",
        f"PrivateTmp={'no' if shown else 'yes'}",
        "ProtectHome=yes",
    ]
    systemctl(monkeypatch, truck.folder, *says)
    found = [*service(load(truck.config, {}), truck.config)]
    assert [each.severity for each in found] == severities
    for each in found[1:]:
        assert ("PrivateTmp=no" if not shown else "ReadWritePaths=") in each.remedy


@pytest.mark.parametrize("folder", ["/home/pi", "/root", "/tmp", "/var/tmp/x"])  # noqa: S108
def test_the_delivered_unit_hides_homes_and_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    systemctl(monkeypatch, tmp_path, "LoadState=not-found")
    says = (Path(__file__).parents[3] / "deploy/systemd/wayseal-device.service").read_text()
    assert "ProtectHome=yes\nPrivateTmp=yes\n" in says
    assert device_service.unit().hides(Path(folder) / "ca.pem")
    assert not device_service.unit().hides(Path("/etc/wayseal/ca.pem"))


def test_files_that_an_agent_removes_are_no_fault(
    truck: Truck, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = truck.data / "video"
    film.mkdir(exist_ok=True)
    part = film / "dock.part"
    part.touch(mode=0o600)
    may = check_service._may  # noqa: SLF001 - the agent works between listing and asking

    def works(path: Path, mode: int) -> bool:
        part.unlink(missing_ok=True)
        return may(path, mode)

    os.chown(film, NOBODY.pw_uid, NOBODY.pw_gid)
    monkeypatch.setattr(check_service, "_may", works)
    assert [each.severity for each in asked(truck)] == ["ok"]


def test_a_folder_that_an_agent_removes_is_no_fault(
    truck: Truck, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir
    folder = truck.data / "gone"
    folder.mkdir()

    def scandir(path: str) -> object:
        if Path(path) == folder:
            folder.rmdir()
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert [each.severity for each in asked(truck)] == ["ok"]
