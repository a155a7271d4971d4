"""QEMU's monitor, used from inside the machine to plug and unplug drives."""

import json
import uuid
from pathlib import Path
from typing import Any, Final

PORTS: Final = Path("/sys/class/virtio-ports")
PORT_NAME: Final = "monitor"


class MonitorError(Exception):
    """QEMU refused a command; the message is QEMU's."""


def ask(command: str, **arguments: object) -> Any:  # noqa: ANN401 - whatever QEMU says
    """Carry out a command of QEMU's machine protocol; return its answer."""
    (port,) = (path for path in PORTS.iterdir() if _name(path) == PORT_NAME)
    with (Path("/dev") / port.name).open("r+b", buffering=0) as line:
        _exchange(line, "qmp_capabilities", {})
        answer = _exchange(line, command, arguments)
    if "error" in answer:
        raise MonitorError(f"{command}: {answer['error']['desc']}")
    return answer["return"]


def _exchange(line: Any, command: str, arguments: object) -> dict[str, Any]:  # noqa: ANN401
    mark = uuid.uuid4().hex
    line.write(json.dumps({"execute": command, "arguments": arguments, "id": mark}).encode())
    while True:  # skip greetings and events
        answer: dict[str, Any] = json.loads(_line(line))
        if answer.get("id") == mark:
            return answer


def _line(port: Any) -> bytes:  # noqa: ANN401
    text = b""
    while not text.endswith(b"\n"):
        text += port.read(1)
    return text


def _name(port: Path) -> str:
    return (port / "name").read_text("ascii").strip()
