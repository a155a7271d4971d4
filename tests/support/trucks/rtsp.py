"""A camera on the network: GStreamer's RTSP server, which films a bouncing ball as H.264."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied

_SERVER: Final = """
import sys
import gi
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    "( videotestsrc is-live=true pattern=ball ! video/x-raw,width=320,height=240,framerate=10/1 "
    "! x264enc tune=zerolatency key-int-max=10 ! rtph264pay name=pay0 )"
)
factory.set_shared(True)
server.get_mount_points().add_factory("/dock", factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
"""


@contextmanager
def rtsp_camera(port: int | None = None) -> Iterator[str]:
    """Yield the URL of a camera; it is unplugged when the block ends.

    Args:
        port: Where it listens; None takes a free one.
    """
    place = port or free_port()
    # GStreamer's bindings are Debian's, and so for Debian's Python.
    command = ["/usr/bin/python3", "-c", _SERVER, str(place)]
    with subprocess.Popen(  # noqa: S603 - a peer of the test
        tied(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield f"rtsp://driver:secret@127.0.0.1:{place}/dock"
        finally:
            process.kill()
