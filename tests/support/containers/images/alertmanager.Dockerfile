# Stands in for prom/alertmanager: Debian's, started as the official image starts it.
FROM wayseal-test/debian-monitoring:12
ENTRYPOINT ["prometheus-alertmanager"]
