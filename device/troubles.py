"""What is wrong with the agent's work now, kind by kind, so that a display can show it."""

from enum import StrEnum


class Trouble(StrEnum):
    """A kind of work that can fail, and is tried again."""

    RECORDING = "recording"
    OFFLOAD = "offload"
    GATEWAY = "gateway"
    """Something waits, the truck is at a site, and no gateway answers."""
    METERED = "metered"
    """No trouble, but a reason: video waits for a link that is not metered."""
