"""`@cuda.jit(debug=True)`: each planted fault is found with its lines and threads, and without it there is nothing to
find."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

from lancehead import cuda, places
from lancehead.cuda.errors import CudaCheckError, CudaDriverError
from planted_faults import FAULTS, Fault

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "cuda"))
from corpus import make  # noqa: E402

CORPUS = make(cuda)
BY_NAME = pytest.mark.parametrize("f", FAULTS, ids=lambda f: f.name)


def shown(text: str) -> set[int]:
    """Numbers of the lines that a report shows."""
    return {int(n) for n in re.findall(r"^ *(\d+) \|", text, re.MULTILINE)}


@BY_NAME
def test_planted_faults_are_found(f: Fault) -> None:
    if f.kind == "bounds":
        with pytest.raises(IndexError) as caught:
            f.run(True)
        assert f.text in str(caught.value)
        assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno in f.lines("here")
        return
    with pytest.raises(CudaCheckError) as error:
        f.run(True)
    text = str(error.value)
    assert f.text in text
    assert f.kind in error.value.ids and f"error[{f.kind}]" in text
    here, there = f.lines("here"), f.lines("there")
    assert set(here + there) <= shown(text)
    assert not here or f"--> {places.shown(f.make.__code__.co_filename)}:{here[0]}:" in text or there
    assert "thread" in text and "help:" in text


@BY_NAME
def test_right_kernels_are_silent_and_compute_the_same(f: Fault) -> None:
    checked, plain = f.run(False), f.arguments()
    cuda.jit(f.make(False))[f.grid, f.block, 0, f.shared](*plain)
    for a, b in zip(checked, plain, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", CORPUS)
def test_the_corpus_is_silent(name: str) -> None:
    k = CORPUS[name]
    checked, plain = (k.arguments(np.random.default_rng(3)) for _ in range(2))
    cuda.jit(k.function, debug=True, opt=False)[k.grid, k.block, 0, k.shared](*checked)
    cuda.jit(k.function)[k.grid, k.block, 0, k.shared](*plain)
    for a, b in zip(checked, plain, strict=True):
        assert np.array_equal(a, b, equal_nan=True)


PROGRAMS = sorted((ROOT / "examples" / "cuda").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_examples_are_silent(path: Path) -> None:
    env = {**os.environ, "LANCEHEAD_RACE": "1"}
    done = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_program_of_the_document_is_mended_by_a_barrier(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "checking.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    script = tmp_path / "block_sum.py"
    run = lambda: subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    script.write_text(program)
    assert "error[kernel-race]" in run().stderr
    line = "    partial[t] = a[cuda.grid(1)]\n"
    script.write_text(program.replace(line, f"{line}    cuda.syncthreads()\n"))
    assert run().returncode == 0


def test_not_checked_unless_asked_for() -> None:
    f = next(f for f in FAULTS if f.name == "histogram_without_atomics")
    args = f.arguments()
    cuda.jit(f.make(True))[f.grid, f.block](*args)
    assert args[1].sum() <= args[0].size


def test_several_faults_of_a_launch() -> None:
    @cuda.jit(debug=True, opt=False)
    def k(out):
        s = cuda.shared.array(32, np.float32)
        t = cuda.threadIdx.x
        out[0] = s[t]
        out[1] = t
        out[2] = t
        out[3] = t
        out[4] = t
        out[5] = t

    with pytest.raises(CudaCheckError) as error:
        k[4, 32](np.zeros(6))
    assert len(error.value.ids) == 4
    assert set(error.value.ids) == {"kernel-unwritten", "kernel-race"}
    assert str(error.value).count("error[") == 4


def test_an_exception_is_the_cause() -> None:
    @cuda.jit(debug=True, opt=False)
    def k(a, out):
        s = cuda.shared.array(2, np.int64)
        t = cuda.threadIdx.x
        s[0] = t
        out[t] = a[s[0] + 40]

    with pytest.raises(CudaCheckError) as error:
        k[1, 2](np.zeros(40), np.zeros(2))
    assert isinstance(error.value.__cause__, IndexError)
    assert issubclass(CudaCheckError, CudaDriverError)


def test_what_a_thread_does_alone_is_its_own() -> None:
    @cuda.jit(device=True)
    def largest(own):
        found = own[0]
        for v in own:
            found = max(found, v)
        return found

    @cuda.jit(debug=True, opt=False)
    def k(a, out):
        i = cuda.grid(1)
        own = cuda.local.array(3, np.int64)
        for j in range(3):
            own[j] = a[i] * j
        items = [a[i]]
        items.append(largest(own))
        out[i] = len(items) + items[1]

    a, out = np.arange(64), np.zeros(64, np.int64)
    k[2, 32](a, out)
    assert (out == 2 + 2 * a).all()


def test_threads_meet_again_in_the_next_launch() -> None:
    @cuda.jit(debug=True, opt=False)
    def k(a):
        i = cuda.grid(1)
        a[a.size - 1 - i if i % 2 else i] += 1

    a = np.zeros(65)
    for _ in range(2):
        with pytest.raises(CudaCheckError):
            k[2, 33](a)
        k[1, 32](a)


@pytest.mark.parametrize("block", [7, 33, (4, 5, 3)])
def test_warps_that_are_not_whole(block) -> None:
    @cuda.jit(debug=True, opt=False)
    def k(out):
        x = cuda.threadIdx
        t = x.x + cuda.blockDim.x * (x.y + cuda.blockDim.y * x.z)
        s = cuda.shared.array(64, np.int64)
        s[t] = cuda.shfl_up_sync(0xFFFFFFFF, t, 1)
        cuda.syncwarp()
        if t % 32 > 0:
            out[t] = s[t - 1]

    out = np.zeros(64, np.int64)
    k[1, block](out)
    assert out[6] == 4


@pytest.mark.parametrize(
    "call", ["a[i : i + 4].sort()", "a[i] = np.argsort(a[i : i + 4])[0]", "a[i : i + 4].partition(2)"]
)
def test_functions_of_the_run_time_library_on_slices_that_overlap(call: str) -> None:
    for step, is_race in ((1, True), (4, False)):
        space = {"np": np, "cuda": cuda}
        exec(f"def k(a):\n    i = {step} * cuda.threadIdx.x\n    {call}\n", space)
        kernel = cuda.jit(debug=True, opt=False)(space["k"])
        if not is_race:
            kernel[1, 8](np.arange(100.0))
            continue
        with pytest.raises(CudaCheckError) as error:
            kernel[1, 8](np.arange(100.0))
        assert "kernel-race" in error.value.ids
