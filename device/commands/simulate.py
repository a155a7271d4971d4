"""`wayseal-device simulate`: a made-up drive as files."""

from argparse import Namespace

from device.commands.output import say
from device.sensors.simulated import SimulatedDrive
from device.simulate import write_drive


def run(arguments: Namespace) -> int:
    """Write the files and print where they are."""
    drive = SimulatedDrive(arguments.minutes, arguments.seed)
    files = write_drive(drive, arguments.out)
    say(
        arguments,
        {
            "readings": str(files.readings),
            "track": str(files.track),
            "video": str(files.video),
            "rows": drive.count,
        },
        f"{drive.count} rows in {files.readings}\n{files.track}\n{files.video}",
    )
    return 0
