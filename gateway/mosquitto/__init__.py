"""The configuration of a site's mosquitto."""
