if [ "$1" = configure ]; then
  [ -z "$units" ] || systemd-sysusers "$package.conf"
  "$place/bin/python" -m compileall -q "$place/lib" >/dev/null 2>&1 || true # a library's files for other Pythons
  for command in $commands; do
    case $(readlink "/usr/local/bin/$command" || true) in
      "$place"/*) rm "/usr/local/bin/$command" ;; # of scripts/install; it would hide the package's
    esac
  done
  for command in $shared; do
    update-alternatives --quiet --install "/usr/bin/$command" "$command" "$place/bin/$command" @PRIORITY@
  done
  for unit in $units; do
    [ ! -f "/etc/systemd/system/$unit" ] ||
      say "WARNING: /etc/systemd/system/$unit hides the package's unit: compare it with /usr/lib/systemd/system/$unit, and remove it"
  done
  if under_systemd && [ -n "$units" ]; then
    systemctl daemon-reload
  fi
  if [ -n "$units" ] && [ -z "$2" ]; then # a first installation
    if has_settings; then
      deb-systemd-helper enable "$package.service" >/dev/null
      if under_systemd; then deb-systemd-invoke start "$package.service" || say "did not start: journalctl -u $package"; fi
    else
      say "not started, for want of settings: copy $needed.example without .example, and follow its first lines"
    fi
  elif under_systemd; then # an upgrade: what runs, runs the new version
    for unit in $units; do
      if systemctl --quiet is-active "$unit"; then
        deb-systemd-invoke restart "$unit" || say "did not restart: journalctl -u $unit"
      fi
    done
  fi
fi
