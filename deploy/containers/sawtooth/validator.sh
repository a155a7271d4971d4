#!/bin/bash
# Runs the validator $NAME of $VALIDATORS, whose consensus is $CONSENSUS; the first of them founds the network.
# On a host, names are addresses, and $COMPONENT, $ENGINE and $NETWORK are where it listens.
set -euo pipefail
home=$SAWTOOTH_HOME shared=${SAWTOOTH_SHARED:-/sawtooth/shared} keys=${SAWTOOTH_KEYS:-/sawtooth/keys}
read -r -a validators <<< "$VALIDATORS"
mkdir -p "$home"/{data,etc,keys,logs,policy}
for kind in priv pub; do install -m 600 "$keys/$NAME.$kind" "$home/keys/validator.$kind"; done
key=$home/keys/validator.priv

propose() { sawset proposal create -k "$key" -o "$home/$1" "${@:2}"; }

settings() {
  echo "wayseal.admin_keys=$(cat "$keys/admin.pub")"
  echo "sawtooth.publisher.max_batches_per_block=$MAX_BATCHES"
  case $CONSENSUS in
    pbft)
      members=$(for name in "${validators[@]}"; do printf '"%s",' "$(cat "$keys/$name.pub")"; done)
      echo sawtooth.consensus.algorithm.name=pbft
      echo sawtooth.consensus.algorithm.version=1.0
      echo "sawtooth.consensus.pbft.members=[${members%,}]"
      ;;
    poet)
      echo sawtooth.consensus.algorithm.name=PoET
      echo sawtooth.consensus.algorithm.version=0.1
      echo "sawtooth.poet.report_public_key_pem=$(cat "$shared/simulator_rk_pub.pem")"
      echo "sawtooth.poet.valid_enclave_measurements=$(cat "$shared/measurement")"
      echo "sawtooth.poet.valid_enclave_basenames=$(cat "$shared/basename")"
      ;;
  esac
}

# The validator takes genesis.batch once, and refuses one beside a chain: block-chain-id is there from then on.
if [ "$NAME" = "${validators[0]}" ] && [ ! -e "$home/data/block-chain-id" ]; then
  mapfile -d '' -t chosen < <(settings | python3 -c '
import re, sys
sys.stdout.write("\0".join(re.split(r"\n(?=[a-z_.]+=)", sys.stdin.read().rstrip("\n"))) + "\0")')
  sawset genesis -k "$key" -o "$home/config-genesis.batch"
  propose config.batch "${chosen[@]}"
  batches=("$home/config-genesis.batch" "$home/config.batch")
  if [ "$CONSENSUS" = poet ]; then
    # The registration is judged by the settings before it; paper 002 has the times.
    propose poet-times.batch sawtooth.poet.target_wait_time=25 sawtooth.poet.initial_wait_time=100
    batches+=("$shared/poet.batch" "$home/poet-times.batch")
  fi
  sawadm genesis "${batches[@]}"
fi

peers=$(for name in "${validators[@]}"; do [ "$name" = "$NAME" ] || printf 'tcp://%s:8800,' "$name"; done)
exec sawtooth-validator -v --scheduler serial --peering static --maximum-peer-connectivity 100 \
  --endpoint "tcp://$NAME:8800" --peers "${peers%,}" \
  --bind "component:${COMPONENT:-tcp://eth0:4004}" --bind "consensus:${ENGINE:-tcp://eth0:5050}" \
  --bind "network:${NETWORK:-tcp://eth0:8800}"
