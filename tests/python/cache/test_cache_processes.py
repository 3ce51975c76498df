"""Compiled functions in other processes: pickled small, compiled once by all of them together."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cloudpickle
import pytest

from cache_programs import Project
from lancehead import njit

OFFSET = 3


def plain(x):
    return x + OFFSET


@njit(cache=True)
def module_level(x):
    return plain(x) * 2


def adder(n):
    @njit(cache=True)
    def add(x):
        return plain(x) + n

    return add


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_closures_and_lambdas_by_value(pickler):
    for f, want in ((adder(10), 14), (njit(lambda x: x * 2), 2), (njit(fastmath=True)(lambda x, y=5: x + y), 6)):
        data = pickler.dumps(f)
        assert len(data) < 2000
        other = pickle.loads(data)
        assert other is not f and other(1) == want and other.targetoptions == f.targetoptions
        # The same bytes are the same function, compiled already.
        assert pickle.loads(data) is other
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    assert len(pickle.dumps(module_level)) < 200


def test_copies_are_the_function():
    for f in (adder(1), module_level, njit(lambda x: x)):
        assert copy.copy(f) is f and copy.deepcopy([f])[0] is f


def test_recursive_closures():
    def make(n):
        @njit
        def down(x):
            return n if x == 0 else down(x - 1)

        return down

    assert pickle.loads(pickle.dumps(make(7)))(3) == 7


def test_eager_signatures_stay():
    f = pickle.loads(pickle.dumps(njit("int64(int64)")(lambda x: x + 1)))
    assert f(1.9) == 2 and f._can_compile is False


def test_what_cannot_be_pickled_is_said():
    handle = Path(__file__).open()

    @njit
    def f(x):
        return x if handle is None else x + 1

    with handle, pytest.raises((pickle.PicklingError, TypeError), match="pickle"):
        pickle.dumps(f)


MAIN = """
    import os, sys
    from lancehead import njit
    K = 5
    def helper(x): return x + K
    @njit(cache=True)
    def f(x): return helper(x) if x < 100 else f(x - 100)
    def make(n):
        @njit(cache=True)
        def g(x): return f(x) * n
        return g
    def run(task):
        function, x = task
        result = function(x)
        return result, os.getpid(), sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values())
    def check(told, want):
        assert [t[0] for t in told] == want, told
        hits, misses = {}, {}
        for _, pid, h, m in told:
            hits[pid], misses[pid] = h, m
        print("processes", len(hits), "compiled", sum(misses.values()), "found", sum(hits.values()))
    TASKS = 12
    WANT = [(n % 100 + 5) * 3 for n in range(0, 240, 20)]
"""


def program(project, text):
    """Runs a program and gives what it prints of processes, compilations and hits."""
    path = project.path / "program.py"
    path.write_text(textwrap.dedent(MAIN) + textwrap.dedent(text))
    environment = {**os.environ, "XDG_CACHE_HOME": str(project.path / "user"), **project.env}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(project, method):
    text = f"""
        if __name__ == "__main__":
            import multiprocessing
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                g = make(3)
                check(pool.map(run, [(g, n) for n in range(0, 240, 20)], 1), WANT)
    """
    first = program(project, text)
    assert first["compiled"] == 1
    assert program(project, text)["compiled"] == 0


def test_the_program_itself_in_a_common_directory(project):
    text = """
        @njit(cache=True)
        def own(x):
            return x * 2

        def told(x):
            return own(x), sum(own.stats.cache_misses.values())

        if __name__ == "__main__":
            import multiprocessing
            first = told(1)[1]
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print("first", first, "then", pool.apply(told, (1,))[1])
    """
    project.env["LANCEHEAD_CACHE_DIR"] = str(project.path / "kept")
    assert program(project, text) == {"first": 1, "then": 0}


def test_concurrent_futures(project):
    text = """
        if __name__ == "__main__":
            from concurrent.futures import ProcessPoolExecutor
            with ProcessPoolExecutor(2) as pool:
                g = make(3)
                check(list(pool.map(run, [(g, n) for n in range(0, 240, 20)])), WANT)
    """
    assert program(project, text)["compiled"] == 1
    assert program(project, text)["compiled"] == 0


def test_joblib(project):
    text = """
        if __name__ == "__main__":
            from joblib import Parallel, delayed
            g = make(3)
            check(Parallel(n_jobs=2)(delayed(run)((g, n)) for n in range(0, 240, 20)), WANT)
    """
    assert program(project, text)["compiled"] == 1
    assert program(project, text)["compiled"] == 0


def test_dask(project):
    text = """
        if __name__ == "__main__":
            import dask
            from distributed import Client, LocalCluster
            dask.config.set({"distributed.comm.timeouts.connect": "60s"})
            with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                              host="127.0.0.1") as cluster, Client(cluster) as client:
                g = make(3)
                check(client.gather(client.map(run, [(g, n) for n in range(0, 240, 20)], pure=False)), WANT)
                # Arrays that are sent come unaligned.
                import numpy
                total = njit(cache=True)(lambda a: a.sum())
                sums = client.gather(client.map(total, [numpy.ones(n) for n in range(3, 7)]))
                assert sums == [3, 4, 5, 6], sums
    """
    assert program(project, text)["compiled"] == 1
    assert program(project, text)["compiled"] == 0


def test_mpi(project):
    mpiexec = Path(sys.executable).parent / "mpiexec"
    path = project.path / "program.py"
    path.write_text(
        textwrap.dedent(MAIN)
        + textwrap.dedent("""
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        g = comm.bcast(make(3) if comm.rank == 0 else None)
        told = comm.gather(run((g, 20 * comm.rank)))
        total = comm.allreduce(f(comm.rank))
        if comm.rank == 0:
            assert total == 11
            check(told, WANT[:2])
    """)
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(project.path / "user"), **project.env}
    for compiled in (1, 0):
        command = [str(mpiexec), "-n", "2", sys.executable, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["processes", "2", "compiled", str(compiled), "found", str(2 - compiled)]


def called_in_child(n):
    return module_level(n), adder(n)(n)


def test_functions_of_a_module(tmp_path):
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(called_in_child, range(4))) == [(2 * (n + 3), n + 3 + n) for n in range(4)]


def test_processes_that_want_the_same_wait_for_one(project):
    project.write("m.py", "@njit(cache=True)\ndef f(x): return np.sort(np.cumsum(np.ones(x)))[-1]\n")
    code = "import m; tell(m.f, 10)"
    processes = [project.popen(code) for _ in range(4)]
    told = [project.finish(p) for p in processes]
    assert sorted(told) == [[10.0, 0, 1]] + [[10.0, 1, 0]] * 3
    assert not list(project.path.rglob("*.lock"))
