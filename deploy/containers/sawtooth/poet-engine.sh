#!/bin/bash
# Runs the PoET engine of the validator $NAME; with REGISTER=true it first makes what the genesis block needs.
set -euo pipefail
home=$SAWTOOTH_HOME shared=${SAWTOOTH_SHARED:-/sawtooth/shared} keys=${SAWTOOTH_KEYS:-/sawtooth/keys}
mkdir -p "$home"/{data,etc,keys,logs,policy}
for kind in priv pub; do install -m 600 "$keys/$NAME.$kind" "$home/keys/validator.$kind"; done
install -m 644 /etc/sawtooth/simulator_rk_pub.pem "$home/etc/simulator_rk_pub.pem"
if [ "${REGISTER:-}" = true ] && [ ! -e "$shared/ready" ]; then
  poet enclave measurement > "$shared/measurement"
  poet enclave basename > "$shared/basename"
  install -m 644 "$home/etc/simulator_rk_pub.pem" "$shared/simulator_rk_pub.pem"
  poet registration create -k "$home/keys/validator.priv" -o "$shared/poet.batch"
  touch "$shared/ready"
fi
exec poet-engine -v -C "${ENGINE:-tcp://$NAME:5050}" --component "${COMPONENT:-tcp://$NAME:4004}"
