"""What a truck shows its driver, and who asks over MQTT: where it is, and whether it may leave."""
