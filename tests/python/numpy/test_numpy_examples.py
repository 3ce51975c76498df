"""NumPy's own examples of the functions that compiled code has: `numpy_examples.py` runs all, this file a part."""

import contextlib
import json
import zlib

import numpy as np
import pytest

import numpy_examples

#: One function of so many is tried here; `python tests/python/numpy/numpy_examples.py` tries all.
SHARE = 5


def test_examples_give_the_answers_of_numpy(tmp_path):
    recorded = json.loads(numpy_examples.RECORD.read_text())
    is_same_numpy = np.__version__.startswith(recorded["version"] + ".")
    chosen = {p: f for p, f in numpy_examples.covered().items() if zlib.crc32(p.encode()) % SHARE == 0}
    assert len(chosen) > 80
    with contextlib.chdir(tmp_path):
        for path, thing in chosen.items():
            found, wrong = numpy_examples.summary(path, thing)
            assert not wrong, "\n".join(wrong)
            if is_same_numpy:
                # Else `python tests/python/numpy/numpy_examples.py --record` has to be run.
                assert found == recorded["functions"][path], path


def test_a_wrong_answer_is_found(monkeypatch):
    def doubled(x):
        """Twice a number.

        >>> np.doubled(3)
        6
        >>> np.doubled(4) + 1
        9
        """
        return 2 * x

    monkeypatch.setattr(np, "doubled", doubled, raising=False)
    monkeypatch.setattr(numpy_examples.lancehead, "njit", lambda f: lambda *args: f(*args) if args else (7,))
    assert [how for _, how, _ in numpy_examples.results("numpy.doubled", doubled)] == ["wrong", "wrong"]


@pytest.mark.parametrize("source, want", [("x + 1", 4), ("y = x * 2", (6,)), ("a[0] = x\n", ([3, 2],))])
def test_an_example_gives_what_it_does(source, want):
    space = {"np": np, "x": 3, "a": [1, 2]}
    f, names = numpy_examples.wrapped(source, space)
    got = f(*[space[n] for n in names])
    assert got == (want if isinstance(want, tuple) else (want,))
