#!/bin/sh
# Builds the wheel for a version of Python, in target/gpu/wheels. `make build` must have made liblancehead.a.
# Usage: tools/gpu_wheel.sh PYTHON
set -eu
cd "$(dirname "$0")/.."
venv=target/gpu/venv

version() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null || true
}

if [ "$(version "$1")" = "" ]; then
    echo "gpu_wheel: $1 is no Python that runs here; another one: make gpu PYTHON=python3.13" >&2
    exit 1
fi
if [ "$(version "$venv/bin/python")" != "$(version "$1")" ]; then
    "$1" -m venv --clear "$venv"
fi
# The same versions as in .venv.
mkdir -p target/gpu
grep -E '^(maturin|numpy)==' tools/requirements.txt >target/gpu/requirements.txt
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r target/gpu/requirements.txt

# The typed library and its objects are of one version of Python: those of .venv come back at the end.
kept=$(mktemp -d)
cp -p python/lancehead/library.* "$kept" 2>/dev/null || true
restore() {
    rm -f python/lancehead/library.typed python/lancehead/library.x86-64-*
    cp -p "$kept"/* python/lancehead/ 2>/dev/null || true
    rm -rf "$kept"
}
trap restore EXIT

tools/pack.sh "$venv" target/gpu/wheels wheel
