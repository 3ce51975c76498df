"""`lancehead.progress` and tqdm's bars, in compiled code and in Python."""

import math
import os
import subprocess
import sys
import textwrap
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from lancehead import TypingError, bars, njit, progress


class Drawn:
    """A bar that notes what it is told."""

    all: list["Drawn"] = []

    def __init__(self, total, description, leave=None):
        self.total, self.description, self.rounds, self.is_open = total, description, 0, True
        self.leave = leave
        Drawn.all.append(self)

    def update(self, rounds):
        assert self.is_open
        self.rounds += rounds

    def close(self):
        assert self.is_open
        self.is_open = False


@pytest.fixture
def drawn(monkeypatch):
    monkeypatch.setattr(bars, "_drawn", Drawn)
    Drawn.all = []
    return Drawn.all


def noted(drawn):
    return [(bar.total, bar.description, bar.rounds, bar.is_open) for bar in drawn]


def added(n):
    s = 0.0
    for i in progress(range(n), "adding"):
        s += i
    return s


def items(given):
    return [x for x in progress(given)]


@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_bar_counts_all_rounds(drawn, is_compiled):
    f = njit(added) if is_compiled else added
    for n in (0, 1, 7, 1_000_000):
        assert f(n) == n * (n - 1) / 2
    assert noted(drawn) == [(n, "adding", n, False) for n in (0, 1, 7, 1_000_000)]


@pytest.mark.parametrize("given", [[1, 2], (1, 2.5), np.arange(3.0), "abc", {1: 2.0}, range(5, 0, -2)])
def test_anything_with_a_length(drawn, given):
    assert njit(items)(given) == items(given)
    assert noted(drawn) == [(len(given), "", len(given), False)] * 2


def test_a_total_for_items_without_a_length(drawn):
    def squares(n):
        for i in range(n):
            yield i * i

    @njit
    def f(n):
        s = 0
        for x in progress(squares(n), total=n):
            s += x
        return s

    assert f(4) == 14 and sum(progress(squares(4))) == 14
    assert noted(drawn) == [(4, "", 4, False), (None, "", 4, False)]


def named_as_by_tqdm(a, n):
    s = 0.0
    for i in progress(range(n), desc="desc", total=n, leave=False):
        s += i
    for i, x in progress(enumerate(a), total=len(a)):
        s += i * x
    for x, y in progress(zip(a, a)):
        s += x * y
    for i in progress(range(n), disable=True):
        s += i
    return s


@pytest.mark.parametrize("is_compiled", [True, False])
def test_keywords_of_tqdm_and_items_without_a_length(drawn, is_compiled):
    f = njit(named_as_by_tqdm) if is_compiled else named_as_by_tqdm
    assert f(np.arange(3.0), 4) == 6.0 + 5.0 + 5.0 + 6.0
    assert noted(drawn) == [(4, "desc", 4, False), (3, "", 3, False), (None, "", 3, False)]
    assert [bar.leave for bar in drawn] == [False, None, None]


def test_what_compiled_code_has_no_bar_for():
    with pytest.raises(TypingError, match="`progress` has no argument `dsec`; did you mean `desc`?"):
        njit(lambda n: [i for i in progress(range(n), dsec="x")])(3)
    with pytest.raises(TypingError, match=r"write `for i in progress\(range\(n\)\)`"):
        njit(lambda n: [i for i in progress(n)])(3)


def test_plain_bars_that_do_not_stay(capsys):
    bars._Plain(3, "gone", False).close()
    bar = bars._Plain(3, "", False)
    bar.lives = True
    bar.close()
    assert capsys.readouterr().err.strip() == ""


def left(n, last):
    for i in progress(range(n)):
        for j in progress([1, 2], "inner"):
            if i + j > last:
                return i
    raise ValueError(n)


def test_loops_that_are_left_end_their_bars_with_the_next_call(drawn):
    compiled = njit(left)
    assert compiled(9, 1) == 0
    assert [bar.is_open for bar in drawn] == [True, True]
    with pytest.raises(ValueError, match="2"):
        compiled(2, 9)
    assert [(bar.total, bar.is_open) for bar in drawn] == [(9, False), (2, False), (2, False), (2, False), (2, False)]
    with pytest.raises(ValueError, match="2"):
        left(2, 9)
    assert left(9, 1) == 0
    assert not any(bar.is_open for bar in drawn)


def test_cells_of_notebooks_end_the_bars_of_loops_that_they_left(drawn, monkeypatch):
    callbacks = {"post_run_cell": []}
    events = SimpleNamespace(callbacks=callbacks, register=lambda event, f: callbacks[event].append(f))
    shell = SimpleNamespace(events=events)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    f = njit(left)
    assert (f(9, 1), f(9, 1)) == (0, 0)
    assert [bar.is_open for bar in drawn] == [False, False, True, True]
    elsewhere = threading.Thread(target=f, args=(9, 1))
    elsewhere.start()
    elsewhere.join()
    (end,) = callbacks["post_run_cell"]
    end(None)
    # Another thread's loop may go on after the cell.
    assert [bar.is_open for bar in drawn] == [False] * 4 + [True] * 2


def test_outer_bars_of_notebooks_stay(monkeypatch):
    made = []

    class Tqdm:
        def __init__(self, total, desc):
            self.total, self.leave, self.pos = total, True, -len(made)
            made.append(self)

    monkeypatch.setitem(sys.modules, "tqdm.std", SimpleNamespace(tqdm=Tqdm))
    assert [bars._drawn(3, "", None).leave, bars._drawn(3, "", None).leave] == [True, False]
    assert bars._drawn(3, "", True).leave


def test_plain_bars_are_drawn_ten_times_in_a_second(monkeypatch, capsys):
    clock = [1.0]
    monkeypatch.setattr(bars.time, "perf_counter", lambda: clock[0])
    bar = bars._Plain(1000, "", None)
    bar.lives = True
    for _ in range(100):
        clock[0] += 0.01
        bar.update(10)
    bar.close()
    out = capsys.readouterr().err
    assert 8 <= out.count("\r") <= 22 and out.endswith("1000/1000 1.0 s\n")


def test_time_between_drawings(drawn, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(bars.time, "perf_counter", lambda: clock[0])
    bar = bars._Bar(100, "", None)
    parts = []
    for seconds in (0.001, 0.05, 0.4, 100.0, 0.0):
        clock[0] += seconds
        parts.append(bar.moved())
    assert parts == [10, 20, 5, 1, 10]


@pytest.mark.parametrize("switch", ["0", "1"])
def test_plain_bars_without_packages(switch):
    program = """
        import sys
        sys.modules["tqdm"] = sys.modules["rich"] = None
        from lancehead import njit, progress

        @njit
        def f(n):
            s = 0
            for i in progress(range(n), "adding"):
                s += i
            return s

        assert f(5) == 10
    """
    env = {**os.environ, "LANCEHEAD_DISABLE_JIT": switch}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env=env, check=True
    )
    assert done.stderr.startswith(f"adding: 100% |{'#' * 30}| 5/5 0.") and done.stderr.count("\n") == 1


def test_bars_of_rich():
    pytest.importorskip("rich")
    program = """
        import sys
        sys.modules["tqdm"] = None
        from lancehead import njit, progress

        @njit
        def f(n):
            s = 0
            for i in progress(range(n), "outer"):
                for j in progress([1, 2], "inner"):
                    s += j
            return s

        assert f(5) == 15
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert "outer" in done.stderr and "5/5" in done.stderr and "100%" in done.stderr


def test_tqdm_in_compiled_code(drawn, monkeypatch):
    class tqdm:
        """In place of tqdm's, which may not be installed."""

        def __new__(cls, iterable, desc=None, total=None, leave=True):
            raise AssertionError

    tqdm.__module__ = "tqdm.std"

    @njit
    def f(n):
        s = 0.0
        for i in tqdm(range(n), desc="adding"):
            s += math.sqrt(i)
        return s

    @njit
    def refused(n):
        for i in tqdm(range(n), ncols=80):
            n += i
        return n

    assert f(5) == sum(map(math.sqrt, range(5)))
    assert noted(drawn) == [(5, "adding", 5, False)]
    with pytest.raises(TypingError, match="`tqdm` has no argument `ncols`; leave it out, or loop in Python"):
        refused(3)
    with pytest.raises(TypingError, match=r"write `for i in tqdm\(range\(n\)\)`"):
        njit(lambda n: tqdm(total=n))(3)


def test_an_interrupt_ends_a_loop_with_a_bar():
    program = """
        import os, signal, sys, threading
        from lancehead import njit, progress

        # Programs in the background ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        @njit
        def f(n):
            s = 0.0
            for i in progress(range(n)):
                s += i
            return s

        f(1)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            f(10**14)
        except KeyboardInterrupt:
            print("ended")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "ended\n"
