"""What a truck shows its driver and sends over MQTT: where it is, and whether it may leave."""
