"""Intake: the trucks' messages over MQTT become durable in the inbox."""
