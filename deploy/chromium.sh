#!/usr/bin/env bash
# Make sure that there is a Chromium for the browser tests; print where it is.
set -euo pipefail

find_chromium() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

if found=$(find_chromium); then
    echo "Browser tests use $found"
    exit
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the browser tests"
    export DEBIAN_FRONTEND=noninteractive
    # A machine that has just started may be busy installing, and a mirror may fail once.
    patiently=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
    apt-get update -qq "${patiently[@]}"
    apt-get install -y -qq --no-install-recommends "${patiently[@]}" chromium >/dev/null
    echo "Browser tests use $(find_chromium)"
    exit
fi
cat >&2 <<'WORDS'
The browser tests need Chromium and there is none (chromium, chromium-browser or google-chrome on the PATH).
Debian and Ubuntu:  sudo apt-get update && sudo apt-get install -y chromium
Fedora:             sudo dnf install -y chromium
macOS:              brew install --cask chromium
WORDS
exit 1
