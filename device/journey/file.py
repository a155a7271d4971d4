"""The journey on the disk: its state, and what a person ordered while no agent looked."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import OWNER_ONLY, remove_file, write_file
from device.journey.states import FIRST, Command, Journey, State
from device.settings import Settings

STATE_NAME: Final = "journey.json"
ORDER_NAME: Final = "journey.order"
_BYTES_MAX: Final = 4_096


@dataclass(frozen=True, slots=True)
class JourneyFile:
    """Where the journey of one device is kept, so that it goes on after a reboot.

    Attributes:
        folder: The device's data directory.
    """

    folder: Path

    def load(self) -> Journey:
        """Return the journey as it was kept last; docked, if there was none.

        Raises:
            RejectedError: The file is damaged.
            UnavailableError: The medium failed.
        """
        path = self.folder / STATE_NAME
        text = _read(path)
        if text is None:
            return FIRST
        try:
            document = json.loads(text)
            return Journey(State(document["state"]), by_hand=bool(document["by_hand"]))
        except (ValueError, KeyError, TypeError) as error:
            raise RejectedError(
                f"{path}: expected a state, one of {', '.join(State)}, got {text[:80]!r}; "
                f"`wayseal-device depart` or `arrive` says where the truck is"
            ) from error

    def keep(self, journey: Journey) -> None:
        """Write the journey, durably.

        Raises:
            UnavailableError: The medium failed; the earlier state stays.
        """
        document = {"state": journey.state, "by_hand": journey.by_hand}
        _write(self.folder / STATE_NAME, json.dumps(document))

    def order(self, order: Command) -> None:
        """Leave an order for the agent, durably; a later one replaces it.

        Raises:
            UnavailableError: The medium failed.
        """
        _write(self.folder / ORDER_NAME, order)

    def take_order(self) -> Command | None:
        """Return the order that waits; `forget_order` removes it once it is carried out.

        Raises:
            RejectedError: The file is damaged.
            UnavailableError: The medium failed.
        """
        path = self.folder / ORDER_NAME
        text = _read(path)
        if text is None:
            return None
        try:
            return Command(text.strip())
        except ValueError as error:
            raise RejectedError(
                f"{path}: expected {' or '.join(Command)}, got {text[:80]!r}"
            ) from error

    def forget_order(self) -> None:
        """Remove the order."""
        remove_file(self.folder / ORDER_NAME)


def state_of(settings: Settings) -> State | None:
    """Return where the truck is, as its agent kept it; None if its presence is not watched.

    Raises:
        RejectedError: The file is damaged.
        UnavailableError: The medium failed.
    """
    return JourneyFile(settings.data).load().state if settings.presence else None


def _write(path: Path, text: str) -> None:
    write_file(path, text.encode(), temporary=path.with_suffix(".new"), mode=OWNER_ONLY)


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_BYTES_MAX).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnavailableError(f"{path}: {error}") from error
