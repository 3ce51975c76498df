"""Reports, built modules and texts of kernels, as someone meets them in the first week: each finding has a test by its
name."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pickle
import re
import subprocess
import sys
import typing

import numpy as np
import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.lib.pretty import pretty

import lancehead
from lancehead import cuda, errors, float64, int64, njit, options, places, typing_
from test_ahead import archive, built, in_python  # noqa: F401

DECORATORS = {
    **{name: getattr(lancehead, name) for name in ("jit", "njit", "vectorize", "guvectorize", "stencil", "cfunc")},
    "cuda.jit": cuda.jit,
}


# F16: specialisations are found by types as users write them.


def test_f16_explain_finds_the_specialisation_whatever_the_layout_of_arrays():
    @njit
    def total(a):
        return np.sum(a)

    total(np.arange(3.0)), total(np.arange(3)), total(np.zeros((2, 2)))
    (section,) = total.explain(signature=(float64[:],)).sections
    assert section.functions[0].params == [("a", "array(float64, 1d, C)")]
    assert "define" in total.inspect_llvm((float64[:],))
    total(np.arange(6.0)[::2])
    (section,) = total.explain(signature=(float64[:],)).sections
    assert section.functions[0].params == [("a", "array(float64, 1d, A)")]


def test_f16_explain_says_which_specialisations_there_are():
    @njit
    def first(a):
        return a

    with pytest.raises(
        KeyError, match=r"`\S*first` is not compiled for \(int64\); it is compiled for nothing yet: call it first"
    ):
        first.explain(signature=(int64,))
    first(np.zeros((2, 3))), first(np.zeros((3, 2)).T)
    with pytest.raises(KeyError) as caught:
        first.explain(signature=(float64[:, :],))
    said = str(caught.value)
    assert "is not compiled for (array(float64, 2d, A))" in said
    assert "it is compiled for (array(float64, 2d, C)) and (array(float64, 2d, F))" in said


# F17: what `lancehead build` makes.

BUILT = """
import numpy as np
from lancehead import njit

@njit("float64(float64[::1])")
def norm(a):
    return np.sqrt(np.sum(a * a))

@njit(["int64(int64, int64)", "float64(float64, float64)"])
def divide(x, y):
    return x // y

@njit("int64()")
def answer():
    return 42
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    directory = tmp_path_factory.mktemp("built")
    built(directory, "sample", BUILT, library=False)
    return directory / "out"


def test_f17_help_has_all_signatures_and_names_of_parameters(made):
    code = (
        "import inspect\nprint(s.divide.__doc__)\nprint(inspect.signature(s.divide), "
        "inspect.signature(s.answer))\nprint(s.answer.__doc__)"
    )
    assert in_python(made, code) == [
        "divide(x: int64, y: int64) -> int64",
        "divide(x: float64, y: float64) -> float64",
        "(x, y) ()",
        "answer() -> int64",
    ]


@pytest.mark.parametrize(
    "call, compiled, given",
    [
        ("norm(np.arange(6))", "norm(array(float64, 1d, C)) -> float64", "array(int64, 1d, C)"),
        ("norm(np.arange(6.)[::2])", "norm(array(float64, 1d, C)) -> float64", "array(float64, 1d, A)"),
        ("norm(np.zeros((2, 3)).T)", "norm(array(float64, 1d, C)) -> float64", "array(float64, 2d, F)"),
        ("norm(np.zeros(2, '>f8'))", "norm(array(float64, 1d, C)) -> float64", "array(>f8, 1d, C)"),
        ("norm(np.frombuffer(bytes(8)))", "norm(array(float64, 1d, C)) -> float64", "readonly array(float64, 1d, C)"),
        ("norm()", "norm(array(float64, 1d, C)) -> float64", "no arguments"),
        ("answer(None)", "answer() -> int64", "None"),
        (
            "divide('a', y=np.int8(1))",
            "divide(int64, int64) -> int64 or divide(float64, float64) -> float64",
            "str, y=int8",
        ),
        (
            "divide((1, 2), 1.5, z=3)",
            "divide(int64, int64) -> int64 or divide(float64, float64) -> float64",
            "tuple, float, z=int",
        ),
    ],
)
def test_f17_the_error_says_what_was_given_and_all_that_is_compiled(made, call, compiled, given):
    code = f"try:\n    s.{call}\nexcept TypeError as error:\n    print(error)"
    name = call.split("(")[0]
    assert in_python(made, code) == [f"No matching definition: {name} is compiled for {compiled}; got {given}"]


# F19: texts of kernels.


def test_f19_a_launch_without_configuration_is_told_by_pages_of_lancehead():
    @cuda.jit
    def kernel(a):
        a[0] = 1

    with pytest.raises(ValueError, match="Kernel launch configuration was not specified") as caught:
        kernel(np.zeros(1))
    said = str(caught.value)
    assert (
        "numba" not in said
        and "[blockspergrid, threadsperblock]" in said
        and "help(cuda.jit)" in said
        and "docs/cuda.md" in said
    )


def test_f19_detect_prints_the_name_of_the_device(capsys):
    assert cuda.detect()
    said = capsys.readouterr().out
    name = cuda.gpus[0].name.decode()
    # The line of numba-cuda.
    assert f"id 0    {name:>20} {'[SUPPORTED]':>40}\n" in said and "b'" not in said


# F20: places.


def loaded(path):
    """The function `f` of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "from lancehead import njit, prange\n\n@njit(parallel=True)\ndef f(n):\n    s = 0\n    for i in prange(n):\n   "
        "     s += i\n    return s\n"
    )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.f(3) == 3
    return module.f


def test_f20_reports_show_paths_from_the_working_directory(tmp_path, monkeypatch, capsys):
    f = loaded(tmp_path / "sub" / "model.py")
    monkeypatch.chdir(tmp_path)
    short = os.path.join("sub", "model.py")
    report = f.explain()
    assert report.sections[0].functions[0].file == str(tmp_path / short)
    f.parallel_diagnostics()
    for text in (str(report), report._repr_html_(), capsys.readouterr().out):
        assert short in text and str(tmp_path) not in text
    deep = tmp_path.joinpath(*"abcdefghijklmnopqrstuvwxyz" * 3)
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert f"\n{tmp_path / short}\n" in str(f.explain())


def test_f20_places_that_are_no_files_stay_as_they_are(tmp_path, monkeypatch):
    assert places.shown("<string>") == "<string>"
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert places.shown(str(tmp_path / "model.py")) == str(tmp_path / "model.py")


# F21: notebooks.


def test_f21_reports_are_printed_by_ipython_as_they_are():
    @njit
    def twice(x):
        return x * 2

    twice(1)
    report = twice.explain()
    assert "_repr_pretty_" in vars(type(report))
    assert pretty(report) == repr(report)
    first, *rest = repr(report).splitlines()
    # Within a list, all lines are indented alike.
    assert [line.rstrip() for line in pretty([report]).splitlines()] == [
        f"[{first}",
        *(f" {line}".rstrip() for line in rest[:-1]),
        f" {rest[-1]}]",
    ]


def test_f21_reports_name_cells_as_ipython_does(tmp_path):
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('1', store_history=True)\n"
        "shell.run_cell('from lancehead import njit\\n@njit\\ndef f(x): return x\\nf(1)\\nr = str(f.explain())', "
        "store_history=True)\n"
        "print(shell.user_ns['r'])\n"
    )
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, env=environment)
    assert "\nCell In[2]\n" in done.stdout and "ipython-input" not in done.stdout, done.stdout + done.stderr


# F4 and F5: options of decorators, for type checkers and for help.


def typed_options(decorator):
    """Names of keywords that type checkers know: those of each overload, and its own."""
    function = DECORATORS[decorator]
    for form in typing.get_overloads(function) or [function]:
        typed = re.match(r"Unpack\[(\w+)\]$", str(form.__annotations__["options"]))
        if typed:
            code = form.__code__
            own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            keys = typing.get_type_hints(getattr(typing_, typed[1]))
            yield {*keys, *(name for name in own if name in options.of(decorator))}


@pytest.mark.parametrize("decorator", sorted(set(DECORATORS) - {"njit"}))
def test_f4_options_for_type_checkers_are_those_of_the_table(decorator):
    known = {name for name in options.of(decorator) if not name.startswith("_")}
    # `stencil` takes its mode by name as well, which is no option of the table.
    known |= {"mode"} if decorator == "stencil" else set()
    forms = list(typed_options(decorator))
    assert forms and all(form == known for form in forms)


def test_f4_njit_has_the_options_of_jit():
    assert list(typed_options("jit")) == list(typed_options("njit"))


@pytest.mark.parametrize("decorator", sorted(DECORATORS))
def test_f5_signatures_of_decorators_have_the_options(decorator):
    table = options.of(decorator)
    audible = {n for n, option in table.items() if not options.is_mute(decorator, option) and not n.startswith("_")}
    parameters = inspect.signature(DECORATORS[decorator]).parameters
    assert audible <= set(parameters) and len(audible) > 3
    # Options that are accepted for Numba's sake only are left to the last parameter.
    assert {n for n in table if options.is_mute(decorator, table[n])} & set(parameters) <= {"opt", "target", "identity"}
    assert list(parameters)[-1] == "options"
    assert "Options:" in inspect.getdoc(DECORATORS[decorator])


def test_f5_a_signature_binds_and_prints_as_any_other():
    signature = inspect.signature(njit)
    assert signature.bind(parallel=True).kwargs == {"parallel": True}
    assert str(signature).startswith("(signature_or_function=None, *, parallel=False, cache=False, fastmath=False, ")
    assert (
        'error_model="python"' in str(signature)
        and signature.replace().parameters.keys() == signature.parameters.keys()
    )
    assert str(pickle.loads(pickle.dumps(signature))) == str(signature)


@pytest.mark.parametrize(
    "typed, wanted",
    [
        ("njit(pa", "parallel="),
        ("vectorize(fa", "fastmath="),
        ("cuda.jit(li", "lineinfo="),
        ("stencil(nei", "neighborhood="),
    ],
)
def test_f5_completion_shows_options(typed, wanted):
    shell = InteractiveShell()
    completer = IPCompleter(shell=shell, namespace={**vars(lancehead), "cuda": cuda})
    with provisionalcompleter():
        assert wanted in [c.text for c in completer.completions(typed, len(typed))]


@pytest.mark.parametrize(("columns", "is_whole"), [(None, False), ("60", False), ("200", True)])
def test_long_lines_are_shown_around_the_culprit(columns, is_whole, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    # The comment makes the line long.
    with pytest.raises(errors.TypingError) as caught:
        njit(lambda x: x.no_such_thing)(1.5)  # ............................................................... end
    shown = next(line for line in str(caught.value).splitlines() if "no_such_thing)" in line)
    assert ("end" in shown) == is_whole and len(shown) <= int(columns or 80) + is_whole * 200
    marks = next(line for line in str(caught.value).splitlines() if "^" in line)
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "x.no_such_thing"
