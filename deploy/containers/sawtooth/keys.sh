#!/bin/sh
# Makes the keys of validators and of the administrator, unless they are there. Our key files are Sawtooth's.
set -eu
umask 077
cd "${SAWTOOTH_KEYS:-/sawtooth/keys}"
for name in admin $VALIDATORS; do
  wayseal-party --key "$name.priv" make-key > "$name.json"
  python3 -c 'import json, sys; print(json.load(sys.stdin)["public_key"])' < "$name.json" > "$name.pub"
done
