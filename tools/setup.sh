#!/bin/sh
# Installs what building lancehead needs and this machine lacks: LLVM 22 and a C++ compiler from Debian, rustfmt and
# clippy from rustup, a virtual environment in .venv, and Python's headers. Quick and silent when nothing is missing.
# Usage: tools/setup.sh [tests]
set -eu
cd "$(dirname "$0")/.."
PATH="$HOME/.cargo/bin:$PATH"
for_tests=${1:-}

PACKAGES="llvm-22-dev libzstd-dev zlib1g-dev libffi-dev libxml2-dev g++"

missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || printf '%s ' "$package"
    done
}

install_packages() {
    wanted=$(missing_packages "$@")
    [ -z "$wanted" ] && return 0
    if [ "$(id -u)" != 0 ]; then
        echo "setup: not root; run first: apt-get install --no-install-recommends $wanted" >&2
        exit 1
    fi
    echo "setup: installing $wanted"
    # $wanted is a list of words.
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $wanted >/dev/null 2>&1 && return 0
    apt-get -qq update
    if ! apt-cache show llvm-22-dev >/dev/null 2>&1; then
        echo "setup: apt knows no llvm-22-dev: Debian 12 has it in its security suite, which must be among apt's sources" >&2
        exit 1
    fi
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $wanted >/dev/null
}

find_python() {
    for candidate in ${PYTHON:-} python3.11 python3; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(not (sys.implementation.name == "cpython" and sys.version_info >= (3, 11)))'; then
            echo "$candidate"
            return 0
        fi
    done
    echo "setup: CPython 3.11 or newer is needed" >&2
    exit 1
}

install_packages $PACKAGES

if ! command -v cargo >/dev/null; then
    echo "setup: Rust is needed: install it with rustup" >&2
    exit 1
fi
# The sanitizers of the night build the standard library.
[ -d "$(rustc --print sysroot)/lib/rustlib/src" ] || rustup component add rust-src || echo "setup: without rust-src" >&2
for component in rustfmt clippy; do
    cargo "${component#rust}" --version >/dev/null 2>&1 || rustup component add "$component"
done

if ! [ -x .venv/bin/pip ]; then
    python=$(find_python)
    # Debian's Python comes without the means to make virtual environments.
    "$python" -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
    "$python" -m venv --clear .venv
fi
# Tests build extension modules.
.venv/bin/python -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    install_packages python3-dev

set -- -r tools/requirements.txt
# Tests need more, which a build does not wait for.
[ -z "$for_tests" ] || set -- "$@" -r tools/test_requirements.txt
sum="$(cat tools/*requirements.txt | cksum) $*"
case "$(cat .venv/.requirements 2>/dev/null || true)" in
"$sum"*) ;;
*)
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"
    echo "$sum" >.venv/.requirements
    ;;
esac
