# Where scripts/install has put a link, dpkg would unpack through it, into the environment in use.
if [ -L "$place" ]; then
  say "replaces $place -> $(readlink "$place"), which scripts/install made; what it points to stays"
  rm "$place"
fi
