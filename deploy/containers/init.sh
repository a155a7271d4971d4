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
