"""Lazy arrays as chunks of Dask's arrays: in one process, on several devices, and on workers that die."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from dask.sizeof import sizeof
from distributed import Client, LocalCluster, wait
from distributed.protocol import deserialize, serialize

from lancehead import xp
from lancehead.xp import chunked, regions

RNG = np.random.default_rng(5)
A = RNG.normal(size=(50, 41))
B = RNG.normal(size=(41, 30))

#: Functions of two Dask arrays and an array that is none, which give lazy arrays.
OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "elements": lambda x, y, a: da.exp(-x) * x + 1.0,
    "comparison": lambda x, y, a: (x > 0.0) & (x < 1.0),
    "choice": lambda x, y, a: da.where(x > 0.0, x, -1.0),
    "by NumPy": lambda x, y, a: np.sin(np.clip(x, -1.0, 1.0)),
    "mixed": lambda x, y, a: x + a,
    "mixed, the other way": lambda x, y, a: a * x,
    "sum": lambda x, y, a: (x * x).sum(),
    "mean": lambda x, y, a: x.mean(axis=1),
    "variance": lambda x, y, a: x.var(axis=0),
    "greatest": lambda x, y, a: x.max(axis=0, keepdims=True),
    "running": lambda x, y, a: da.cumsum(x, axis=1),
    "slice": lambda x, y, a: x[3:40:3, ::-1],
    "places": lambda x, y, a: x[[1, 40, 7]],
    "mask": lambda x, y, a: x[(x[:, 0] > 0.0)],
    "other chunks": lambda x, y, a: x.rechunk((23, 11)) * 2.0,
    "transpose": lambda x, y, a: x.T,
    "reshape": lambda x, y, a: x.reshape(-1) + 1.0,
    "product": lambda x, y, a: x @ y,
    "tensordot": lambda x, y, a: da.tensordot(x, y, 1),
    "joined": lambda x, y, a: da.concatenate([x, x * 2.0], axis=1),
    "stacked": lambda x, y, a: da.stack([x, x]),
    "function of blocks": lambda x, y, a: x.map_blocks(lambda block: block * 2.0 + 1.0),
    "neighbours": lambda x, y, a: x.map_overlap(lambda block: block - block.mean(), depth=1),
    "delayed": lambda x, y, a: da.from_delayed(dask.delayed(lambda: a * 3.0)(), (41,), float) + x[0],
}
#: Those of which Dask makes arrays of NumPy on the way.
VALUES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "place": lambda x, y, a: x.argmax(axis=1),
    "percentile": lambda x, y, a: da.percentile(x[:, 0], 30),
    "greatest few": lambda x, y, a: da.topk(x, 3, axis=1),
    "einsum": lambda x, y, a: da.einsum("ij,jk->ik", x, y),
}


@pytest.mark.parametrize("name", [*OPERATIONS, *VALUES])
def test_chunks_agree_with_those_of_numpy(name: str) -> None:
    f = OPERATIONS.get(name) or VALUES[name]
    # Blocks have different extents, and one is empty.
    chunks = ((20, 0, 18, 12), (20, 20, 1)) if name in ("elements", "sum", "slice", "joined") else (20, 15)
    found = f(da.from_array(xp.asarray(A), chunks), chunked.from_array(B, (15, 30)), xp.asarray(A[0]))
    expected = f(da.from_array(A, chunks), da.from_array(B, (15, 30)), A[0])
    assert found.dtype == expected.dtype and str(found.chunks) == str(expected.chunks)
    value, other = dask.compute(found, expected)
    if name in OPERATIONS:
        assert type(value) is xp.ndarray is type(found._meta)
    np.testing.assert_allclose(np.asarray(value), other, rtol=1e-13, atol=1e-13)
    assert value.dtype == other.dtype


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64", "datetime64[s]", "U3"])
def test_types_of_chunks(dtype: str) -> None:
    a = (A * 9.0).astype(np.int64).astype(dtype)
    x = da.from_array(xp.asarray(a), (20, 15))
    for f in (lambda v: v[::-2].T, lambda v: v == v[0], lambda v: v.rechunk(17), lambda v: v.ravel()[5:]):
        found, expected = f(x).compute(), np.asarray(f(da.from_array(a, (20, 15))))
        assert type(found) is xp.ndarray and found.dtype == expected.dtype
        np.testing.assert_array_equal(found.numpy(), expected)


def test_a_task_is_one_region_and_ends_with_values() -> None:
    x = chunked.from_array(A, (10, 41))
    y = da.sqrt(da.exp(x) * 3.0 - x / 7.0 + 2.5)
    before = len(regions._FUNCTIONS)
    with dask.config.set(scheduler="synchronous"):
        (held,) = dask.persist(y)
        blocks = [held.dask[key] for key in dask.core.flatten(held.__dask_keys__())]
        assert all(block.node().value is not None and not block.node().inputs for block in blocks)
        assert len(blocks) == 5 and len(regions._FUNCTIONS) == before + 1
        # Two results of one task are computed together; the number of blocks is in no region.
        z = da.exp(x * 0.5).mean(axis=0)
        z.compute()
        before = len(regions._FUNCTIONS)
        chunked.from_array(np.concatenate([A, A, A]), (10, 41)).map_blocks(lambda b: np.exp(b * 0.5)).mean(0).compute()
    assert len(regions._FUNCTIONS) == before
    # Without Dask's fusion there are layers, with what the program says of them.
    with dask.config.set({"optimization.fuse.active": False}), dask.annotate(priority=3):
        noted = x + 1.0
        graph = chunked.optimize(noted.__dask_graph__(), noted.__dask_keys__())
        assert {"priority": 3} in [layer.annotations for layer in graph.layers.values()]
        assert all(key in graph for key in dask.core.flatten(noted.__dask_keys__()))
        np.testing.assert_array_equal(noted.compute().numpy(), A + 1.0)
    # Of a view, what nobody needs does not stay.
    whole = xp.asarray(np.ones((100, 100)))
    part = chunked.settled([whole[3:5], {"n": whole.T}, 7])
    assert part[0]._view is None and part[0].node().value.base is None and part[1]["n"]._view is None and part[2] == 7


def test_pickles_share_memory_and_dask_knows_sizes() -> None:
    x = xp.asarray(A) * 2.0
    header, frames = serialize(x)
    assert sum(np.shares_memory(np.asarray(memoryview(f)).view("u1"), x.numpy()) for f in frames if len(f)) == 1
    y = deserialize(header, frames)
    np.testing.assert_array_equal(y.numpy(), A * 2.0)
    buffers: list[Any] = []
    data = pickle.dumps(x, 5, buffer_callback=buffers.append)
    memory = bytearray(buffers[0].raw())
    z = pickle.loads(data, buffers=[memory])
    assert np.shares_memory(z.numpy(), np.frombuffer(memory)) and len(data) < 1000
    # Memory that cannot be written to is copied.
    assert pickle.loads(data, buffers=[bytes(memory)]).numpy().flags.writeable
    for v in (xp.asarray(A).T, xp.asarray(A)[::-2], xp.asarray(3.0), xp.zeros((0, 2)), xp.asarray(["ab", "c"])):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(v)).numpy(), v.numpy())
    assert A.nbytes <= sizeof(xp.asarray(A)) < A.nbytes + 500
    token = dask.base.tokenize
    same = [xp.asarray(A), xp.asarray(A) * 1.0, xp.asarray(A.T).T, pickle.loads(pickle.dumps(xp.asarray(A)))]
    assert len({token(v) for v in same}) == 1
    others = [xp.asarray(A[::-1]), xp.asarray(A.astype(np.float32)), xp.reshape(xp.asarray(A), -1), xp.asarray(-A)]
    assert len({token(v) for v in [same[0], *others]}) == 5


def test_a_file_is_read_block_by_block(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(60.0).reshape(12, 5))
    whole = np.load(tmp_path / "a.npy", mmap_mode="r")
    x = chunked.from_array(whole, (4, 5))
    # Neither the graph nor what goes to another process has the values.
    assert len(pickle.dumps(dict(x.dask))) < 4000
    np.testing.assert_array_equal((x + 1.0).compute().numpy(), whole + 1.0)
    changed = np.load(tmp_path / "a.npy", mmap_mode="c")
    changed[0] = -1.0
    for part in (changed, whole[1:], np.asfortranarray(whole)):
        np.testing.assert_array_equal(chunked.from_array(part, (4, 5)).compute().numpy(), part)
    held = da.from_array(np.ones(6), 2)
    assert type(chunked.from_array(held).compute()) is xp.ndarray
    assert chunked.from_array(chunked.from_array(held)).npartitions == 3
    with pytest.raises(ValueError, match="no device"):
        chunked.from_array(held, device="cuda:99")


def test_a_loop_of_a_dask_array_lets_go_of_the_interpreter() -> None:
    x = chunked.from_array(A[:8, :3] + 0.25, 4)
    x.map_blocks(lambda b: b / 3.5 - 0.125).compute()
    found = [f for f in regions._FUNCTIONS.values() if f.targetoptions.get("nogil")]
    assert found


def test_functions_that_arrive_by_value_are_compiled_once() -> None:
    k, step = 2.5, lambda v, fold=1.5: v * fold

    def grow(v: float) -> float:
        return step(v) * k if v > 0.0 else grow_again(v)

    def grow_again(v: float) -> float:
        return v - k

    def copied(f: Any) -> Any:
        return cloudpickle.loads(cloudpickle.dumps(f))

    x = xp.asarray(A[0])
    texts = [set(regions._FUNCTIONS)]
    for _ in range(3):
        for f in (grow, lambda v: v * 3.0, lambda v: math.sqrt(abs(v))):
            np.testing.assert_allclose(xp.map(copied(f), x).numpy(), [f(v) for v in A[0]], rtol=1e-15)
        texts.append(set(regions._FUNCTIONS))
    assert len(texts[1]) == len(texts[0]) + 3 and texts[1] == texts[3]
    # The values that they read count: captured values, those of inner functions, and defaults.
    k = 3.5
    np.testing.assert_allclose(xp.map(copied(grow), x).numpy(), [grow(v) for v in A[0]], rtol=1e-15)
    step = lambda v, fold=4.5: v * fold
    np.testing.assert_allclose(xp.map(copied(grow), x).numpy(), [grow(v) for v in A[0]], rtol=1e-15)
    assert len(regions._FUNCTIONS) == len(texts[3]) + 2


EXAMPLE = Path(__file__).parents[3] / "examples" / "dask" / "larger_than_memory.py"


def test_the_example_keeps_within_its_memory() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE), "24"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first == "96 MiB of data in 64 blocks, at most 24 MiB"
    assert 0 < int(second.split()[-2]) < 24 and third.endswith("99.7%")


DEVICES = """
import dask.array as da, numpy as np
from lancehead import xp
from lancehead.xp import chunked

a = np.arange(60.0).reshape(12, 5)
x = chunked.from_array(a, (3, 5), device=["cuda:0", "cuda:1"])
held = (x * 2.0 + x).persist()
places = [str(held.dask[key].device) for key, in held.__dask_keys__()]
total = held.sum(axis=0).compute()
joined = held.rechunk((5, 5)).compute()
assert (total.numpy() == (a * 3.0).sum(axis=0)).all() and (joined.numpy() == a * 3.0).all()
print(*places, total.device)
"""


def test_chunks_on_several_devices(tmp_path: Path) -> None:
    environment = dict(os.environ, LANCEHEAD_CPU_DEVICES="2")
    done = subprocess.run([sys.executable, "-c", DEVICES], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0"]


def test_dask_is_not_loaded_by_lancehead() -> None:
    program = "import sys; from lancehead import xp; x = xp.ones(3) + 1.0; x.sum(); import pickle; pickle.dumps(x)\n"
    program += "assert not {'dask', 'distributed'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


# Workers


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    directory = str(tmp_path_factory.mktemp("cluster"))
    # A cache of their own, which is empty.
    environment = {"LANCEHEAD_CACHE_DIR": directory, "LANCEHEAD_CACHE": "1", "OMP_NUM_THREADS": "1"}
    options: Any = {"host": "127.0.0.1", "dashboard_address": None, "local_directory": directory}
    with dask.config.set({"distributed.nanny.pre-spawn-environ": environment}):
        with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as found:
            yield found


def workers(client: Client) -> list[str]:
    """Addresses of workers, when both are there."""
    client.wait_for_workers(2, timeout=60)
    return list(client.scheduler_info(n_workers=-1)["workers"])


def code() -> tuple[int, int, int]:
    """Regions of a worker, how many specialisations it compiled, and how many it found."""
    found = [f.stats for f in regions._FUNCTIONS.values()]
    return len(found), sum(s.compilations for s in found), sum(sum(s.cache_hits.values()) for s in found)


def test_a_worker_finds_the_code_of_another(client: Client) -> None:
    workers(client)
    k, table = 3.5, np.array([0.5])

    def steep(v: float) -> float:
        return v * k if v > table[0] else v

    # Functions arrive by value, with each task anew.
    x = chunked.from_array(A, (2, 41)).map_blocks(lambda block: xp.map(steep, block) * block + 1.0)
    np.testing.assert_array_equal(x.compute().numpy(), np.where(A > 0.5, A * k, A) * A + 1.0)
    # Both had some of the blocks.
    assert sorted(client.run(code).values()) == [(1, 0, 1), (1, 1, 0)]
    # With other values it is another function.
    table[0] = 1.5
    y = chunked.from_array(A, (25, 41)).map_blocks(lambda block: xp.map(steep, block) * block + 1.0)
    np.testing.assert_array_equal(y.compute().numpy(), np.where(A > 1.5, A * k, A) * A + 1.0)


def test_errors_have_the_lines_of_the_program(client: Client) -> None:
    def checked(v: float) -> float:
        if v > 2.0:
            raise ValueError("too great")
        return v

    def block_of(block: Any) -> Any:
        return xp.map(checked, block) * 2.0

    x = chunked.from_array(np.minimum(A, 1.0), (5, 41)).map_blocks(block_of)
    assert float(x.sum().compute()) == pytest.approx(2.0 * np.minimum(A, 1.0).sum())
    with pytest.raises(ValueError, match="too great") as caught:
        chunked.from_array(np.full((20, 41), 3.0), (5, 41)).map_blocks(block_of).sum().compute()
    lines = "".join(traceback.format_exception(caught.value))
    assert f'{__file__}", line {checked.__code__.co_firstlineno + 2}, in checked' in lines
    assert f"from map at {__file__}:{block_of.__code__.co_firstlineno + 1}" in lines
    singular = chunked.from_array(np.zeros((8, 4)), 4).map_blocks(np.linalg.inv)
    with pytest.raises(np.linalg.LinAlgError):
        singular.compute()


def test_a_worker_that_dies_loses_nothing(client: Client, tmp_path: Path) -> None:
    workers(client)
    mark = str(tmp_path / "died")

    def dying(block: Any, block_id: Any = None) -> Any:
        if block_id == (6, 0) and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.exp(block) * 2.0

    x = chunked.from_array(A, (5, 41)).map_blocks(dying, dtype=float, meta=xp.zeros((0, 0)))
    expected = np.exp(A) * 2.0
    np.testing.assert_allclose(x.compute().numpy(), expected, rtol=1e-15)
    assert os.path.exists(mark)
    # The blocks of a killed worker are computed again.
    held = (x + 1.0).persist()
    wait(held)
    address = next(a for a, keys in client.has_what().items() if keys)
    (pid,) = client.run(os.getpid, workers=[address]).values()
    os.kill(pid, signal.SIGKILL)
    np.testing.assert_allclose(held.sum(axis=0).compute().numpy(), (expected + 1.0).sum(axis=0), rtol=1e-14)
    assert len(workers(client)) == 2


def test_operations_are_pickled_once() -> None:
    offset = np.float64(2.0)

    def shifted(block: Any) -> Any:
        return block + offset

    x = da.ones(60, chunks=20).map_blocks(xp.asarray)
    y = (np.exp(-x) * 3.0).map_blocks(shifted, dtype=float, meta=x._meta)
    tasks = list(dict(chunked.optimize(y.dask, y.__dask_keys__())).values())
    shared = [task.args[0].args[0] for task in tasks]
    assert len({id(operations) for operations in shared}) == 1 < len(tasks)
    chunked._operations.cache_clear()
    read = [deserialize(*serialize(task)) for task in tasks]
    assert len({id(task.args[0].args[0]) for task in read}) == 1
    assert dask.base.tokenize(read[0].args[0].args[0]) == dask.base.tokenize(shared[0])
    for task in read:
        np.testing.assert_allclose(task({}).numpy(), np.full(20, 3.0 * np.exp(-1.0) + 2.0), rtol=1e-15)
