#!/usr/bin/env bash
# Ensure that the programs that the tests need are installed, Chromium, nginx, RabbitMQ, Go and promtool; print where they
# are. Without one of the last three the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unpacked=.venv/programs

find_program() {
    local name
    for name in "$@"; do
        command -v "$name" && return
    done
    return 1
}

find_nginx() {
    find_program nginx /usr/sbin/nginx "$unpacked/usr/sbin/nginx"
}

find_chromium() {
    find_program chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable
}

find_promtool() {
    find_program promtool "$unpacked/usr/bin/promtool"
}

find_rabbitmq() {
    # Not the one on the PATH, which changes to the user of the system's own RabbitMQ.
    find_program /usr/lib/rabbitmq/bin/rabbitmq-server
}

find_go() {
    # With the packages that judge the log (tests/judges).
    [ -d /usr/share/gocode/src/golang.org/x/mod/sumdb ] && find_program go
}

# Take one file out of a package: installed, nginx or Prometheus would start serving on this machine.
unpack() {
    mkdir -p "$unpacked"
    (cd "$unpacked" && apt-get download -qq "${retries[@]}" -o APT::Sandbox::User=root "$1" &&
        dpkg-deb --fsys-tarfile "$1"_*.deb | tar --extract "./$2" && rm "$1"_*.deb)
}

install_rabbitmq() {
    # This file is what keeps Debian from starting a service that it installs.
    local policy=/usr/sbin/policy-rc.d own=
    if [ ! -e "$policy" ]; then
        own=1
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    apt-get install -y -qq --no-install-recommends "${retries[@]}" rabbitmq-server >/dev/null || true
    if [ -n "$own" ]; then rm -f "$policy"; fi
}

if ! find_nginx >/dev/null || ! find_chromium >/dev/null || ! find_rabbitmq >/dev/null || ! find_go >/dev/null ||
    ! find_promtool >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing Chromium, nginx, RabbitMQ, Go and promtool for the tests"
        export DEBIAN_FRONTEND=noninteractive
        # A machine that has just started may be busy installing, and a mirror may fail once.
        retries=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
        apt-get update -qq "${retries[@]}"
        # The shell has no windows and needs a quarter less processor time; some distributions do not have it.
        if ! find_program chromium-headless-shell >/dev/null; then
            apt-get install -y -qq --no-install-recommends "${retries[@]}" chromium-headless-shell >/dev/null || true
        fi
        if ! find_chromium >/dev/null; then
            apt-get install -y -qq --no-install-recommends "${retries[@]}" chromium >/dev/null
        fi
        if ! find_nginx >/dev/null; then
            unpack nginx usr/sbin/nginx
            unpack nginx-common etc/nginx/mime.types
        fi
        if ! find_promtool >/dev/null; then
            unpack prometheus usr/bin/promtool || true
        fi
        if ! find_rabbitmq >/dev/null; then
            install_rabbitmq
        fi
        if ! find_go >/dev/null; then
            apt-get install -y -qq --no-install-recommends "${retries[@]}" golang-go golang-golang-x-mod-dev >/dev/null ||
                true
        fi
    fi
fi
if ! find_nginx >/dev/null || ! find_chromium >/dev/null; then
    cat >&2 <<'WORDS'
The tests need Chromium (chromium, chromium-browser or google-chrome on the PATH) and nginx, and one of them is missing.
Debian and Ubuntu:  sudo apt-get update && sudo apt-get install -y chromium nginx
Fedora:             sudo dnf install -y chromium nginx
macOS:              brew install nginx && brew install --cask chromium
WORDS
    exit 1
fi
if ! find_rabbitmq >/dev/null; then
    echo "RabbitMQ cannot be installed here (as root on Debian: apt-get install rabbitmq-server): its tests are skipped"
fi
if ! find_go >/dev/null; then
    echo "Go cannot be installed here (Debian: golang-go, golang-golang-x-mod-dev): what it judges is skipped"
fi
if ! find_promtool >/dev/null; then
    echo "promtool cannot be installed here (Debian: prometheus): tests of alerts are skipped"
fi
echo "The tests use $(find_chromium), $(find_nginx), $(find_rabbitmq || echo no RabbitMQ), $(find_go || echo no Go)" \
    "and $(find_promtool || echo no promtool)"
