# Stands in for eclipse-mosquitto: Debian's mosquitto, with the plugin where the official image has it.
FROM wayseal-test/debian-servers:12
RUN ln -s /usr/lib/*/mosquitto_dynamic_security.so /usr/lib/mosquitto_dynamic_security.so
