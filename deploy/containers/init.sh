#!/bin/sh
# Makes keys and passwords that are missing, each a file for its owner alone. Run by the service `init`
# before all others; nothing that exists is changed.
set -eu
umask 077
keys=/etc/wayseal/keys public=/etc/wayseal/public

# The node knows the administrator by the public key; the private one stays where only `party` reads it.
wayseal-party --key "$keys/admin.key" make-key > "$keys/admin.json"
python3 -c 'import json, sys; print(json.load(sys.stdin)["public_key"])' < "$keys/admin.json" > "$public/admin.new"
chmod 644 "$public/admin.new"
mv "$public/admin.new" "$public/admin"

# Of the image; here are no settings of a gateway.
unset WAYSEAL_GATEWAY_CONFIG

# The ledger and who meets it show each other certificates. The gateway renews them while it runs, and so does each start.
pki=/etc/wayseal/ledger-pki ledger=/etc/wayseal/ledger
[ -e "$pki/ca.key" ] || wayseal-gateway pki init --folder "$pki"
[ -e "$ledger/node.crt" ] || wayseal-gateway pki server node --san localhost 127.0.0.1 node-1 node-2 node-3 node-4 \
  --folder "$pki" --out "$ledger"
[ -e "$ledger/client.crt" ] || wayseal-gateway pki server client --folder "$pki" --out "$ledger"
install -m 644 "$pki/ca.crt" "$ledger/ca.crt"
wayseal-gateway pki renew --folder "$pki"
