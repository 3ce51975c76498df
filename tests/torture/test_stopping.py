"""A signal's handler that raises ends a compilation, soon and without a trace; and so does the limit of time."""

import time

import pytest

import interrupts
from lancehead import config, errors, njit


@pytest.mark.parametrize("name", interrupts.PROGRAMS)
def test_a_signal_ends_a_compilation(name, some) -> None:
    count = some(40, 2)
    taken = [interrupts.latency(name, (0.6 + k * 2.4) / count) for k in range(count)]
    # Three times what is promised: tests share the machine.
    assert all(seconds is None or seconds < 0.3 for seconds in taken), taken


def test_a_limit_of_time() -> None:
    f = njit(interrupts.long(100))
    config.COMPILE_SECONDS = 0.05
    try:
        start = time.perf_counter()
        with pytest.raises(errors.CompilationTimeoutError, match="0.05 s"):
            f(1.0)
        assert time.perf_counter() - start < 0.5
    finally:
        config.COMPILE_SECONDS = None
    assert f(1.0) == f.py_func(1.0)


@pytest.mark.parametrize("text", ["0", "-1", "soon"])
def test_a_limit_that_is_none(text, monkeypatch) -> None:
    with pytest.raises(ValueError, match="LANCEHEAD_COMPILE_SECONDS"):
        config._seconds(text)
