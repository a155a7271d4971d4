#!/bin/sh
# Found a network of validators on one machine, once: ADDRESSES says where each listens to the others.
set -eu
umask 077
validators=/validators made=/tmp/network
last=$(echo "$ADDRESSES" | wc -w)
# Each joined: the last one joins last.
[ -e "$validators/$last/network.json" ] && exit 0
rm -rf "$made"
mkdir "$made"
number=0
for address in $ADDRESSES; do
  number=$((number + 1))
  data=$validators/$number
  if [ -e "$data/chain.log" ]; then
    echo "validators: expected either all $last validators or none to have joined a network, but $number has a ledger" >&2
    exit 1
  fi
  # Of a first run that was cut off: no ledger knows these keys.
  find "$data" -mindepth 1 -delete
  wayseal-node validator --data "$data" --p2p 0.0.0.0:26656 --advertise "$address:26656" > "$made/$number.json"
done
wayseal-node found --chain-id on-one-machine --admin "$(cat /etc/wayseal/public/admin)" --out "$made/network" "$made"/*.json
for data in "$validators"/*; do
  wayseal-node join --data "$data" "$made/network"
done
