"""`wayseal-device depart` and `arrive`: a person says where the truck is."""

from argparse import Namespace

from device.commands.output import say
from device.journey.file import JourneyFile
from device.journey.states import Command
from device.settings import Settings, SettingsError


def run(arguments: Namespace, settings: Settings) -> int:
    """Leave the order for the agent, which carries it out within a second or when it starts."""
    if settings.presence is None:
        raise SettingsError(
            "section [presence]: expected for this command, got none; without it `run` records "
            "from its start, and `wayseal-device close` ends the trip"
        )
    order = Command(arguments.command)
    JourneyFile(settings.data).order(order)
    say(arguments, {"ordered": order}, f"ordered: {order}; `wayseal-device status` shows the state")
    return 0
