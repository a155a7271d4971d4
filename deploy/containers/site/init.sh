#!/bin/sh
# What a site needs before its first start: a password, certificates, the broker's configuration. Later
# starts change nothing but certificates that are due, and put settings that were edited in their place.
set -eu
umask 077
secrets=/etc/wayseal/secrets

[ -s "$secrets/mqtt" ] || {
  python3 -c 'import secrets; print(secrets.token_urlsafe(32))' > "$secrets/mqtt.new"
  mv "$secrets/mqtt.new" "$secrets/mqtt"
}
sed "s|@PASSWORD@|$(cat "$secrets/mqtt")|" /etc/wayseal/gateway.template.toml > "$secrets/gateway.new"
mv "$secrets/gateway.new" "$secrets/gateway.toml"

. /etc/wayseal/certificates.sh
# shellcheck disable=SC2086 # a list of names
server /etc/mosquitto/tls mosquitto localhost 127.0.0.1 ${SITE_NAMES-}
# shellcheck disable=SC2086
server /etc/wayseal/tls gateway site-gateway localhost 127.0.0.1 ${SITE_NAMES-}
# The gateway compares the address, too.
server /etc/cassandra/tls cassandra "$CASSANDRA_ADDRESS"
renew
wayseal-gateway mosquitto
