"""The interface of Numba beside compilation: names of types, settings, introspection, extensions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types as python_types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lancehead
import numba_type_texts
from lancehead import (
    caching,
    cuda,
    entrypoints,
    errors,
    extending,
    guvectorize,
    jit,
    njit,
    stencil,
    type_texts,
    typeof,
    types,
    vectorize,
)

K = 1


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_texts, "served", True)


def test_types_are_written_as_numbas(served: None) -> None:
    recorded = json.loads(numba_type_texts.RECORDED.read_text())
    made = numba_type_texts.written(types, typeof)
    assert {e: texts for e, texts in made.items() if texts != recorded[e]} == {}


def test_lists_of_one_type_are_one_type() -> None:
    assert types.List(types.int64) == types.ListType(types.int64) == typeof([1])
    assert len({types.List(types.int64), types.ListType(types.int64)}) == 1
    assert njit([(types.ListType(types.int64),)])(lambda x: x[0])(lancehead.typed.List([3])) == 3
    assert types.List(types.int64)[0] is types.int64 and types.Tuple((types.int64, types.float64))[-1] is types.float64


def run(program: str, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments, "-c", program], env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SEMANTICS = "import numpy as np; from lancehead import njit; print(njit(lambda a: a[0] * 2)(np.array([200], np.uint8)))"


@pytest.mark.parametrize("setting, said", [("numba", "400"), ("__main__", "400"), ("other.module", "144"), ("", "144")])
def test_semantics_of_the_environment(setting: str, said: str) -> None:
    assert run(SEMANTICS, LANCEHEAD_SEMANTICS=setting) == said


def test_semantics_of_all_decorators() -> None:
    a, two = np.full(4, 200, np.uint8), np.array([200, 3], np.uint8)

    @cuda.jit(semantics="numba")
    def kernel(out: Any, a: Any) -> None:
        out[0] = a[0] * a[1]

    out = np.zeros(1)
    kernel[1, 1](out, two)
    assert out[0] == 600
    assert stencil(lambda a: a[-1] * a[1], semantics="numba")(a).max() == 40000
    assert stencil(lambda a: a[-1] * a[1])(a).max() == 40000 % 256
    assert vectorize(lambda x: x * 2, semantics="numba")(two).dtype == np.int64
    on_device = vectorize(["int64(uint8)"], target="cuda", semantics="numba")(lambda x: x * 2)
    assert on_device(two).tolist() == [400, 6]


def test_a_callee_keeps_its_frozen_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = njit(lambda x: x + K, semantics="numba")
    outer = njit(lambda x: inner(x) * 10, semantics="numba")
    mixed = njit(lambda x: inner(x) * 100)
    assert inner(1) == 2
    monkeypatch.setattr(sys.modules[__name__], "K", 5)
    assert (outer(1), inner(1), mixed(1), mixed(1)) == (20, 2, 200, 200)
    # Compiled for other types as part of another function, it has what the name was then.
    assert outer(1.0) == 60.0
    monkeypatch.setattr(sys.modules[__name__], "K", 7)
    assert inner(1.0) == 6.0
    inner.recompile()
    assert inner(1) == 8


def test_keyword_arguments_are_typed_numbers() -> None:
    @njit(semantics="numba")
    def f(a: Any) -> Any:
        return np.full(2, fill_value=a), np.std(np.array([1, 2], np.float32))

    filled, deviation = f(3)
    assert filled.dtype == np.int64 and deviation == 0.5


def test_a_core_dimension_of_one_element_has_numpys_stride() -> None:
    def body(x: Any, at: Any, out: Any) -> None:
        out[:] = 0
        for i in range(len(x)):
            out[at[i]] += x[i]

    layout, signature = "(n),(n)->(n)", ["void(float64[:], int64[:], float64[:])"]
    one = np.ones(1), np.ones(1, np.int64)
    assert guvectorize(signature, layout, boundscheck=False)(body)(*one).tolist() == [1.0]
    with pytest.raises(IndexError):
        guvectorize(signature, layout)(body)(*one)


def test_texts_in_signatures() -> None:
    for text in ("UnicodeCharSeq(3)", "CharSeq(3)"):
        array = np.array(["abc"], "U3" if text[0] == "U" else "S3")
        assert njit(f"int64({text}[:])")(lambda a: len(a[0]))(array) == 3

        @guvectorize([f"void(float64[:], {text}, float64[:])"], "(n),()->(n)")
        def f(a: Any, s: Any, o: Any) -> None:
            for i in range(a.size):
                o[i] = a[i] + len(s)

        assert f.types


def test_jit_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = python_types.ModuleType("some_module")
    monkeypatch.setitem(sys.modules, "some_module", module)
    source = "from lancehead import jit_module\nfrom os import getcwd\ndef f(x): return x + 1\njit_module(nogil=True)\n"
    exec(source, vars(module))
    assert module.f(1) == 2 and module.f.targetoptions["nogil"] and not extending.is_jitted(module.getcwd)


def test_wrong_arguments_are_told_as_numba_does() -> None:
    f = njit(lambda x, y=1: x, semantics="numba")
    for args, names, text in [
        ((1, 2, 3), {}, "too many arguments: expected 2, got 3"),
        ((), {}, "not enough arguments: expected at least 1, got 0"),
        ((), {"y": 1}, "missing argument 'x'"),
        ((1,), {"z": 1}, "some keyword arguments unexpected"),
    ]:
        for g in (f, jit(forceobj=True, semantics="numba")(f.py_func)):
            with pytest.raises(TypeError, match=text):
                g(*args, **names)


def test_introspection() -> None:
    f = njit(lambda x, y=2: x + y)
    assert f(1) == 3
    result = f.get_compile_result(f.nopython_signatures[0])
    assert result.signature == f.nopython_signatures[0] == f.overloads[f.signatures[0]].signature
    assert result.fndesc.argtypes == f.signatures[0] and "define" in result.library.get_llvm_str()
    assert result.metadata and "x" in result.type_annotation and result.dispatcher is f
    assert f.get_compile_result((types.int32, types.int32)).signature.return_type == types.int32
    assert (f.func_code is f.py_func.__code__, f.locals, f.doc) == (True, {}, None)
    assert f._numba_type_.dispatcher is f and not hasattr(f, "no_such_attribute") and not hasattr(f, "__nothing__")
    with pytest.raises(AttributeError, match="no_such_attribute"):
        f.no_such_attribute


def test_an_overload_may_force_literals() -> None:
    def power(x: Any, n: Any) -> Any: ...

    @extending.overload(power)
    def power_of(x: Any, n: Any) -> Any:
        extending.SentryLiteralArgs(["n"]).for_function(power_of).bind(x, n)
        return (lambda x, n: x) if n.literal_value == 1 else (lambda x, n: x * x)

    f = njit(lambda x, n: power(x, n))
    assert (f(3, 1), f(3, 2), njit(lambda x: power(x, 2))(5)) == (3, 9, 25)
    with pytest.raises(errors.TypingError):
        f(3, np.ones(2))


def test_what_an_overload_raises_is_the_programs() -> None:
    def broken(x: Any) -> None: ...

    @extending.overload(broken)
    def _(x: Any) -> Any:
        return x.no_such_attribute

    with pytest.raises(AttributeError, match="object has no attribute 'no_such_attribute'"):
        njit(lambda x: broken(x))(1)


def test_locators_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(caching._CacheLocator):
        stamp = 1

        def get_cache_path(self) -> str:
            return str(tmp_path / "kept")

        def get_source_stamp(self) -> int:
            return self.stamp

        def get_disambiguator(self) -> str:
            return "main"

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls() if py_func.__name__ == "kept_elsewhere" else None

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [Elsewhere, *caching.CacheImpl._locator_classes])

    def kept_elsewhere(x: Any) -> Any:
        return x + 1

    def hits() -> int:
        f = njit(cache=True)(kept_elsewhere)
        assert f(1) == 2
        return sum(f.stats.cache_hits.values())

    assert hits() == 0 and list((tmp_path / "kept").glob("*.nbi"))
    assert hits() == 1
    monkeypatch.setattr(Elsewhere, "stamp", 2)
    assert hits() == 0


def test_a_cache_of_a_programs_own(tmp_path: Path) -> None:
    kept = caching.IndexDataCacheFile(str(tmp_path), "some", (1, 2))
    kept.save("key", [1, 2])
    assert caching.IndexDataCacheFile(str(tmp_path), "some", (1, 2)).load("key") == [1, 2]
    assert caching.IndexDataCacheFile(str(tmp_path), "some", (3, 4)).load("key") is None


def test_functions_that_run_in_the_interpreter() -> None:
    class Opaque:
        def __getattr__(self, name: str) -> int:
            return 1

    def body(a: Any, b: Any, out: Any) -> None:
        Opaque()
        out[:] = a + b

    f = guvectorize(["void(int32[:], int32, int32[:])"], "(n),()->(n)", forceobj=True)(body)
    assert f(np.arange(6, dtype="i4").reshape(2, 3), 3).tolist() == [[3, 4, 5], [6, 7, 8]]
    with pytest.raises(TypeError, match="no loop"):
        f(np.zeros(2), 1)
    with pytest.raises(errors.NumbaError):
        guvectorize(["void(int32[:], int32, int32[:])"], "(n),()->(n)")(body)


def test_extensions_are_loaded_before_the_first_compilation(tmp_path: Path) -> None:
    info = tmp_path / "ext-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ext\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[numba_extensions]\ninit = ext:init\n")
    (tmp_path / "ext.py").write_text("def init():\n    print('loaded')\n")
    program = "from lancehead import serve_numba; serve_numba()\nimport numba\nprint(numba.njit(lambda: 1)())"
    path = os.pathsep.join([str(tmp_path), str(Path(lancehead.__file__).parents[1])])
    assert run(program, PYTHONPATH=path).split() == ["loaded", "1"]
    assert "loaded" not in run("from lancehead import njit\nprint(njit(lambda: 1)())", PYTHONPATH=path)
    assert entrypoints.__all__ == ["init_all"]


def test_errors_carry_what_numbas_do() -> None:
    error = errors.TypingError("no such axis", loc="here").add_context("in a client")
    assert (error.loc, error.contexts, str(error)) == ("here", ["in a client"], "no such axis\nDuring: in a client")
    error.patch_message("another")
    assert error.msg == "another" and errors.NumbaWarning("w", loc=1).loc == 1
    assert str(errors.UntypedAttributeError(types.int64, "a")) == "Unknown attribute 'a' of type int64"
    assert (errors.ForceLiteralArg({1}) | errors.ForceLiteralArg({2})).requested_args == {1, 2}


def test_arrays_are_seen_by_tracemalloc() -> None:
    program = """
import tracemalloc, numpy as np
from lancehead import njit
f = njit(lambda n: np.empty(n, np.int8))
f(1); tracemalloc.start(); before = tracemalloc.take_snapshot()
kept = f(10**6)
print(tracemalloc.take_snapshot().compare_to(before, "lineno")[0].size_diff >= 10**6)
del kept
print(all(s.size_diff < 10**5 for s in tracemalloc.take_snapshot().compare_to(before, "lineno")))
"""
    assert run(program).split() == ["True", "True"]
