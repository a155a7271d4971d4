"""What a truck shows its driver and tells over MQTT: where it is, and whether it may leave."""
