#!/usr/bin/env bash
# The tools that the benchmarks compare the explorer with, in a folder of their own: .venv/bench.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup_dev.sh
VENV=.venv
BERTVIZ=1.4.1
source scripts/steps.sh

peers() {
  say "Installing the packages of requirements-bench.txt"
  rm -rf "$VENV/bench"
  local install=("$VENV/bin/python" -m pip --disable-pip-version-check install -q --target "$VENV/bench")
  "${install[@]}" -r requirements-bench.txt
  "${install[@]}" --no-deps "bertviz==$BERTVIZ" # torch and transformers are in the environment
}

step peers "$BERTVIZ $(print_of requirements-bench.txt)" peers
