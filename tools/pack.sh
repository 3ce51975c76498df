#!/bin/sh
# Packs a wheel and installs it in the environment that it was made with. Usage: tools/pack.sh ENVIRONMENT FOLDER [PROFILE]
# The extension module stands in the source tree first, where it types the library and compiles its large functions: both
# go into the wheel with it.
#
# PROFILE is one of Cargo's. For `wheel`, whose wheels are given away, the linker gets a list of LLVM's functions in the
# order in which they run; if there is none, a module that is linked without one makes it.
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
if [ "$profile" = wheel ]; then
    if ! [ -e "$order" ]; then
        "$venv/bin/maturin" develop --profile "$profile" --skip-install -- -C strip=none
        "$venv/bin/python" xtask/order.py python/lancehead/_core.*.so "$order"
        clean
    fi
    export LANCEHEAD_ORDER="$order"
fi
"$venv/bin/maturin" develop --profile "$profile" --skip-install
PYTHONPATH=python "$venv/bin/python" xtask/type_library.py "$typed" --objects
clean
"$venv/bin/maturin" build --profile "$profile" --interpreter "$venv/bin/python" --out "$out"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$out"/lancehead-*.whl
