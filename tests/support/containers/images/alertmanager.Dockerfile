# Stands in for prom/alertmanager: Debian's, started as the official image starts it.
FROM wayseal-test/debian-servers:12
ENTRYPOINT ["prometheus-alertmanager"]
