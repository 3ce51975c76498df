#!/bin/sh
# Builds one wheel per version of Python, in target/wheels-all, and tries each with tools/try_wheel.sh in an environment
# of that Python. Usage: tools/wheels.sh PYTHON ..., where PYTHON is a version (3.12) or the path of an interpreter.
# A version is looked for as python3.12 on PATH, then among pyenv's versions.
set -eu
cd "$(dirname "$0")/.."
all=target/wheels-all archive=python/lancehead/liblancehead.a
target=${CARGO_TARGET_DIR:-target}

runs() {
    "$1" -c 'import sys; sys.exit(sys.implementation.name != "cpython" or sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    case $1 in
    */*) candidates=$1 ;;
    *) candidates="python$1 ${PYENV_ROOT:-$HOME/.pyenv}/versions/$1*/bin/python$1" ;;
    esac
    # A pattern without a match stays as it is, and does not run.
    for candidate in $candidates; do
        if runs "$candidate"; then
            echo "$candidate"
            return 0
        fi
    done
    echo "wheels: $1 is no CPython from 3.11 on that runs here" >&2
    exit 1
}

# The files in the tree that the wheel takes in are those of `make build`: they come back at the end.
kept=$(mktemp -d)
restore() {
    rm -f python/lancehead/library.typed python/lancehead/library.x86-64-* "$archive"
    cp -p "$kept"/* python/lancehead/ 2>/dev/null || true
    rm -rf "$kept"
}

# All are looked for before anything is built.
for wanted in "$@"; do
    python=$(find_python "$wanted")
    echo "wheels: $wanted is $python"
done

mkdir -p "$all"
cp -p python/lancehead/library.* "$archive" "$kept" 2>/dev/null || true
trap restore EXIT
grep -E '^(maturin|numpy)==' tools/requirements.txt >"$all/requirements.txt"
cargo build --profile wheel --quiet --package lh-aot --package lh-driver
tools/archive.sh "$target/wheel/liblancehead.a" "$archive"

for wanted in "$@"; do
    python=$(find_python "$wanted")
    tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
    venv=$all/venv-$tag
    "$python" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$all/requirements.txt"
    # The typed library in it holds code that this version of Python has typed.
    tools/pack.sh "$venv" "$all/$tag" wheel
    mv "$all/$tag"/lancehead-*.whl "$all/"
    rmdir "$all/$tag"
    tools/try_wheel.sh "$python" "$all"/lancehead-*-"$tag"-*.whl
done
ls -l "$all"/*.whl
