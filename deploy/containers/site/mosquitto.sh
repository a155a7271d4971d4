#!/bin/sh
# Runs mosquitto with the configuration that the gateway writes, and has it read passwords, rules and its
# certificate again when they change: the gateway, in a container of its own, cannot send it a signal.
set -eu
folder=/etc/mosquitto/wayseal tls=/etc/mosquitto/tls

state() { cat "$folder/passwords" "$folder/acl" "$tls"/* | cksum; }

before=$(state)
mosquitto -c "$folder/mosquitto.conf" &
broker=$!
trap 'kill "$broker"; wait "$broker"; exit 0' TERM INT
while kill -0 "$broker" 2>/dev/null; do
  sleep 2 & wait $!
  now=$(state)
  [ "$now" = "$before" ] || kill -HUP "$broker"
  before=$now
done
wait "$broker"
