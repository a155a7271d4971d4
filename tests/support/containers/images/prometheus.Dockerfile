# Stands in for prom/prometheus: Debian's, started as the official image starts it.
FROM wayseal-test/debian-monitoring:12
ENTRYPOINT ["prometheus"]
