"""A machine on which packages and environments are already, as at an operator's second run.

In each network of a test one machine of each kind is bare, and shows that the roles install all of
it. The others begin with this image: what the roles find, they leave alone.
"""

import hashlib
from pathlib import Path
from typing import Final

from contracts.runtime.files import in_turn
from support.field.ansible import CACHE, wheels_of
from support.field.machines import images
from support.field.versions import packed
from support.project.pages import ROOT

ROLES: Final = ("gateway", "node", "device")
PACKAGES: Final = "chrony mosquitto nftables python3-venv unattended-upgrades"
"""Without Java and xfsprogs: no machine is bare that has a drive or Cassandra."""
INSTALL: Final = f"""\
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends install {PACKAGES} > /dev/null
systemctl -q disable chrony.service mosquitto.service nftables.service
mkdir -p /opt/wayseal/sources
tar -C /opt/wayseal/sources --no-same-owner -xzf /root/archive
rm /root/archive
cd /opt/wayseal/sources/*
for role in {" ".join(ROLES)}; do
  PYTHON=/usr/bin/python3 PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/wheels scripts/install $role
done
rm /opt/wayseal/gateway /opt/wayseal/node /opt/wayseal/device /usr/local/bin/wayseal-*
"""


def prepared(folder: Path) -> str:
    """Return the name of the image with this checkout's roles, and make it if it is not there.

    Args:
        folder: Its `wheels` has what hosts install from; made if it is missing.
    """
    wheels = folder / "wheels"
    if not wheels.exists():
        wheels_of(wheels, *ROLES)
    name = packed(ROOT, wheels)
    script = hashlib.sha256(INSTALL.encode()).hexdigest()[:12]
    image, store = f"localhost/wayseal-prepared:{name}-{script}", images(CACHE)
    with in_turn(CACHE / "prepared.lock"):
        if not store.has(image):
            store.forget("localhost/wayseal-prepared")
            store.derive(image, ROOT / "build" / "ansible" / f"{name}.tar.gz", INSTALL)
    return image
