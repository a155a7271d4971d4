"""What a watcher tells of one look at the machine, so that two looks can be compared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gateway.volumes.table import size, title_of
from storage.drives.inventory import Inventory
from storage.drives.links import Word


@dataclass(frozen=True, slots=True)
class Told:
    """One fact about a device, a link or a volume.

    Attributes:
        kind: `device`, `link` or `volume`.
        subject: Its name.
        state: What is compared; told anew when it differs.
        words: What is printed, with times that go on meanwhile.
        well: Nobody needs to do anything about it.
    """

    kind: str
    subject: str
    state: str
    words: str
    well: bool = True

    def gone(self) -> "Told":
        """Return what is to be told when the subject is no longer there."""
        return replace(self, state="gone", words=f"{self.kind} is gone", well=False)

    def document(self) -> dict[str, str]:
        """Return it for programs."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "state": self.state,
            "words": self.words,
        }


def news(before: Mapping[str, Told], now: Mapping[str, Told]) -> Iterator[Told]:
    """Yield what is new, different or gone since an earlier look."""
    for key, told in now.items():
        if key not in before or before[key].state != told.state:
            yield told
    for key, told in before.items():
        if key not in now:
            yield told.gone()


def told_of(seen: Inventory) -> dict[str, Told]:
    """Return all facts of one look, by a key that the same subject has at every look."""
    facts = [
        Told(
            "device",
            each.name,
            "there",
            " ".join((title_of(each.interface), size(each.size_bytes), each.model)).strip(),
        )
        for each in seen.devices
        if not each.disk
    ]
    for device in seen.devices:
        if device.paths:
            link = seen.links[device.name]
            ways = [f"{way.controller.name} {way.controller.state}" for way in device.paths]
            state = f"{link.word} ({', '.join(ways)})"
            facts.append(Told("link", device.name, state, link.words, link.word is Word.LIVE))
    for volume in seen.volumes:
        lost = any(state.words == volume.problem for state in seen.links.values())
        state = "link" if lost else volume.problem or "ok"
        on = f" on {volume.device}" if volume.device else ""
        words = f"volume {volume.path}{on}: {volume.problem or 'nothing speaks against it'}"
        facts.append(Told("volume", volume.name, state, words, not volume.problem))
    return {f"{each.kind} {each.subject}": each for each in facts}
