"""Adapters of the port `Sensor`: the kernel's own drivers, gpsd, GPIO pins, and the Sense HAT."""
