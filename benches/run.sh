#!/bin/sh
# Measures lancehead beside Numba with the side-by-side harness and Numba's own tests, where a checkout of them lies in ../shared.
#
#   benches/run.sh [latency | start | throughput | others | growth | checks | parallel | numpy | clients | array-api | cupy-tests | primitives | calls | sparse | gradients | scipy-sparse | dask | suite | all]      results in target/bench
#
# ARRAY_API_TESTS names a checkout of github.com/data-apis/array-api-tests with its submodules, for `array-api`;
# LANCEHEAD_XP_DEVICE=cuda:0 runs them on that device.
# CUPY_CHECKOUT names a checkout of github.com/cupy/cupy, for `cupy-tests`; the table of docs/conformance.md is printed.
# BASELINE_PYTHON names a Python that has Numba 0.68.1 (for `suite` also numba-cuda, scipy and cffi); by default .venv gets it.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
shared=${LANCEHEAD_SHARED:-$root/../shared}
out=$root/target/bench
what=${1:-all}

# The tests of the array API standard, on lazy arrays as they are installed in .venv. First calls compile: no deadline.
if [ "$what" = array-api ]; then
    cd "${ARRAY_API_TESTS:?names a checkout of array-api-tests}"
    "$root/.venv/bin/python" -m pip install --quiet -r requirements.txt
    ARRAY_API_TESTS_MODULE=lancehead.xp exec "$root/.venv/bin/python" -m pytest -q -p no:cacheprovider array_api_tests \
        --max-examples 5 --disable-deadline --disable-warnings --tb=line
fi

# CuPy's own tests, on lancehead.cupy as it is installed in .venv.
if [ "$what" = cupy-tests ]; then
    : "${CUPY_CHECKOUT:?names a checkout of cupy}"
    mkdir -p "$out"
    shift
    exec "$root/.venv/bin/python" benches/cupy_suite.py --json "$out/cupy.json" "$@"
fi

# Primitives of lazy arrays beside Thrust and JAX, which live in target/peers; without them the table has loops and NumPy.
if [ "$what" = primitives ]; then
    peers=$out/../peers
    mkdir -p "$peers"
    [ -d "$peers/cccl" ] || "$root/.venv/bin/python" -m pip install --quiet --no-deps --target "$peers/cccl" nvidia-cuda-cccl || true
    [ -x "$peers/v/bin/python" ] || { "$root/.venv/bin/python" -m venv "$peers/v" && "$peers/v/bin/pip" install --quiet jax; } || true
    shift
    OPENBLAS_NUM_THREADS=1 exec "$root/.venv/bin/python" benches/primitives.py --peers "$peers" "$@"
fi

# Small calls of lazy arrays beside NumPy.
if [ "$what" = calls ]; then
    shift
    exec "$root/.venv/bin/python" benches/calls.py "$@"
fi

# Sparse arrays beside SciPy, and NetworkX where .venv has it.
if [ "$what" = sparse ]; then
    shift
    OPENBLAS_NUM_THREADS=1 exec "$root/.venv/bin/python" benches/sparse.py "$@"
fi

# Derivatives beside the functions themselves.
if [ "$what" = gradients ]; then
    shift
    exec "$root/.venv/bin/python" benches/gradients.py "$@"
fi

# Lazy arrays as chunks of Dask's. The folder of this file is not searched for modules: it has a `sparse.py`.
if [ "$what" = dask ]; then
    shift
    OPENBLAS_NUM_THREADS=1 exec "$root/.venv/bin/python" -P benches/chunks.py "$@"
fi

# SciPy's own tests of sparse arrays, on lancehead.sparse as it is installed in .venv.
if [ "$what" = scipy-sparse ]; then
    mkdir -p "$out"
    shift
    exec "$root/.venv/bin/python" benches/scipy_sparse_suite.py --json "$out/scipy-sparse.json" "$@"
fi

if ! [ -d "$shared/bench" ]; then
    echo "bench: there is no harness in $shared; see benches/README.md" >&2
    exit 1
fi
mkdir -p "$out"

# Numba lives in an environment of its own, beside the wheel of lancehead.
venv=$root/target/bench-venv
if ! [ -x "$venv/bin/pip" ]; then
    .venv/bin/python -m venv "$venv"
    "$venv/bin/pip" install --quiet numba==0.68.1 numba-cuda==0.30.4 scipy cffi
fi
"$venv/bin/pip" install --quiet --force-reinstall --no-deps target/wheels/lancehead-*.whl
python=$venv/bin/python

run() {
    case "$what" in all | "$1") ;; *) return 0 ;; esac
    shift
    echo "bench: $*"
    "$@"
}

# The thread that OpenBLAS starts while NumPy is imported spins for 100 ms, which would be counted as time of a first call.
run latency env OPENBLAS_NUM_THREADS=1 "$python" "$shared/bench/latency.py" --module numba,lancehead --repeats 5 --json "$out/latency.json"
run start env OPENBLAS_NUM_THREADS=1 "$python" benches/start.py
run throughput "$python" "$shared/bench/throughput.py" --module numba,lancehead --json "$out/throughput.json"
run others "$python" benches/others/run.py
run growth "$python" benches/growth.py --module numba,lancehead
run checks "$python" benches/checks.py --module lancehead --harness "$shared/bench"
run parallel "$python" benches/parallel.py
run numpy env OPENBLAS_NUM_THREADS=1 "$python" benches/numpy_sweep.py
clients() {
    "$venv/bin/pip" install --quiet scipy pandas scikit-learn xarray numba-stats numbagg resampy tslearn quantecon stumpy interpolation pyts librosa sparse pynndescent numba-progress py-pde
    "$python" benches/clients.py --python "$python" --numba | tee "$out/clients.log"
}
[ "$what" = all ] || run clients clients
suite() {
    "$python" "$shared/peer/numba_suite.py" --candidate lancehead --numba-site "$venv" --half open --jobs 2 | tee "$out/suite.log"
    "$python" "$shared/peer/numba_suite.py" --candidate lancehead --numba-site "$venv" --cuda real --no-selection --area 'cuda*' --jobs 2 | tee "$out/cuda.log"
    "$python" benches/conformance.py "$out/suite.log" "$out/cuda.log" $([ -f "$out/cupy.json" ] && echo "$out/cupy.json") >docs/conformance.md
}
run suite suite
run suite "$python" "$shared/peer/snippets.py" --module lancehead
