if [ "$1" = remove ]; then
  if under_systemd; then
    for unit in $units; do deb-systemd-invoke stop "$unit" || true; done
  fi
  for command in $shared; do
    update-alternatives --quiet --remove "$command" "$place/bin/$command"
  done
fi
forget_compiled
