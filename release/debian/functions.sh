set -e
role=@ROLE@
package=wayseal-@ROLE@
place=/opt/wayseal/@ROLE@
commands="@COMMANDS@"
shared="@SHARED@"
units="@UNITS@"
needed="@NEEDED@"
settings="@SETTINGS@"

say() { echo "$package: $*"; }

# Compiled modules are not in the package: they would differ between two builds.
forget_compiled() { find "$place" -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true; }

under_systemd() { [ -d /run/systemd/system ]; }

# Whether the operator has written the settings without which the unit cannot start.
has_settings() {
  for file in $needed; do
    [ ! -e "$file" ] || return 0
  done
  return 1
}
