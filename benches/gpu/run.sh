#!/bin/sh
# Everything that is run on a machine with a GPU: checks, tests and the table, in less than ten minutes and without a network.
# Usage: sh run.sh      in the folder that `make gpu` has made
#
# Results are files in $OUT, or in the folder `results` here. PYTHON is the interpreter; CARD, SMALL, TESTS and FULL are
# the seconds of the four parts; WITHOUT names checks that are left out, PATIENCE multiplies their limits. No part stops the others.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/results}
wheel=$(ls "$here"/lancehead-*.whl)
# The wheel is for one version of Python: lancehead-0.1.0-cp312-... for python3.12.
minor=$(basename "$wheel" | sed 's/.*-cp3\([0-9]*\)-.*/\1/')
python=${PYTHON:-$(command -v "python3.$minor" || echo python3)}
start=$(date +%s)
if ! mkdir -p "$out" 2>/dev/null || ! [ -w "$out" ]; then
    out=$(mktemp -d)
fi
summary="$out/summary.txt"
: >"$summary"

say() {
    echo "$*" | tee -a "$summary"
}

# part NAME SECONDS FILE COMMAND...: within its seconds, and all parts together within 555.
part() {
    name=$1 seconds=$2 file=$3
    shift 3
    left=$((555 - $(date +%s) + start))
    [ "$left" -lt "$seconds" ] && seconds=$left
    if [ "$seconds" -lt 5 ]; then
        say "$name: SKIPPED, there is no time left"
        return
    fi
    began=$(date +%s)
    (cd "$here" && timeout -k 5 "$seconds" "$@") >"$file" 2>&1
    code=$?
    [ "$code" = 124 ] && say "$name: STOPPED after $seconds s"
    say "$name: ended with $code after $(($(date +%s) - began)) s: $(grep -v '^$' "$file" | tail -n 1 | cut -c1-200)"
}

site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
if ! "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$site" "$wheel" 2>"$out/install.txt"; then
    # A wheel is a zip file; pip may be lacking.
    say "pip does not install the wheel: $(tail -n 1 "$out/install.txt"); it is unpacked"
    "$python" -m zipfile -e "$wheel" "$site" 2>>"$out/install.txt"
fi
[ -s "$out/install.txt" ] || rm -f "$out/install.txt"
PYTHONPATH="$site${PYTHONPATH:+:$PYTHONPATH}"
# A driver that cannot be used is told then, instead of the CPU being used.
LANCEHEAD_CUDA_DEVICE=gpu
LANCEHEAD_CACHE_DIR="$site/cache"
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH LANCEHEAD_CUDA_DEVICE LANCEHEAD_CACHE_DIR PYTHONDONTWRITEBYTECODE
say "$("$python" -c 'import sys, numpy, lancehead; print("Python", sys.version.split()[0], "NumPy", numpy.__version__, "lancehead", lancehead.__version__)' 2>&1 | tail -n 1)"

part checks "${CARD:-195}" "$out/card.txt" "$python" benches/gpu/check_card.py --seconds $((${CARD:-195} - 5)) \
    ${WITHOUT:+--without "$WITHOUT"} ${PATIENCE:+--patience "$PATIENCE"}
part "small table" "${SMALL:-60}" "$out/small.txt" "$python" benches/gpu/run.py --small --seconds $((${SMALL:-60} - 5)) "$out/small.md"
part tests "${TESTS:-60}" "$out/tests.txt" "$python" benches/gpu/run_tests.py --seconds $((${TESTS:-60} - 5)) tests/python/cuda/test_cuda_kernels.py \
    tests/python/cuda/test_cuda_launches.py tests/python/cuda/test_cuda_interface.py
part table "${FULL:-235}" "$out/table.txt" "$python" benches/gpu/run.py --seconds $((${FULL:-235} - 8)) --json "$out/gpu.json" "$out/table.md"

grep -h '^FAIL' "$out/card.txt" "$out/tests.txt" 2>/dev/null | cut -c1-300 | tee -a "$summary"
say "all of it in $(($(date +%s) - start)) s; results are in $out"
