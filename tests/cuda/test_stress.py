"""Threads that do everything at once on a GPU, of the library that stands in for a driver, for a while.

LANCEHEAD_TORTURE says for how many seconds. A hang fails, and the failure shows where the threads are.
"""

from __future__ import annotations

import os

import pytest

import programs
from stand_in import StandIn

SECONDS = float(os.environ.get("LANCEHEAD_TORTURE", "20"))

PROGRAM = """
import random
seconds, modes = {seconds!r}, {modes!r}
faulthandler.dump_traceback_later(seconds + 40, exit=True)

@cuda.jit
def reverse_all(a):
    i = cuda.grid(1)
    x = a[a.size - 1 - i]
    cuda.cg.this_grid().sync()
    a[i] = x

@cuda.jit
def reverse(a):
    s = cuda.shared.array(0, np.float64)
    i = cuda.threadIdx.x
    s[i] = a[i]
    cuda.syncthreads()
    a[i] = s[a.size - 1 - i]

def checked():
    # Each thread has its own: a note of what was raised is that of a kernel.
    @cuda.jit(debug=True, opt=False)
    def kernel(a, limit):
        i = cuda.grid(1)
        if a[i] > limit:
            raise ValueError("above the limit")
        a[i] += 1
    return kernel

until, wrong, lock, called, added = time.monotonic() + seconds, [], threading.Lock(), [0], [0]
done = dict.fromkeys(range(8), 0)

def note(*_):
    with lock:
        called[0] += 1

class Worker:
    def __init__(self, k):
        self.random, self.stream, self.kernel = random.Random(k), cuda.stream(), checked()
        self.apart = cuda.external_stream(foreign_stream(1))
        self.n = self.random.randrange(4, 64) * 2

    def any_stream(self):
        return self.random.choice([0, self.stream, self.apart, cuda.per_thread_default_stream(), cuda.default_stream()])

    def plain(self):
        stream, k = self.any_stream(), float(self.random.randrange(1000))
        d = cuda.to_device(np.full(self.n, k), stream=stream)
        for _ in range(3):
            scale[1, 128, stream](d, 2)
        assert d.copy_to_host(stream=stream).tolist() == [8 * k] * self.n

    def host_arrays(self):
        a = np.arange(float(self.n))
        scale[1, 128, self.any_stream()](a, 3)
        assert a.tolist() == [3.0 * i for i in range(self.n)]

    def cooperative(self):
        stream, a = self.any_stream(), np.arange(float(self.n))
        d = cuda.to_device(a, stream=stream)
        reverse_all[2, self.n // 2, stream](d)
        assert d.copy_to_host(stream=stream).tolist() == a[::-1].tolist()

    def shared(self):
        a = np.arange(float(self.n))
        reverse[1, self.n, self.any_stream(), self.random.randrange(1, 200) << 10](a)
        assert a.tolist() == list(range(self.n))[::-1]

    def raises(self):
        d, stream = cuda.to_device(np.arange(4.0)), self.any_stream()
        self.kernel[2, 2, stream](d, 10.0)
        try:
            self.kernel[1, 4, stream](d, 3.5)
            wrong.append("nothing raised")
        except ValueError as error:
            assert error.thread == (3, 0, 0), error.thread
        assert d.copy_to_host(stream=stream)[3] == 4

    def temporary(self):
        # What is freed while streams still use it, and what is never used.
        total = cuda.to_device(np.zeros(self.n))
        for stream in (self.stream, self.apart):
            piece = cuda.to_device(np.ones(self.n), stream=stream)
            scale[1, 128, stream](piece, 5)
            total.copy_to_device(piece, stream=stream)
            del piece
            cuda.device_array(self.random.randrange(1, 5000), np.uint8)
            stream.synchronize()
        assert total.copy_to_host().tolist() == [5] * self.n

    def events(self):
        start, middle, end = cuda.event(), cuda.event(timing=False), cuda.event()
        other = cuda.stream()
        d = cuda.to_device(np.ones(self.n), stream=self.stream)
        start.record(self.stream)
        scale[1, 128, self.stream](d, 2)
        middle.record(self.stream)
        middle.wait(other)
        scale[1, 128, other](d, 3)
        end.record(other)
        while not end.query():
            time.sleep(0.0005)
        assert cuda.event_elapsed_time(start, end) == 1.5 and middle.query()
        assert d.copy_to_host(stream=other).tolist() == [6] * self.n
        other.close()

    def callbacks(self):
        stream = self.random.choice([self.stream, self.apart])
        kept = [cuda.device_array(16), cuda.event(), cuda.mapped_array(2)]
        d = cuda.to_device(np.ones(4), stream=stream)
        scale[1, 4, stream](d, 2)
        stream.add_callback(lambda *_: (kept.clear(), note()))
        with lock:
            added[0] += 1
        scale[1, 4, stream](d, 2)
        if self.random.random() < 0.5:
            stream.synchronize()
            assert not kept
        assert d.copy_to_host(stream=stream).tolist() == [4] * 4

    def waits(self):
        own = [self.stream.synchronize, self.apart.synchronize]
        self.random.choice([cuda.synchronize, *own, cuda.default_stream().synchronize])()

    def of_the_host(self):
        a = cuda.mapped_array(self.n)
        a[:] = 1
        scale[1, 128, self.stream](a, 7)
        self.stream.synchronize()
        assert a.tolist() == [7] * self.n

ACTIONS = [Worker.plain, Worker.host_arrays, Worker.cooperative, Worker.shared, Worker.raises, Worker.temporary,
           Worker.events, Worker.callbacks, Worker.waits, Worker.of_the_host]

def work(k):
    try:
        worker = Worker(k)
        while time.monotonic() < until and not wrong:
            action = worker.random.choice(ACTIONS)
            action(worker)
            done[k] += 1
        worker.apart.synchronize()
    except BaseException:
        import traceback
        wrong.append(action.__name__ + "\\n" + traceback.format_exc())

gpu.set(**modes)
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("\\n".join(wrong))
assert not wrong and min(done.values()) > 0, done
del threads
cuda.synchronize()
gpu.set()
gc.collect()
# Objects that callbacks have dropped go with the next allocation.
cuda.device_array(1)
cuda.synchronize()
gc.collect()
assert called == added, (called, added)
assert gpu.used == 0 and gpu.pending == 0, (gpu.used, gpu.pending)
print("done", sum(done.values()))
"""


@pytest.mark.parametrize(
    "modes",
    [{"eager": True}, {"order": 12345}, {"eager": True, "order": 54321, "pinned": True}],
    ids=["eager", "any order", "both"],
)
def test_threads_that_do_everything_at_once(gpu: StandIn, modes: dict[str, object]) -> None:
    text = programs.started(gpu.path) + PROGRAM.format(seconds=SECONDS / 3, modes=modes)
    code, out, err = programs.run(gpu.path, text, timeout=SECONDS / 3 + 80)
    assert code == 0, f"{out}\n{err}"
    assert out.splitlines()[-1].startswith("done") and err == ""
