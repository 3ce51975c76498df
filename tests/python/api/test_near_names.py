"""Misspelt names outside of compiled code are told with the nearest one."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
import traceback

import numpy as np
import pytest

import lancehead
from lancehead import cuda, options, sparse, xp
from lancehead import cupy as cp
from lancehead.experimental import jitclass
from lancehead.gradients import grad, hvp, jacfwd, value_and_grad


def abs_of(x):
    return abs(x)


def scaled(x, factor=2.0):
    return x * factor


def shared_of():
    cuda.jit(lambda a: cuda.shared.array(shap=3, dtype=np.float32))[1, 1](np.zeros(1))


def local_of():
    cuda.jit(lambda a: cuda.local.array(3, dtpye=np.float32))[1, 1](np.zeros(1))


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: lancehead.vectorise, "vectorize"), (lambda: xp.meen, "mean"), (lambda: cp.meen, "mean"),
        (lambda: sparse.csr_aray, "csr_array"), (lambda: sparse.csgraph.dijkstr, "dijkstra"),
        (lambda: lancehead.types.flota64, "float64"), (lambda: lancehead.extending.overlod, "overload"),
        (lambda: xp.asarray([1.0], dtype="flota64"), "float64"),
        (lambda: xp.ones(3).meen(), "mean"), (lambda: cp.ones(3).meen(), "mean"),
        (lambda: sparse.eye(3).tocsrr(), "tocsr"), (lambda: sparse.csr_array((2, 2)).nzn, "nnz"),
        (lambda: lancehead.njit(abs_of).inspect_tpyes, "inspect_types"),
        (lambda: cuda.jit(abs_of).inspect_tpyes, "inspect_types"), (lambda: cuda.stream().synchronise, "synchronize"),
        (lambda: cuda.to_device([1.0]).copy_to_hots, "copy_to_host"), (lambda: cuda.shared.arry, "array"),
        (lambda: lancehead.types.int64.bitwdith, "bitwidth"), (lambda: cp.cuda.Devcie, "Device"),
        (lambda: cp.ElementwiseKernel("T x", "T z", "z = x").nmae, "name"),
        (lambda: grad(scaled, "fatcor"), "factor"), (lambda: jacfwd(scaled, argnums="fatcor"), "factor"),
    ],
)  # fmt: skip
def test_f29_the_nearest_name_is_told_outside_of_compiled_code(call, meant):
    with pytest.raises((AttributeError, TypeError, ValueError)) as caught:
        call()
    assert str(caught.value).count("did you mean") == 1 and f"did you mean `{meant}`?" in str(caught.value)
    # A traceback shows it once.
    shown = "".join(traceback.format_exception_only(caught.value))
    assert shown.lower().count("did you mean") == 1 and not shown.startswith("lancehead.")


@pytest.mark.parametrize(
    "line, meant",
    [
        ("from lancehead import vectorise", "vectorize"), ("from lancehead.gradients import gradd", "grad"),
        ("from lancehead.xp import meen", "mean"), ("from lancehead.cupy import meen", "mean"),
        ("from lancehead.sparse import csr_aray", "csr_array"),
        ("from lancehead.cuda import syncthread", "syncthreads"),
        ("from lancehead.types import flota64", "float64"), ("from lancehead.extending import overlod", "overload"),
        ("from lancehead.cupyx.scipy import sparze", "sparse"), ("from lancehead.cupy.linalg import nrom", "norm"),
        ("import lancehead.sprase", "sparse"), ("import lancehead.cuda.randm", "random"),
        ("from lancehead.gradient import grad", "gradients"), ("import lancehead.cupy.linalgg as la", "linalg"),
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
        (lambda: lancehead.njit(fastmaht=True), "fastmath"), (lambda: jitclass(sepc=[]), "spec"),
        (lambda: shared_of(), "shape"), (lambda: local_of(), "dtype"),
    ],
)  # fmt: skip
def test_f29_the_nearest_keyword_is_told(call, meant):
    with pytest.raises(TypeError) as caught:
        call()
    # CPython says it by itself from 3.13, in its own words.
    assert "id you mean" in str(caught.value) and meant in str(caught.value).partition("id you mean")[2]


def test_questions_about_modules_get_no_answer():
    assert importlib.util.find_spec("lancehead.sprase") is None
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("lancehead.nothing_of_the_kind")
    assert str(caught.value) == "No module named 'lancehead.nothing_of_the_kind'"


def test_an_error_of_a_property_is_its_own():
    @options.near_members
    class Held:
        @property
        def value(self):
            return self.vaule

        values = 3

    with pytest.raises(AttributeError) as caught:
        print(Held().value)
    assert str(caught.value) == "'Held' object has no attribute 'vaule'; did you mean `value`?"


@pytest.mark.parametrize(
    "name, value, meant",
    [
        ("LOG", "complie", "compile"), ("UNPROVEN", "seral", "serial"), ("CACHE_LEVELS", "al", "all"),
        ("SEMANTICS", "nubma", "numba"),
    ],
)  # fmt: skip
def test_values_of_settings_are_told_with_the_nearest(name, value, meant):
    done = subprocess.run(
        [sys.executable, "-c", "import lancehead"], env={**os.environ, f"LANCEHEAD_{name}": value}, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert f"LANCEHEAD_{name}={value}: " in done.stderr and f"did you mean `{meant}`?" in done.stderr


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
