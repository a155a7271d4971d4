"""The durable journal: what the device signed and nobody has receipted yet."""
