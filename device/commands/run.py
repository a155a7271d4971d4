"""`wayseal-device run`: runs the agent until SIGTERM."""

from argparse import Namespace

from device.agent import Agent
from device.settings import Settings
from device.station import agent_lock, load_signer
from device.stop import stop_on_signals


def run(arguments: Namespace, settings: Settings) -> int:
    """Record and offload until a signal stops it."""
    if arguments.join is None:
        settings.need_trip()
    settings.need_source()
    settings.need_sites()
    signer = load_signer(settings)
    with agent_lock(settings), stop_on_signals() as stop:
        Agent(settings, signer, stop, arguments.join).run()
    return 0
