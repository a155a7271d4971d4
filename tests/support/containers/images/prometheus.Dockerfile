# Stands in for prom/prometheus: Debian's, started as the official image starts it.
FROM wayseal-test/debian-servers:12
ENTRYPOINT ["prometheus"]
