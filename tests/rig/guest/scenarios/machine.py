"""The machine itself: its kernel, its Python, and whether the project's packages run there."""

import importlib
import platform
import time
from typing import Final

from rig.guest.scenario import Scenario

PACKAGES: Final = ("cassandra.cluster", "fastapi", "google.protobuf", "psutil", "coincurve")


def _machine() -> str:
    began_s = time.monotonic()
    for name in (*PACKAGES, "gateway.main"):
        importlib.import_module(name)
    took_s = time.monotonic() - began_s
    return (
        f"Linux {platform.release()}, Python {platform.python_version()}; "
        f"the gateway's packages were imported in {took_s:.0f} s"
    )


MACHINE: Final = Scenario("machine", 90, _machine)
