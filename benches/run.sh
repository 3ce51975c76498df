#!/bin/sh
# Measures lancehead: by itself, beside NumPy and other packages, and beside Numba.
#
#   benches/run.sh WHAT [OPTIONS]      `--json FILE` also writes the figures; other results are in target/bench
#
# In .venv:  latency python primitives pipelines calls sparse gradients dask array-api cupy-tests mlir-tests scipy-sparse
# In an environment with Numba, and with the side-by-side harness in ../shared (LANCEHEAD_SHARED names another place):
#            numba-latency throughput start others growth checks parallel schedule borders numpy clients suite
# `all`, the default, is the latter but `clients`.
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
[ $# = 0 ] || shift

# They make OpenBLAS take kernels and block sizes of another processor, and NumPy a slow peer.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

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
    exec "$root/.venv/bin/python" benches/cupy_suite.py --json "$out/cupy.json" "$@"
fi

# Primitives of lazy arrays beside Thrust and JAX, which live in target/peers; without them the table has loops and NumPy.
if [ "$what" = primitives ]; then
    peers=$out/../peers
    mkdir -p "$peers"
    [ -d "$peers/cccl" ] || "$root/.venv/bin/python" -m pip install --quiet --no-deps --target "$peers/cccl" nvidia-cuda-cccl || true
    [ -x "$peers/v/bin/python" ] || { "$root/.venv/bin/python" -m venv "$peers/v" && "$peers/v/bin/pip" install --quiet jax; } || true
    OPENBLAS_NUM_THREADS=1 exec "$root/.venv/bin/python" benches/primitives.py --peers "$peers" "$@"
fi

# Pipelines of lazy arrays beside NumPy, and JAX where .venv has it.
if [ "$what" = pipelines ]; then
    exec "$root/.venv/bin/python" benches/pipelines.py "$@"
fi

# Small calls of lazy arrays beside NumPy.
if [ "$what" = calls ]; then
    exec "$root/.venv/bin/python" benches/calls.py "$@"
fi

# Sparse arrays beside SciPy, and NetworkX where .venv has it.
if [ "$what" = sparse ]; then
    OPENBLAS_NUM_THREADS=1 exec "$root/.venv/bin/python" benches/sparse.py "$@"
fi

# The tests of numba-cuda's successor on the CPU device, from a checkout that MLIR_CHECKOUT names.
if [ "$what" = mlir-tests ]; then
    mkdir -p "$out"
    exec "$root/.venv/bin/python" benches/mlir_suite.py --json "$out/mlir.json" "$@"
fi

# Derivatives beside the functions themselves.
if [ "$what" = gradients ]; then
    exec "$root/.venv/bin/python" benches/gradients.py "$@"
fi

# Lazy arrays as chunks of Dask's. The folder of this file is not searched for modules: it has a `sparse.py`.
if [ "$what" = dask ]; then
    OPENBLAS_NUM_THREADS=1 exec "$root/.venv/bin/python" -P benches/chunks.py "$@"
fi

# SciPy's own tests of sparse arrays, on lancehead.sparse as it is installed in .venv.
if [ "$what" = scipy-sparse ]; then
    mkdir -p "$out"
    exec "$root/.venv/bin/python" benches/scipy_sparse_suite.py --json "$out/scipy-sparse.json" "$@"
fi

# First calls in new processes, with an empty and with a filled store of compiled code.
if [ "$what" = latency ]; then
    exec "$root/.venv/bin/python" benches/latency.py "$@"
fi

# Texts, containers, built-ins and modules of the standard library beside CPython.
if [ "$what" = python ]; then
    exec "$root/.venv/bin/python" benches/python_sweep.py "$@"
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
    "$venv/bin/pip" install --quiet numba==0.68.1 numba-cuda==0.30.4 scipy cffi threadpoolctl
fi
"$venv/bin/pip" install --quiet --force-reinstall --no-deps target/wheels/lancehead-*.whl
python=$venv/bin/python

more=$*

# Runs a benchmark if it is asked for; alone, it has the rest of the command line, else it writes its figures.
run() {
    name=$1
    shift
    case "$what" in
    "$name") echo "bench: $*" && "$@" $more ;;
    all) echo "bench: $*" && "$@" --json "$out/$name.json" ;;
    esac
}
# Runs a script of the harness, and writes its figures in our form.
harness() {
    name=$1 kind=$2
    shift 2
    case "$what" in "$name" | all) ;; *) return 0 ;; esac
    echo "bench: $kind.py $* $more"
    env "$@" "$python" "$shared/bench/$kind.py" --module numba,lancehead --json "$out/harness-$kind.json" $more
    "$python" benches/from_harness.py "$kind" "$out/harness-$kind.json" "$out/$name.json"
}

# The thread that OpenBLAS starts while NumPy is imported spins for 100 ms, which would be counted as time of a first call.
harness numba-latency latency OPENBLAS_NUM_THREADS=1
harness throughput throughput
run start env OPENBLAS_NUM_THREADS=1 "$python" benches/start.py
run others "$python" benches/others/run.py
run growth "$python" benches/growth.py --module numba,lancehead
run checks "$python" benches/checks.py --module lancehead --harness "$shared/bench"
run parallel "$python" benches/parallel.py
run schedule "$python" benches/schedule.py
run borders "$python" benches/borders.py
run numpy env OPENBLAS_NUM_THREADS=1 "$python" benches/numpy_sweep.py
clients() {
    "$venv/bin/pip" install --quiet scipy pandas scikit-learn xarray numba-stats numbagg resampy tslearn quantecon stumpy interpolation pyts librosa sparse pynndescent numba-progress py-pde
    "$python" benches/clients.py --python "$python" --numba $more | tee "$out/clients.log"
}
suite() {
    numba_suite="$shared/peer/numba_suite.py --candidate lancehead --numba-site $venv --jobs 2"
    "$python" $numba_suite --half open | tee "$out/suite.log"
    "$python" $numba_suite --cuda real --no-selection --area 'cuda*' | tee "$out/cuda.log"
    "$python" benches/conformance.py "$out/suite.log" "$out/cuda.log" $([ -f "$out/cupy.json" ] && echo "$out/cupy.json") >docs/conformance.md
    "$python" "$shared/peer/snippets.py" --module lancehead
}
case "$what" in
clients) clients ;;
suite | all) suite ;;
esac
