"""The settings that docs/device.md shows as a complete file load as they stand there."""

from pathlib import Path

from device.settings_file import load
from support.project.pages import ROOT


def test_the_complete_file_of_the_device_page_loads(tmp_path: Path) -> None:
    page = (ROOT / "docs/device.md").read_text("utf-8")
    shown = page.split("```toml\n")[1].split("```")[0]
    complete = shown.replace('"02…"', f'"02{"a" * 64}"').replace('"…"', f'"{"b" * 128}"')
    file = tmp_path / "truck.toml"
    file.write_text(complete, "utf-8")

    settings = load(file, {})

    assert [sensor.name for sensor in settings.sensors] == ["cargo", "gps", "door"]
    assert settings.presence is not None
