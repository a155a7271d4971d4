if [ "$1" = remove ] || [ "$1" = purge ]; then
  if under_systemd; then systemctl daemon-reload; fi
  rmdir --ignore-fail-on-non-empty /opt/wayseal 2>/dev/null || true
fi
if [ "$1" = purge ] && [ -n "$units" ]; then
  for unit in $units; do
    deb-systemd-helper purge "$unit" >/dev/null 2>&1 || true
  done
  for file in $settings; do rm -f "$file"; done
  rmdir --ignore-fail-on-non-empty /etc/wayseal 2>/dev/null || true
  if [ -d "/var/lib/wayseal/$role" ]; then
    say "kept /var/lib/wayseal/$role with its data and keys, and the user $package; when nobody needs them: rm -r /var/lib/wayseal/$role"
  fi
fi
