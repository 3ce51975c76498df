"""Misspelt names outside of compiled code are told with the nearest one."""

from __future__ import annotations

import pickle

import pytest

import lancehead
from lancehead import cupy as cp
from lancehead import options, sparse, xp
from lancehead.gradients import grad, hvp, jacfwd, value_and_grad


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: lancehead.vectorise, "vectorize"), (lambda: xp.meen, "mean"), (lambda: cp.meen, "mean"),
        (lambda: sparse.csr_aray, "csr_array"), (lambda: sparse.csgraph.dijkstr, "dijkstra"),
        (lambda: lancehead.types.flota64, "float64"), (lambda: lancehead.extending.overlod, "overload"),
        (lambda: xp.asarray([1.0], dtype="flota64"), "float64"),
    ],
)  # fmt: skip
def test_f29_the_nearest_name_is_told_outside_of_compiled_code(call, meant):
    with pytest.raises((AttributeError, TypeError)) as caught:
        call()
    assert f"did you mean `{meant}`?" in str(caught.value)


def test_questions_about_attributes_look_for_no_names(monkeypatch):
    monkeypatch.setattr("lancehead.options.suggest", lambda *_: pytest.fail("names were compared"))
    assert not hasattr(lancehead, "vectorise") and not hasattr(xp, "meen")


def test_the_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(options.NoAttribute("lancehead", "vectorise")))
    assert str(error) == "module 'lancehead' has no attribute 'vectorise'; did you mean `vectorize`?"


def test_f25_what_is_no_function_is_refused_at_once():
    for make in (grad, value_and_grad, jacfwd, hvp):
        with pytest.raises(TypeError, match=f"^`{make.__name__}` takes a function, not `int`$"):
            make(3)
