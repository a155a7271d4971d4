#!/bin/sh
# Makes Prometheus' token and Grafana's first password, unless they are there.
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
