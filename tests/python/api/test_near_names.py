"""Misspelt names outside of compiled code are told with the nearest one."""

from __future__ import annotations

import pickle

import pytest

import lancehead
from lancehead import cuda, options, sparse, xp
from lancehead import cupy as cp
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


@pytest.mark.parametrize(
    "line, meant",
    [
        ("from lancehead import vectorise", "vectorize"), ("from lancehead.gradients import gradd", "grad"),
        ("from lancehead.xp import meen", "mean"), ("from lancehead.cupy import meen", "mean"),
        ("from lancehead.sparse import csr_aray", "csr_array"),
        ("from lancehead.cuda import syncthread", "syncthreads"),
        ("from lancehead.types import flota64", "float64"), ("from lancehead.extending import overlod", "overload"),
    ],
)  # fmt: skip
def test_f29_the_nearest_name_is_told_by_imports(line, meant):
    with pytest.raises(ImportError) as caught:
        exec(line, {})
    assert f"did you mean `{meant}`" in str(caught.value)


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: xp.sum(xp.ones(3), axs=0), "axis"), (lambda: xp.asarray([1.0], dtpye=xp.float32), "dtype"),
        (lambda: xp.linalg.matrix_norm(xp.ones((2, 2)), kepdims=True), "keepdims"),
        (lambda: cp.sum(cp.ones(3), axs=0), "axis"), (lambda: cp.zeros(3, dtpe=int), "dtype"),
        (lambda: grad(abs, argnms=0), "argnums"), (lambda: value_and_grad(abs, has_axu=True), "has_aux"),
        (lambda: sparse.eye(3, fromat="csr"), "format"),
        (lambda: sparse.csgraph.dijkstra(None, directd=True), "directed"),
        (lambda: cuda.to_device(1, strem=0), "stream"), (lambda: cuda.device_array(3, dtpye=int), "dtype"),
        (lambda: lancehead.njit(fastmaht=True), "fastmath"),
    ],
)  # fmt: skip
def test_f29_the_nearest_keyword_is_told(call, meant):
    with pytest.raises(TypeError) as caught:
        call()
    # CPython says it by itself from 3.13, in its own words.
    assert "id you mean" in str(caught.value) and meant in str(caught.value).partition("id you mean")[2]


def test_a_name_of_another_module_is_told():
    with pytest.raises(
        ImportError, match=r"cannot import name 'grad' from 'lancehead'; it is in `lancehead.gradients`"
    ):
        exec("from lancehead import grad", {})


def test_an_error_in_a_function_keeps_its_words():
    def broken(x, *, factor=1.0):
        return int(x, bse=10)

    module = {"__name__": __name__, "broken": broken, "twice": broken}
    options.near_keywords(module)
    assert module["broken"] is module["twice"]
    with pytest.raises(TypeError) as caught:
        module["broken"]("1", factor=2.0)
    assert "did you mean" not in str(caught.value)


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
