"""The units start under a real systemd, as docs/operator.md says: nothing they need is closed.

systemd runs as process 1 of namespaces of its own, on a copy of this machine's files that is thrown
away.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from support.project.pages import ROOT, code_lines

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="root alone makes namespaces and overlays"),
]

SYSTEMD: Final = Path("/lib/systemd/systemd")
PYTHON: Final = "/usr/bin/python3"
PATH: Final = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEADLINE_S: Final = 400
COPY: Final = """\
mount --make-rprivate /
mount -t overlay overlay -o lowerdir=/,upperdir=$1/up,workdir=$1/work $1/root
mount -t proc proc $1/root/proc
mount --rbind /dev $1/root/dev
"""
INSTALL: Final = f"""{COPY}
exec chroot $1/root env PYTHON={PYTHON} PATH={PATH} \\
  {ROOT}/scripts/install node processor gateway device
"""
BOOT: Final = f"""{COPY}
mount -t sysfs -o ro sysfs $1/root/sys
mount -t tmpfs tmpfs $1/root/sys/fs/cgroup
mkdir $1/root/sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd,xattr cgroup $1/root/sys/fs/cgroup/systemd
mount -t tmpfs tmpfs $1/root/run
ip link set lo up
exec chroot $1/root env -i container=other PATH={PATH} {SYSTEMD} --unit=trial.service
"""
TRIAL: Final = f"""\
[Unit]
Requires=basic.target
After=basic.target
SuccessAction=exit-force
FailureAction=exit-force

[Service]
Type=oneshot
WorkingDirectory={ROOT}
TimeoutStartSec=120
ExecStart=/bin/bash -euxo pipefail /etc/trial
StandardOutput=append:/etc/trial.out
StandardError=append:/etc/trial.out
"""
GATEWAY: Final = """\
data = "/var/lib/wayseal/gateway"
site_id = "dock-b"
volume = "/srv/video"
blobs = "/srv/blobs"
[mqtt]
embedded = true
"""
DEVICE: Final = """\
device_id = "truck-7"
data = "/var/lib/wayseal/device"
[trip]
origin_site = "dock-a"
destination_site = "dock-b"
[gateway]
mqtt = "127.0.0.1:1883"
rest = "http://127.0.0.1:8080"
token = "unknown"
public_keys = ["0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"]
[source]
driver = "replay"
readings = "/etc/wayseal/log.csv"
speed = "20"
"""
ROWS: Final = [f"2026-03-01T{n // 60:02}:{n % 60:02}:00Z,4.{n % 9}" for n in range(600)]
TYPIST: Final = """\
#!/bin/sh
sed -i '3r /etc/opens' "$1"
"""
"""The editor of a technician who types the lines where the comment says so."""
FIRST: Final = """
install -Dm 600 device.toml /etc/wayseal/device.toml
wayseal-device --config /etc/wayseal/device.toml init
test "$(stat -c %a /var/lib/wayseal /var/lib/wayseal/device | xargs)" = '755 700'
"""
"""Typed before any service has started, so that root makes the directory of all of them."""
STEPS: Final = """
until_says() { until journalctl --no-pager --unit "$1" | grep "$2"; do sleep 0.2; done; }
gateway='--config /etc/wayseal/gateway.toml'
device='--config /etc/wayseal/device.toml'
cp deploy/systemd/* /etc/systemd/system/
echo 'OPTIONS=--component tcp://127.0.0.1:4004' > /etc/wayseal/node.env
install -m 600 -o wayseal-device device.toml /etc/wayseal/device.toml
install -m 644 log.csv /etc/wayseal/log.csv
systemctl daemon-reload
for group in gpio i2c video; do groupadd --force --system $group; done
SYSTEMD_EDITOR=/etc/typist script -qec 'systemctl edit wayseal-device' /dev/null
systemctl enable --now wayseal-node wayseal-tp wayseal-device
test "$(systemctl show --property SupplementaryGroups --value wayseal-device)" = 'gpio i2c video'
for kind in gpiochip i2c video4linux
do systemctl show --property DeviceAllow wayseal-device | grep -x "DeviceAllow=.*char-$kind rw.*"
done
for group in gpio i2c video; do
  grep -w "$(getent group $group | cut -d: -f3)" \
    <(grep ^Groups: /proc/$(systemctl show --property MainPID --value wayseal-device)/status)
done
{ wayseal-device doctor --offline || true; } | grep 'ok  *service: its user wayseal-device may read'
until_says wayseal-node 'ready rest='
until_says wayseal-gateway 'ready rest='
until_says wayseal-node 'registration refused: family wayseal is built into this node'
TOKEN=$(wayseal-gateway token crew --role operator $gateway | jq -r .token)
until curl -sf -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/v1/status | jq -e .ready
do sleep 0.2; done
until wayseal-device $device status --json | jq -e '.trips[0].readings > 2'; do sleep 0.2; done
test -z "$(find /var/lib/wayseal/* -user root)"
asks() {
  sed -e "s|^ExecStart=.*|ExecStart=$2|" -e '/^Type=/d' -e '/^Restart=/d' \
    -e '/^WatchdogSec=/d' -e '/^User=/a Type=oneshot' \
    -e '/^User=/a StandardOutput=truncate:/run/asks.out' \
    "/etc/systemd/system/$1.service" > /etc/systemd/system/asks.service
  systemctl daemon-reload
  systemctl start asks || true
  cat /run/asks.out
}
CLOCK='from contracts.runtime.kernelclock import kernel_clock; print(kernel_clock())'
for role in device gateway; do
  asks wayseal-$role "/opt/wayseal/$role/bin/python -c '$CLOCK'" | grep 'KernelClock(synchronised='
done
asks wayseal-device '/usr/sbin/iw dev wlan0 link' | grep -E 'nl80211 not found|No such device'
systemctl stop wayseal-tp wayseal-device wayseal-gateway wayseal-node
for unit in wayseal-device wayseal-gateway wayseal-node; do
  test "$(systemctl show --property ExecMainStatus $unit)" = ExecMainStatus=0
  test "$(systemctl show --property Result $unit)" = Result=success
done
echo all is well
"""


def as_the_page_says() -> list[str]:
    """Return the lines that the page tells to type for the gateway's unit."""
    lines = list(code_lines(ROOT / "docs" / "operator.md"))
    first = next(number for number, line in enumerate(lines) if "sysusers" in line)
    last = next(number for number, line in enumerate(lines) if "systemctl enable --now" in line)
    return lines[first : last + 1]


def what_the_page_opens() -> list[str]:
    """Return the lines that the page of the truck tells to write into the unit's drop-in."""
    lines = list(code_lines(ROOT / "docs" / "device.md"))
    first = next(number for number, line in enumerate(lines) if "DeviceAllow=" in line) - 1
    last = max(number for number, line in enumerate(lines) if "SupplementaryGroups=" in line)
    return lines[first : last + 1]


def in_namespaces(folder: Path, script: str, *kinds: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own script
        ["unshare", *kinds, "--kill-child", "--fork", "sh", "-euc", script, "sh", folder],  # noqa: S607
        capture_output=True,
        check=False,
        text=True,
        timeout=DEADLINE_S,
    )


def test_all_units_work_without_rights(tmp_path: Path) -> None:
    missing = [each for each in ("unshare", "jq", "curl", "ip", "iw") if shutil.which(each) is None]
    if missing or not SYSTEMD.exists() or not Path(PYTHON).exists():
        pytest.skip(f"no {' '.join(missing) or f'{SYSTEMD} or {PYTHON}'} on this machine")
    for name in ("up", "work", "root"):
        (tmp_path / name).mkdir()
    done = in_namespaces(tmp_path, INSTALL, "--mount")
    assert done.returncode == 0, done.stdout + done.stderr
    above = tmp_path / "up"
    for path, text in {
        "etc/systemd/system/trial.service": TRIAL,
        "etc/trial": "\n".join([FIRST, *as_the_page_says(), STEPS]),
        "etc/opens": "\n".join([*what_the_page_opens(), ""]),
        "etc/typist": TYPIST,
        f"{ROOT.relative_to('/')}/gateway.toml": GATEWAY,
        f"{ROOT.relative_to('/')}/device.toml": DEVICE,
        f"{ROOT.relative_to('/')}/log.csv": "\n".join(["time,temperature", *ROWS, ""]),
    }.items():
        (above / path).parent.mkdir(parents=True, exist_ok=True)
        (above / path).write_text(text)
    (above / "etc/typist").chmod(0o755)
    done = in_namespaces(tmp_path, BOOT, "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--net")
    said = (above / "etc/trial.out").read_text()
    assert said.endswith("all is well\n"), said
