# Sourced by the scripts that run before a site or network: an authority, and certificates of servers.
umask 077
pki=/etc/wayseal/pki
[ -e "$pki/ca.crt" ] || wayseal-gateway pki init --folder "$pki"
install -m 644 "$pki/ca.crt" /etc/wayseal/public/ca.crt

# Make the certificate of a server in its directory, unless it is there: `server DIRECTORY NAME SAN...`.
server() {
  directory=$1 name=$2
  shift 2
  [ -e "$directory/$name.crt" ] || wayseal-gateway pki server "$name" --san "$@" --folder "$pki" --out "$directory"
  install -m 644 "$pki/ca.crt" "$directory/ca.crt"
}

# Put new certificates in the place of those that are past two thirds of their time.
renew() { wayseal-gateway pki renew --folder "$pki"; }
