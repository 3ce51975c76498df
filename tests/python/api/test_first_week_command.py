"""Options, settings and the command, as someone meets them in the first week: each finding has a test by its name."""

from __future__ import annotations

import doctest
import filecmp
import importlib
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import lancehead
from cache_programs import Project
from lancehead import cfunc, cli, cuda, errors, guvectorize, jit, njit, options, settings, stencil, vectorize
from lancehead._command import packing, pages, serve
from lancehead.demo.program import Measurement, Program
from lancehead.demo.report import print_report

ROOT = Path(__file__).parents[3]


def command(
    *arguments: object, cwd: Path | None = None, given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command and returns what it did."""
    line = [sys.executable, "-m", "lancehead", *map(str, arguments)]
    return subprocess.run(
        line, capture_output=True, text=True, cwd=cwd, input=given, env={**os.environ, **environment}, timeout=300
    )


def imported(**environment: str) -> subprocess.CompletedProcess[str]:
    """Imports lancehead with variables of the environment."""
    line = [sys.executable, "-c", "import lancehead"]
    return subprocess.run(line, capture_output=True, text=True, env={**os.environ, **environment}, timeout=100)


# F5: options are checked.


@pytest.mark.parametrize(
    ("decorate", "error"),
    [
        (lambda: njit(nopyhton=True), TypeError),
        (lambda: jit(nopyhton=True), TypeError),
        (lambda: vectorize(nopyhton=True), KeyError),
        (lambda: guvectorize([], "(n)->()", nopyhton=True), KeyError),
        (lambda: cfunc("int64(int64)", nopyhton=True), TypeError),
        (lambda: cuda.jit(nopyhton=True), TypeError),
    ],
)
def test_f5_misspelt_options_are_named_with_the_nearest_and_all(decorate, error):
    with pytest.raises(error) as caught:
        decorate()
    said = str(caught.value)
    assert "nopyhton" in said and "did you mean `nopython`?" in said and "fastmath" in said and "boundscheck" in said


def test_f5_misspelt_options_of_stencils_and_targets():
    with pytest.raises(
        errors.NumbaValueError, match=r"Unknown stencil option cvall.*neighborhood.*did you mean `cval`\?"
    ):
        stencil(cvall=3)
    with pytest.raises(ValueError, match=r"'paralel'.*did you mean `parallel`\?"):
        vectorize(target="paralel")


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"fastmath": "fast"}, ValueError, "nnan, ninf, nsz, arcp, contract, afn, reassoc, fast"),
        ({"fastmath": {"nan"}}, ValueError, "did you mean `nnan`?"),
        ({"fastmath": None}, ValueError, "fastmath=None"),
        ({"boundscheck": 3}, TypeError, "boundscheck=3\n  boundscheck takes True or False"),
        ({"cache": "yes"}, ValueError, "cache='yes'\n  cache takes True or False"),
        ({"nogil": []}, TypeError, "nogil=[]"),
        ({"parallel": "yes"}, ValueError, "parallel='yes'"),
        ({"parallel": {"pragne": True}}, NameError, "did you mean `prange`?"),
        ({"error_model": "nump"}, ValueError, '"python" or "numpy"'),
        ({"overflow": True}, TypeError, '"wrap" or "check"'),
        ({"inline": "sometimes"}, ValueError, '"never" or "always"'),
        ({"debug": 1.0}, TypeError, "debug=1.0"),
        ({"nopython": "no"}, ValueError, "nopython='no'"),
        ({"locals": 3}, TypeError, "from names of variables to types"),
    ],
    ids=repr,
)
def test_f5_wrong_values_name_option_value_and_what_is_allowed(given, error, said):
    with pytest.raises(error) as caught:
        njit(**given)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "decorate",
    [
        lambda **o: cuda.jit(**o),
        lambda **o: stencil(**o),
        lambda **o: vectorize(**o),
        lambda **o: cfunc("int64(int64)", **o),
    ],
)
def test_f5_every_decorator_checks_values(decorate):
    with pytest.raises(ValueError, match="cache='yes'"):
        decorate(cache="yes")


@pytest.mark.parametrize(
    "given",
    [
        {"boundscheck": None}, {"cache": 0}, {"nogil": 1}, {"nogil": np.bool_(True)}, {"nogil": None},
        {"fastmath": {"nnan": True}},
        {"fastmath": ["reassoc"]}, {"parallel": {"prange": False}}, {"inline": lambda *_: True},
        {"no_cpython_wrapper": True},
        {"looplift": False}, {"_nrt": True}, {"pipeline_class": object}, {"locals": {}},
    ],
    ids=repr,
)  # fmt: skip
def test_f5_what_numba_takes_goes_on(given):
    assert njit(**given)(lambda x: x + 1)(1) == 2


def test_f5_the_compiler_reads_every_value_of_the_table():
    for flag in options.FASTMATH:
        assert njit(fastmath={flag})(lambda x: x + 1.0)(1.0) == 2.0
    for key in options.PARALLEL:
        assert njit(parallel={key: True})(lambda x: x + 1.0)(1.0) == 2.0
    for name, values in (
        ("error_model", ("python", "numpy")),
        ("overflow", ("wrap", "check")),
        ("inline", ("never", "always")),
    ):
        for value in values:
            assert njit(**{name: value})(lambda x: x + 1.0)(1.0) == 2.0


def test_f5_object_mode_is_warned_of():
    with pytest.warns(errors.NumbaInvalidConfigWarning, match="no object mode"):
        jit(nopython=False)
    with pytest.warns(RuntimeWarning, match="forceobj is set for njit and is ignored"):
        njit(forceobj=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit(nopython=True, forceobj=False)
        jit(forceobj=True)


def test_f5_the_warning_points_to_the_decorated_function():
    for decorator in (jit, njit):
        with pytest.warns(errors.NumbaInvalidConfigWarning) as caught:
            decorator(nopython=False)
        assert caught[0].filename == __file__


def test_f5_programs_for_numba_are_not_warned_of_object_mode(tmp_path):
    (tmp_path / "program.py").write_text("import numba\nprint(numba.jit(forceobj=True)(lambda x: x + 1)(1))\n")
    done = command("run", tmp_path / "program.py")
    assert (done.stdout, done.stderr) == ("2\n", "")


@pytest.mark.parametrize("module", ["options", "settings", "decorators", "_command.cache"])
def test_f5_examples_of_docstrings(module):
    found = doctest.testmod(
        importlib.import_module(f"lancehead.{module}"), extraglobs={"np": np, "types": lancehead.types}
    )
    assert found.attempted > 0 and found.failed == 0


def test_f5_help_lists_options():
    for decorator in (jit, njit):
        for name in (
            "parallel",
            "cache",
            "fastmath",
            "boundscheck",
            "nogil",
            "error_model",
            "overflow",
            "debug",
            "inline",
        ):
            assert re.search(rf"^    +{name} \(default .*\): [A-Z]", decorator.__doc__, re.MULTILINE), name


def test_f5_the_page_of_options_is_current():
    done = subprocess.run(
        [sys.executable, ROOT / "xtask/options_page.py", "--check"], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs/options.md").read_text(encoding="utf-8")
    for option in options.OPTIONS:
        assert option.name.startswith("_") or f"| `{option.name}` |" in page


# F7: settings are checked.


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CPU_NAME", "skylaek", "did you mean `skylake`"),
        ("CPU_NAME", "bogus", "LLVM knows no such processor"),
        ("CPU_FEATURES", "+avx2,-fam", "LLVM knows no feature `fam`"),
        ("CPU_FEATURES", "avx2", "+avx2"),
        ("CACHE", "yes", "it is 1 or 0"),
        ("DEBUG_CACHE", "on", "it is 1 or 0"),
        ("DEBUGINFO", "on", "it is 1 or 0"),
        ("DISABLE_JIT", "true", "it is 1 or 0"),
        ("RACE", "2", "it is 1 or 0"),
        ("BOUNDSCHECK", "off", "it is 1 or 0"),
        ("PERF", "yes", "it is 1 or 0"),
    ],
)
def test_f7_settings_that_mean_nothing_are_errors(variable, value, said):
    done = imported(**{f"LANCEHEAD_{variable}": value})
    last = [line for line in done.stderr.splitlines() if line.startswith("ValueError")]
    assert (
        done.returncode == 1
        and len(last) == 1
        and last[0].startswith(f"ValueError: LANCEHEAD_{variable}={value}: ")
        and said in last[0]
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CPU_NAME", "skylake"), ("CPU_NAME", "level"), ("CPU_FEATURES", "+avx2,-fma"), ("CACHE", "0"), ("CACHE", "")],
)
def test_f7_settings_that_mean_something_are_quiet(variable, value):
    done = imported(**{f"LANCEHEAD_{variable}": value})
    assert done.returncode == 0 and done.stderr == ""


def test_f7_unknown_variables_are_warned_of_once():
    done = imported(LANCEHEAD_CASHE="1", LANCEHEAD_TORTURE="5")
    assert done.returncode == 0
    assert done.stderr.count("LANCEHEAD_CASHE is no setting of lancehead; did you mean `LANCEHEAD_CACHE`?") == 1
    assert "TORTURE" not in done.stderr


def test_f7_a_processor_of_32_bits_has_atomic_operations_of_64(tmp_path):
    (tmp_path / "program.py").write_text("""
import numpy as np
from lancehead import cuda
@cuda.jit
def count(a):
    cuda.atomic.add(a, 0, 1)
a = np.zeros(1, np.int64)
count[2, 32](a)
print(a[0])
""")
    env = {**os.environ, "LANCEHEAD_CPU_NAME": "i386", "LANCEHEAD_CUDA_DEVICE": "cpu"}
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, env=env, timeout=100
    )
    assert done.stdout == "64\n", done.stderr


def test_f7_flags_of_the_table_are_all_checked():
    assert {s.name for s in settings.SETTINGS if s.is_flag} == {
        "DISABLE_JIT", "CACHE", "DEBUGINFO", "DEBUG_CACHE", "BOUNDSCHECK", "RACE", "PERF", "PROFILE", "SERVE_NUMBA",
    }  # fmt: skip


# F8: packs.


@pytest.fixture
def package(tmp_path):
    project = Project(tmp_path)
    project.write("pkg/__init__.py", "")
    project.write("pkg/mod.py", "@njit(cache=True)\ndef norm(a): return (a * a).sum() ** 0.5\n")
    return tmp_path / "pkg"


def packed(package):
    return sorted(package.rglob("*.nbc"))


@pytest.mark.parametrize(
    ("signatures", "said"),
    [
        (["pkg.mod.nrm(float64[::1])"], "lancehead pack: pkg.mod has no `nrm`; did you mean `norm`?\n"),
        (
            [],
            (
                "lancehead pack: nothing to pack: no function of pkg has a signature in its decorator; give one: -s "
                "'pkg.module.function(float64[:])'\n"
            ),
        ),
        (["pkg.mod.norm"], "lancehead pack: 'pkg.mod.norm' is no signature; write 'pkg.mod.norm(float64[:])'\n"),
        (
            ["pkg.mod.np(float64)"],
            "lancehead pack: pkg.mod.np is not a compiled function, but module; decorate it with @njit\n",
        ),
    ],
)
def test_f8_a_pack_that_fails_leaves_the_earlier_one(package, signatures, said):
    first = command("pack", package, "-s", "pkg.mod.norm(float64[::1])", "--level", "x86-64-v2", "--level", "x86-64-v3")
    assert first.returncode == 0 and "2 entries" in first.stdout, first.stderr
    before = {path: path.read_bytes() for path in packed(package)}
    done = command("pack", package, *[part for s in signatures for part in ("-s", s)])
    assert (done.returncode, done.stderr) == (1, said)
    assert {path: path.read_bytes() for path in packed(package)} == before and len(before) == 2


def test_f8_a_new_pack_takes_the_place_of_the_earlier_one(package):
    level = ("--level", "x86-64-v2")
    assert command("pack", package, "-s", "pkg.mod.norm(float64[::1])", *level).returncode == 0
    (package / "sub" / packing.PACK).mkdir(parents=True)
    (package / "sub" / packing.PACK / "of a module that is gone.nbc").write_bytes(b"")
    # The earlier pack has this code, which is made again for the new one.
    done = command("pack", package, "-s", "pkg.mod.norm(float64[::1])", "-s", "pkg.mod.norm(float32[::1])", *level)
    assert done.returncode == 0 and "2 entries" in done.stdout, done.stderr
    assert len(packed(package)) == 2
    assert [p.name for p in package.iterdir() if p.name.startswith(packing.PACK)] == [packing.PACK]


def test_f8_a_function_that_cannot_be_compiled_is_told_without_a_traceback(package):
    done = command("pack", package, "-s", "pkg.mod.norm(unicode_type)", "--level", "x86-64-v2")
    assert done.returncode == 1 and "pkg.mod.norm(unicode_type) cannot be compiled\n" in done.stderr
    assert "Traceback" not in done.stderr and packed(package) == []


def test_f8_a_pack_that_cannot_be_written_leaves_the_earlier_one(package, monkeypatch):
    places = [package, package / "sub"]
    for place in places:
        (place / packing.PACK).mkdir(parents=True)
        (place / packing.PACK / "old.nbc").write_bytes(b"old")
    new = package / "new.nbc"
    new.write_bytes(b"new")

    def fails(source, target):
        if "sub" in str(target):
            raise OSError("no space left on device")

    monkeypatch.setattr(packing.shutil, "copyfile", fails)
    with pytest.raises(OSError, match="no space"):
        packing._installed({place: [new] for place in places}, package)
    assert sorted(p.relative_to(package).as_posix() for p in package.rglob("__lancehead__*/*")) == [
        "__lancehead__/old.nbc",
        "sub/__lancehead__/old.nbc",
    ]
    assert list(package.rglob("*.new")) == []


# F9: the demo's numbers.


def report(width):
    long = Program(
        "cuda_nbody", "Gravity of n bodies, CUDA kernel on the CPU", "Python", lambda quick: (), str, abs, abs
    )
    results = [
        Measurement(long, "1,000,000 points, 1,000 steps", 0.574, 2.37e-3, 0.1649),
        Measurement(long, "5 bodies", 123.0, 1e-7, 1.5),
    ]
    print_report(width, results)


@pytest.mark.parametrize("width", [80, 109, 110, 120, 200])
def test_f9_numbers_and_headings_of_the_demo_are_never_cut(width, capsys):
    report(width)
    shown = capsys.readouterr().out
    for word in (
        "Plain",
        "Compiled",
        "Speed-up",
        "Compile time",
        "Python  574 ms",
        "2.37 ms",
        "242 ×",
        "165 ms",
        "Python   123 s",
        "100 ns",
        "1,230,000,000 ×",
    ):
        assert word in shown, word
    assert max(map(len, shown.splitlines())) <= width
    assert ("Input" in shown) == (width >= 110)


@pytest.mark.parametrize("option", ["--png", "--svg"])
def test_f9_paths_of_charts_are_checked_before_the_programs_run(option, tmp_path):
    missing = tmp_path / "missing" / "x.png"
    done = command("demo", option, missing)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"lancehead demo: {missing} cannot be written\n")
    assert command("demo", option, tmp_path).returncode == 2


# F10: the cache.


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("from lancehead import njit\n@njit(cache=True)\ndef norm(x): return x * 2\nprint(norm(4))\n")
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "home")}
    assert subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, timeout=100).stdout == "8\n"
    (tmp_path / "elsewhere").mkdir()
    return path


def cached(script, *arguments, cwd=None, given=""):
    return command(
        "cache", *arguments, cwd=cwd or script.parent, given=given, XDG_CACHE_HOME=str(script.parent / "home")
    )


def test_f10_the_cache_of_a_script_is_found_from_its_directory(script):
    shown = cached(script, "ls").stdout
    assert "__main__.norm (int64) -> int64" in shown and "processor" in shown and "size" in shown
    assert re.search(r"^ +[\d.]+ k?B  \S+ +__main__", shown, re.MULTILINE)
    assert str(script.parent / "home") in shown and "__pycache__" in shown
    assert "1 entry, " in shown
    assert "entries    1\n" in cached(script, "info").stdout


def test_f10_a_script_or_its_directory_may_be_named(script):
    (script.parent / "program2.py").write_text(script.read_text())
    env = {**os.environ, "XDG_CACHE_HOME": str(script.parent / "home")}
    subprocess.run(
        [sys.executable, script.parent / "program2.py"], env=env, check=True, capture_output=True, timeout=100
    )
    elsewhere = script.parent / "elsewhere"
    assert "1 entry, " in cached(script, "ls", script, cwd=elsewhere).stdout
    assert "2 entries, " in cached(script, "ls", script.parent, cwd=elsewhere).stdout


def test_f10_where_nothing_is_found_the_command_says_where_it_looked(script):
    for action in ("ls", "info"):
        shown = cached(script, action, cwd=script.parent / "elsewhere").stdout
        assert "home" in shown and "__pycache__" in shown and "lancehead cache ls DIRECTORY" in shown


@pytest.mark.parametrize(("answer", "status", "left"), [("n\n", 1, 1), ("", 1, 1), ("\n", 1, 1), ("y\n", 0, 0)])
def test_f10_clear_asks(script, answer, status, left):
    done = cached(script, "clear", given=answer)
    assert (
        done.stdout.startswith("Remove 1 entry and 1 object, ")
        and "__pycache__" in done.stdout
        and done.returncode == status
    )
    assert len(list(script.parent.rglob("*.nbc"))) == left


def test_f10_clear_with_yes_does_not_ask(script):
    done = cached(script, "clear", "--yes", script)
    assert (done.stdout, done.returncode) == ("1 entry removed\n", 0)
    assert list(script.parent.rglob("*.nbc")) == []


# F18: the command.


@pytest.mark.parametrize(
    ("signature", "said"),
    [("int64()", "0 argument types for 1 parameter\n"), ("int64(int64, int64)", "2 argument types for 1 parameter\n")],
)
def test_f18_numbers_have_their_nouns(signature, said):
    with pytest.raises(errors.TypingError) as caught:
        njit(signature)(lambda x: x)
    assert said in str(caught.value)


def test_f18_version():
    for option in ("--version", "-V"):
        done = command(option)
        assert (done.returncode, done.stdout) == (0, f"lancehead {lancehead.__version__}\n")


def test_f18_no_command_prints_the_help():
    done = command()
    assert done.returncode == 2 and done.stdout == "" and "usage:" in done.stderr and "exit status:" in done.stderr


def parsers():
    """All commands and actions."""
    found = {}
    waiting = [("lancehead", cli.parser())]
    while waiting:
        name, made = waiting.pop()
        found[name] = made
        for action in made._actions:
            if isinstance(action.choices, dict):
                waiting += [(f"{name} {part}", sub) for part, sub in action.choices.items()]
    return found


def test_f18_every_command_has_a_description_and_an_example():
    found = parsers()
    assert {"lancehead run", "lancehead cache ls", "lancehead help"} <= found.keys() and len(found) == 14
    for name, made in found.items():
        assert made.description, name
        assert name == "lancehead" or re.search(rf"example(s)?:\n  {name}", made.format_help()), name


def test_f18_options_that_may_be_repeated_say_so():
    found = parsers()
    for name in ("pack", "build", "demo"):
        repeated = [a for a in found[f"lancehead {name}"]._actions if type(a).__name__ == "_AppendAction"]
        assert repeated
        for action in repeated:
            assert "may be repeated" in action.help, (name, action.option_strings)


@pytest.mark.parametrize("columns", [40, 72, 80, 120])
def test_f40_helps_keep_to_the_width_of_the_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    for name, made in parsers().items():
        assert max(map(len, made.format_help().splitlines())) <= columns, name
        # A shell reads the examples as they are written.
        shown = re.sub(r" \\\n +", " ", made.format_help())
        assert all(line in shown for line in made.epilog.splitlines() if line.startswith("  lancehead ")), name


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_pages_keep_to_the_width_of_the_terminal(columns):
    assert max(map(len, pages.contents(columns))) <= columns
    for name in pages.ids():
        page = pages.page(name)
        # Programs and tables stay as they are written.
        shown = re.sub(r"(?s)```.*?```", "", pages.wrapped(page, columns))
        assert all(len(line) <= columns for line in shown.splitlines() if line[:1] != "|"), name
        programs = [re.findall(r"(?s)```.*?```", text) for text in (page, pages.wrapped(page, columns))]
        assert programs[0] == programs[1], name


@pytest.mark.parametrize(
    ("arguments", "prog", "meant"),
    [
        (["hlep"], "lancehead", "help"), (["--versoin"], "lancehead", "--version"),
        (["help", "deom"], "lancehead help", "demo"), (["demo", "--quik"], "lancehead demo", "--quick"),
        (["cache", "lss"], "lancehead cache", "ls"), (["cache", "ls", "--log"], "lancehead cache ls", "--long"),
        (["cache", "--hlep"], "lancehead cache", "--help"), (["numba", "--hlep"], "lancehead numba", "--help"),
        (["demo", "--only", "nbdoy"], "lancehead demo", "nbody"),
        (["numba", "onn"], "lancehead numba", "on"), (["build", "x.py", "--levl"], "lancehead build", "--level"),
    ],
)  # fmt: skip
def test_f40_misspelt_commands_and_options_are_named_with_the_nearest(arguments, prog, meant, capsys):
    try:
        status = cli.main(arguments)
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr().err
    assert status == 2 and f"did you mean `{meant}`?" in said and f"\n{prog}: " in f"\n{said}"


def test_f40_arguments_of_programs_are_theirs(tmp_path):
    (tmp_path / "program.py").write_text("import sys\nprint(sys.argv[1:])\n")
    assert command("run", tmp_path / "program.py", "--quik", "hlep").stdout == "['--quik', 'hlep']\n"


PROGRAM = "import sys, numba\n@numba.njit\ndef f(x): return x + 1\nprint(f(41), sys.argv, __name__)\n"


def test_f18_run_of_a_module(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "tool.py").write_text(PROGRAM)
    done = command("run", "-m", "pkg.tool", "a", "-c", "--b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"42 [{str(tmp_path / 'pkg' / 'tool.py')!r}, 'a', '-c', '--b'] __main__\n"
    missing = command("run", "-m", "pkg.nothing", cwd=tmp_path)
    assert (missing.returncode, missing.stderr) == (2, "lancehead run: there is no module pkg.nothing\n")


def test_f18_run_of_a_text_and_of_the_standard_input(tmp_path):
    done = command("run", "-c", PROGRAM, "a", "-m", "b")
    assert (done.returncode, done.stdout) == (0, "42 ['-c', 'a', '-m', 'b'] __main__\n"), done.stderr
    done = command("run", "-", "a", "--b", given=PROGRAM)
    assert (done.returncode, done.stdout) == (0, "42 ['-', 'a', '--b'] __main__\n"), done.stderr


def test_f18_run_of_nothing_says_what_may_be_run():
    done = command("run")
    assert done.returncode == 2 and "-m MODULE" in done.stderr and "standard input" in done.stderr


@pytest.mark.parametrize("how", ["script", "module", "text", "stdin"])
def test_f18_tracebacks_begin_in_the_program(tmp_path, how):
    text = "def g():\n    1 / 0\ng()\n"
    (tmp_path / "program.py").write_text(text)
    arguments = {"script": ["program.py"], "module": ["-m", "program"], "text": ["-c", text], "stdin": ["-"]}[how]
    done = command("run", *arguments, cwd=tmp_path, given=text)
    lines = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert done.returncode == 1 and done.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert [line.split(", ", 1)[1] for line in lines] == ["line 3, in <module>", "line 2, in g"]


def test_f18_run_serves_numba_once(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    with warnings.catch_warnings():
        serve.install()
        serve.install()
        assert sum(isinstance(finder, serve.NumbaFinder) for finder in sys.meta_path) == 1


@pytest.mark.parametrize("action", ["ls", "info", "clear", "verify"])
def test_f18_places_that_do_not_exist_are_errors(action, tmp_path):
    done = command("cache", action, tmp_path / "nothing")
    assert (done.returncode, done.stderr) == (2, f"lancehead cache {action}: there is no {tmp_path / 'nothing'}\n")


# `lancehead help ID`.


def test_help_prints_the_page_of_a_diagnostic():
    page = (ROOT / "docs/diagnostics/read-only.md").read_text(encoding="utf-8")
    for name in ("read-only", "error[read-only]", "[read-only]"):
        done = command("help", name)
        assert (done.returncode, done.stdout) == (0, page)


def test_help_suggests_and_lists():
    done = command("help", "read-onyl")
    assert done.returncode == 2 and "did you mean `read-only`?" in done.stderr
    listed = command("help", COLUMNS="80")
    assert listed.returncode == 0 and max(map(len, listed.stdout.splitlines())) <= 80
    ids = {p.stem for p in (ROOT / "docs/diagnostics").glob("*.md")} - {"README"}
    assert ids == {line.split()[0] for line in listed.stdout.splitlines()[2:] if not line.startswith(" ")}
    assert command("help", "cache").stdout == command("cache", "--help").stdout


def test_help_has_its_pages_where_lancehead_is_installed():
    """A build puts them into the package; in a tree that was not built, they are those of the manual."""
    folder = pages.folder()
    names = {p.name for p in (ROOT / "docs/diagnostics").glob("*.md")}
    assert {p.name for p in folder.glob("*.md")} == names
    is_installed = "site-packages" in lancehead.__file__
    assert not is_installed or folder.is_relative_to(Path(lancehead.__file__).parent)
    assert 'path = "python/lancehead/_pages/*.md"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_f13_every_way_to_a_wheel_copies_the_pages_first(tmp_path):
    pack = (ROOT / "tools/pack.sh").read_text(encoding="utf-8")
    assert pack.index("\ntools/pages.sh\n") < pack.index("maturin")
    for path in ("Makefile", "tools/wheels.sh", "tools/gpu_wheel.sh"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert "tools/pack.sh" in text and "maturin build" not in text
    # A page of an earlier build, which is gone by now, goes from the package, too.
    shutil.copytree(ROOT / "docs/diagnostics", tmp_path / "docs/diagnostics")
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/pages.sh", tmp_path / "tools")
    copied = tmp_path / "python/lancehead/_pages"
    copied.mkdir(parents=True)
    (copied / "gone.md").touch()
    subprocess.run([tmp_path / "tools/pages.sh"], check=True, timeout=60)
    assert not filecmp.dircmp(ROOT / "docs/diagnostics", copied).diff_files
    assert {p.name for p in copied.iterdir()} == {p.name for p in (ROOT / "docs/diagnostics").glob("*.md")}
