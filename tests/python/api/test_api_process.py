"""Pickles, processes and signals."""

import os
import pickle
import subprocess
import sys
import textwrap

import cloudpickle
import pytest

from lancehead import njit


@njit
def module_level(x):
    return x + 1


class Holder:
    @staticmethod
    @njit
    def method(x):
        return x * 3


def test_pickle_by_name():
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    assert pickle.loads(pickle.dumps(Holder.method)) is Holder.method


def test_local_functions_through_cloudpickle():
    k = 7

    @njit(fastmath=True)
    def local(x):
        return x + k

    copy = pickle.loads(cloudpickle.dumps(local))
    assert copy(1) == 8 and copy.targetoptions == {"fastmath": True}
    eager = pickle.loads(cloudpickle.dumps(njit("int64(int64)")(lambda x: x + 1)))
    assert eager(1.9) == 2 and eager._can_compile is False


def run(code, **kwargs):
    # A parent may ignore the signal, and children inherit that.
    first = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.run(
        [sys.executable, "-c", first + textwrap.dedent(code)], capture_output=True, text=True, timeout=20, **kwargs
    )


@pytest.mark.parametrize("nogil", [False, True])
def test_ctrl_c_stops_a_loop(nogil):
    code = f"""
    import signal, sys, subprocess, os, time
    from lancehead import njit

    @njit(nogil={nogil})
    def forever(n):
        s = 0
        while n != 0:
            s += n
        return s

    forever(0)
    subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {{os.getpid()}}"])
    start = time.monotonic()
    try:
        forever(1)
    except KeyboardInterrupt:
        print("stopped", time.monotonic() - start)
    """
    done = run(code)
    assert done.stdout.startswith("stopped"), done.stderr
    assert float(done.stdout.split()[1]) < 3.0


def test_ctrl_c_stops_a_recursion():
    code = """
    import os, subprocess, time
    from lancehead import njit

    @njit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    fib(3)
    subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {os.getpid()}"])
    start = time.monotonic()
    try:
        fib(60)
    except KeyboardInterrupt:
        print("stopped", time.monotonic() - start)
    """
    done = run(code)
    assert done.stdout.startswith("stopped"), done.stderr
    assert float(done.stdout.split()[1]) < 3.0


def test_ctrl_c_outside_compiled_code_is_pythons():
    code = """
    import os, signal
    from lancehead import njit

    f = njit(lambda n: n + 1)
    f(1)
    for _ in range(3):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            import time
            time.sleep(1)
        except KeyboardInterrupt:
            print("caught", f(1))
    """
    assert run(code).stdout == "caught 2\n" * 3


@pytest.mark.parametrize("late", [False, True])
def test_own_handlers_are_called(late):
    code = f"""
    LATE = {late}
    import os, signal, subprocess
    from lancehead import njit

    @njit
    def forever(n):
        while n != 0:
            n += 2
        return n

    class Stop(Exception):
        pass

    def handler(*_):
        raise Stop

    if LATE:
        forever(0)
        signal.signal(signal.SIGINT, handler)
    else:
        signal.signal(signal.SIGINT, handler)
        forever(0)
    subprocess.Popen(["sh", "-c", "sleep 0.3; kill -INT $PPID"])
    try:
        forever(1)
    except Stop:
        print("own")
    """
    assert run(code).stdout == "own\n"


def test_a_caught_ctrl_c_is_over():
    code = """
    import os, signal, subprocess, sys, time
    from lancehead import njit, prange

    @njit
    def forever(n):
        try:
            while n != 0:
                n += 2
        except KeyboardInterrupt:
            return -1
        return n

    @njit(parallel=True)
    def parallel(n):
        s = 0
        try:
            for i in prange(64):
                k = n
                while k != 0:
                    k += 2
                s += k
        except KeyboardInterrupt:
            return -2
        return s

    class Stop(Exception):
        pass

    @njit
    def stopped(n):
        try:
            while n != 0:
                n += 2
        except Stop:
            return -3
        return n

    def handler(*_):
        raise Stop("now")

    def late():
        subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -INT {os.getpid()}"])

    for f in (forever, parallel, stopped, forever):
        if f is stopped:
            signal.signal(signal.SIGINT, handler)
        f(0)
        late()
        try:
            answer = f(1)
            time.sleep(0.01)
            print(answer, f(0))
        except (KeyboardInterrupt, Stop) as e:
            print("again", type(e).__name__, e.args, e.__traceback__.tb_next.tb_frame.f_code.co_name)
    """
    done = run(code)
    assert done.stdout == "-1 0\n-2 0\n-3 0\nagain Stop ('now',) forever\n", done.stderr


def test_fork():
    module_level(1)
    pid = os.fork()
    if pid == 0:
        ok = module_level(2) == 3 and module_level(2.5) == 3.5
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_disabled_by_the_environment():
    code = "from lancehead import njit\nf = njit(lambda x: {x: x})\nprint(f(1))"
    assert run(code, env={**os.environ, "LANCEHEAD_DISABLE_JIT": "1"}).stdout == "{1: 1}\n"


def test_exit_while_compiled_code_runs_in_a_thread():
    code = """
    import threading, time
    from lancehead import njit

    @njit(nogil=True)
    def forever(n):
        while n != 0:
            n += 2
        return n

    forever(0)
    threading.Thread(target=forever, args=(1,), daemon=True).start()
    time.sleep(0.2)
    print("bye", flush=True)
    """
    done = run(code)
    assert done.stdout == "bye\n" and done.returncode == 0, done.stderr


def test_profilers_find_names():
    code = """
    import os
    from lancehead import njit

    @njit
    def a_function_of_its_own(n):
        s = 0
        for i in range(n):
            s += i * i
        return s

    a_function_of_its_own(10)
    path = f"/tmp/perf-{os.getpid()}.map"
    print(open(path).read())
    os.unlink(path)
    """
    lines = run(code, env=os.environ | {"LANCEHEAD_PERF": "1"}).stdout.split("\n")
    found = [line for line in lines if "lancehead:a_function_of_its_own" in line]
    assert found and all(int(number, 16) > 0 for number in found[0].split()[:2])
