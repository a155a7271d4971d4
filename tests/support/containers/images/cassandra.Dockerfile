# Stands in for the image cassandra: the server's jars, and a `cassandra` that reads the same variables.
FROM wayseal-test/debian-servers:12
COPY lib /opt/cassandra/lib
COPY jvm17-server.options /opt/cassandra/
COPY cassandra /usr/local/bin/cassandra
