"""The truck: sensors, cameras, the durable journal and the offload. Needs the `device` extra."""
