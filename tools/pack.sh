#!/bin/sh
# Packs a wheel and installs it in the environment that it was made with. Usage: tools/pack.sh ENVIRONMENT FOLDER
# The extension module stands in the source tree first, where it types the library that goes into the wheel with it. If
# the linker has no list of LLVM's functions in the order in which they run, a module that is linked without one makes it:
# a compilation then maps 12 to 20 MB of code instead of 28 to 33, an import 2 MB instead of 15.
set -eu
cd "$(dirname "$0")/.."
venv=$(cd "$1" && pwd) out=$2 typed=python/lancehead/library.typed
order=$(realpath -m "${CARGO_TARGET_DIR:-target}")/order.txt

clean() {
    rm -f python/lancehead/_core.*.so
}
trap clean EXIT

clean
rm -f "$typed" "$out"/lancehead-*.whl
tools/pages.sh
export VIRTUAL_ENV="$venv"
if ! [ -e "$order" ]; then
    "$venv/bin/maturin" develop --release --skip-install -- -C strip=none
    "$venv/bin/python" xtask/order.py python/lancehead/_core.*.so "$order"
    clean
fi
export LANCEHEAD_ORDER="$order"
"$venv/bin/maturin" develop --release --skip-install
PYTHONPATH=python "$venv/bin/python" xtask/type_library.py "$typed"
clean
"$venv/bin/maturin" build --release --interpreter "$venv/bin/python" --out "$out"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$out"/lancehead-*.whl
