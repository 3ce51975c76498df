#!/bin/sh
# Packs a wheel and installs it in the environment that it was made with. Usage: tools/pack.sh ENVIRONMENT FOLDER [PROFILE]
# PROFILE is one of Cargo's. The extension module stands in the source tree first, where it types the library and compiles
# its large functions: both go into the wheel with it.
set -eu
cd "$(dirname "$0")/.."
venv=$(cd "$1" && pwd) out=$2 profile=${3:-release} typed=python/lancehead/library.typed
order=$(realpath -m "${CARGO_TARGET_DIR:-target}")/order.txt

clean() {
    rm -f python/lancehead/_core.*.so
}
trap clean EXIT

clean
rm -f "$typed" python/lancehead/library.x86-64-* "$out"/lancehead-*.whl
tools/pages.sh
export VIRTUAL_ENV="$venv"
# The linker places LLVM's functions by a list of those that run, made for this version by `make order`.
if ! [ -e "$order" ]; then
    mkdir -p "$(dirname "$order")"
    gzip -dc tools/llvm-22.order.gz >"$order"
fi
export LANCEHEAD_ORDER="$order"
"$venv/bin/maturin" develop --profile "$profile" --skip-install --strip
PYTHONPATH=python "$venv/bin/python" xtask/type_library.py "$typed" --objects
clean
"$venv/bin/maturin" build --profile "$profile" --strip --interpreter "$venv/bin/python" --out "$out"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$out"/lancehead-*.whl
