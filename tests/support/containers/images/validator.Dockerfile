# Stands in for sawtooth-validator: our node, without the rules, behind the names of Sawtooth's commands.
FROM wayseal/node:0.1.0
COPY support /usr/local/lib/wayseal-tests/support
COPY sawset sawadm sawtooth-validator /usr/local/bin/
ENV PYTHONPATH=/usr/local/lib/wayseal-tests
