#!/bin/sh
# Certificates for three sites on one machine: Cassandra's nodes share one, and so do the gateways.
set -eu
. /etc/wayseal/certificates.sh
# shellcheck disable=SC2086 # a list of addresses
server /etc/cassandra/tls cassandra $CASSANDRA_ADDRESSES
server /etc/wayseal/tls gateway localhost
renew
