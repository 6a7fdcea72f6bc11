#!/usr/bin/env bash
# Lint, types and every test. All of them run, whatever failed before; what is timed comes last
# and with nothing beside it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
scripts/setup_dev.sh || exit 1
python=.venv/bin/python
failed=()

part() {
  local name=$1
  shift
  printf '\n== %s\n' "$name"
  "$@" || failed+=("$name")
}

# Two browsers and two servers on two cores keep each other waiting. What failed is tried once more
# with nothing beside it, in sight: a fault fails twice.
browser_tests() {
  $python -m pytest -n 2 --dist loadfile -m "browser and not alone" && return
  printf '\n== the browser tests that failed, once more and alone\n'
  $python -m pytest --last-failed --last-failed-no-failures none -m "browser and not alone"
}

part lint $python -m ruff check .
part format $python -m ruff format --check .
part types $python -m pyright
part "unit and page tests" $python -m pytest -n 2 --dist loadfile -m "not browser"
part "browser tests" browser_tests
part "timed browser tests" $python -m pytest -m "browser and alone"

[ ${#failed[@]} = 0 ] && exit 0
printf '\nFailed: %s\n' "$(IFS=,; echo "${failed[*]}")"
exit 1
