"""Adapters of the port `Sensor`: the kernel's own drivers, gpsd, GPIO pins, and LSM9DS1 on I2C."""
