# shellcheck shell=bash
# Sourced by the set-up scripts: say what is done, do it once, install what the system lacks.

say() { printf '\033[1m%s\033[0m\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# step NAME KEY COMMAND...: runs the command unless it succeeded before with the same key.
step() {
  local stamp="$VENV/.done-$1" key=$2 name=$1
  shift 2
  [ "$(cat "$stamp" 2>/dev/null)" = "$key" ] && return
  rm -f "$stamp"
  "$@" || fail "Setting up failed at: $name."
  printf '%s\n' "$key" > "$stamp"
}

# A short fingerprint of files.
print_of() { cat "$@" | cksum | tr -d '\n'; }

# system_packages PACKAGE...: installs them with apt where that is possible, else fails.
system_packages() {
  command -v apt-get >/dev/null || return 1
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || return 1
    [ -t 0 ] || sudo -n true 2>/dev/null || return 1
    as_root=(sudo)
  fi
  say "Installing with apt: $*"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "$@"
}
