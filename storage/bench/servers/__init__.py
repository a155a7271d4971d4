"""Processes under measurement: nodes, gateways, Cassandra; started, watched and stopped."""
