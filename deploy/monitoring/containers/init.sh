#!/bin/sh
# Makes Prometheus' token and Grafana's first password, unless they are there, and says which gateway is watched.
set -eu
umask 077
cd /etc/wayseal/secrets
[ -s prometheus ] || {
  wayseal-gateway token prometheus --role operator > prometheus.json
  python3 -c 'import json; print(json.load(open("prometheus.json"))["token"], end="")' > prometheus.new
  rm prometheus.json
  mv prometheus.new prometheus
}
[ -s grafana ] || {
  python3 -c 'import secrets; print(secrets.token_urlsafe(18), end="")' > grafana.new
  mv grafana.new grafana
}

# Runs once the gateway is healthy, so its name is known now. It is written down, because a stopped container
# has no name: Prometheus would forget the target, and its alert would never fire.
watched=
for name in gateway site-gateway; do
  if getent hosts "$name" > /dev/null; then
    watched="$watched $name"
    echo "[{\"targets\": [\"$name:8080\"]}]" > "$name.new"
  else
    echo '[]' > "$name.new"
  fi
done
[ -n "$watched" ] || {
  echo "monitoring: expected the service gateway or site-gateway; neither runs: start embedded or site as well" >&2
  exit 1
}
for name in gateway site-gateway; do mv "$name.new" "$name.json"; done
echo "monitoring: Prometheus watches$watched"
