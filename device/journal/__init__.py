"""The durable journal: everything that the device signed and that has no final receipt yet."""
