"""Cameras: where recordings come from: files, the simulator, and live cameras (`filming`)."""
