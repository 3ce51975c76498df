"""The report of `f.explain()`: what it says of real functions, and its two forms."""

import io
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from lancehead import njit, prange, types
from lancehead.explain import REMEDIES, Function, Line, Note, Report, Section

SCALAR = np.arange(64.0)


def notes(f, text, **which):
    """Remarks under the first line that contains a text, in the report's first section."""
    lines = [line for function in f.explain(**which).sections[0].functions for line in function.lines]
    found = next(line for line in lines if text in line.text)
    return [note.text for note in found.notes]


def test_a_loop_that_is_vectorised_with_its_checks_before_it():
    @njit
    def saxpy(a, x, y):
        for i in range(x.shape[0]):
            y[i] += a * x[i]

    saxpy(2.0, SCALAR, np.zeros(64))
    assert any(re.fullmatch(r"vectorised: .*\d+ elements at a time", n) for n in notes(saxpy, "for i"))
    assert notes(saxpy, "y[i] +=") == ["index checks: made once, before the loop"]


def test_a_float_sum_keeps_its_order_unless_told_otherwise():
    def total(x):
        s = 0.0
        for v in x:
            s += v
        return s

    strict, free = njit(total), njit(total, fastmath={"reassoc"})
    strict(SCALAR), free(SCALAR)
    assert notes(strict, "for v") == [
        "v: float64",
        "not vectorised: a float sum must keep its order; fastmath={'reassoc'} lifts that",
    ]
    assert notes(strict, "s = 0.0") == ["s: float64"]
    assert notes(free, "for v")[1].startswith("vectorised")


def test_variables_of_loops_have_types():
    @njit
    def mixed(a, n):
        s = 0.0
        for i in range(n):
            for p, (q, x) in zip(a, enumerate(a)):
                s += i * p + q * x
        doubled = [k * 2 for k in range(n)]
        for v in (1, 2.5):
            s += v
        return s, doubled

    mixed(SCALAR, 3)
    types_at = {
        text: [n for n in notes(mixed, text) if ": " in n and "vectorised" not in n]
        for text in ("for i", "for p", "[k", "for v")
    }
    assert types_at["for i"] == ["i: int64"] and types_at["for p"] == ["p: float64", "q: int64", "x: float64"]
    assert set(types_at["[k"]) == {"doubled: list(int64)", "k: int64"}
    assert types_at["for v"] == ["v: int64", "v: float64"]


def test_loops_that_cannot_be_vectorised_say_why():
    @njit
    def prefix(x):
        for i in range(1, len(x)):
            x[i] = x[i - 1] * 0.5 + x[i]

    @njit
    def find(x, v):
        for i in range(len(x)):
            if x[i] == v:
                return i
        return -1

    @njit
    def halve(n):
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    prefix(SCALAR.copy()), find(SCALAR, 3.0), halve(7)
    assert notes(prefix, "for i")[1:] == ["not vectorised: an iteration reads what an earlier one wrote"]
    assert notes(find, "for i")[1:] == ["not vectorised: it can be left from its middle"]
    assert notes(halve, "while") == ["not vectorised: it is not known beforehand how often it runs"]


def test_expressions_over_arrays_are_one_loop():
    @njit
    def norm(a, b, c):
        d = a * b + c
        return np.sqrt(d * d + 1.0)

    norm(SCALAR, SCALAR, SCALAR)
    lines = {line.text.strip(): line.number for line in norm.explain().sections[0].functions[0].lines}
    first, last = lines["d = a * b + c"], lines["return np.sqrt(d * d + 1.0)"]
    assert notes(norm, "d = a")[1:] == [f"fused: computed in the loop of line {last}"]
    fused, vectorised, allocates = notes(norm, "return")
    assert fused == f"fused: 5 operations in one loop, with those of line {first}"
    assert vectorised.startswith("vectorised") and allocates == "allocates"


def test_no_allocation_where_the_result_has_a_place():
    @njit
    def into(out, a, b):
        out[:] = a + b * 2.0

    into(np.zeros(64), SCALAR, SCALAR)
    said = notes(into, "out[:]")
    assert said[0] == "fused: 2 operations in one loop" and "allocates" not in said


def test_a_check_that_depends_on_data_remains():
    @njit
    def gather(x, index):
        s = 0.0
        for i in range(len(index)):
            s += x[index[i]]
        return s

    gather(SCALAR, np.arange(4))
    assert "1 index check remains" in notes(gather, "s += x")
    assert notes(gather, "for i")[1:] == ["not vectorised: an index check in it can raise"]
    unchecked = njit(gather.py_func, boundscheck=False)
    unchecked(SCALAR, np.arange(4))
    assert not any("check" in n for n in notes(unchecked, "s += x"))


def test_allocations_and_functions_that_are_called():
    @njit
    def scaled(v, k):
        r = np.empty(len(v))
        for i in range(len(v)):
            r[i] = v[i] * k
        return r

    @njit
    def above(v, limit):
        out = []
        for x in scaled(v, 2.0):
            if x > limit:
                out.append(x)
        return out

    above(SCALAR, 3.0)
    section = above.explain().sections[0]
    assert [f.name.rpartition(".")[2] for f in section.functions] == ["above", "scaled"]
    assert "allocates" in notes(above, "out = []") and "allocates" in notes(above, "in scaled(")
    assert any(n.startswith("vectorised") for n in notes(above, "range(len(v))"))
    assert section.functions[1].headline.endswith("(v: array(float64, 1d, C), k: float64) -> array(float64, 1d, C)")


def test_the_library_function_that_is_vectorised_is_named():
    @njit
    def highest(x):
        return x.max()

    highest(SCALAR)
    assert any(re.match(r"max: vectorised: ", n) for n in notes(highest, "return"))


def test_inner_functions_are_shown_where_they_stand():
    @njit
    def doubled(x):
        def twice(v):
            w = v * 2.0
            return w

        return twice(x)

    doubled(3)
    assert len(doubled.explain().sections[0].functions) == 1
    assert notes(doubled, "w = v") == ["w: float64"] and notes(doubled, "def twice") == ["twice: function"]


@njit
def shown(a, b):
    c = a + b  # the sum of "a" & <b>
    return c * 2


def test_forms(tmp_path, capsys):
    assert "not been compiled" in str(njit(lambda: 1).explain())
    shown(1, 2), shown(SCALAR, 0.5)
    report = shown.explain()
    assert len(report.sections) == 2 and len(shown.explain(signature=(types.int64, types.int64)).sections) == 1
    with pytest.raises(KeyError):
        shown.explain(signature=(types.complex64,))
    text, page = str(report), report._repr_html_()
    assert repr(report) == text.rstrip() and all(len(line) <= 100 for line in text.splitlines())
    assert "shown(a: int64, b: int64) -> int64" in text and "# c: int64" in text
    assert "machine code" in text and " ms" in text
    assert text.count("# c: ") == 2
    # Self-contained, and the source is escaped.
    assert "<script" not in page and "http" not in page and page.count("<style>") == 1
    assert "&amp; &lt;b&gt;" in page and 'title="c: int64"' in page
    assert "prefers-color-scheme: dark" in page

    shown.explain(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    shown.explain(file=str(tmp_path / "report.txt"))
    assert "shown(a: int64" in (tmp_path / "report.txt").read_text("utf-8")
    out = io.StringIO()
    shown.explain(out)
    assert out.getvalue().startswith("shown(a: int64, b: int64)")
    assert capsys.readouterr().out == ""


def test_types_of_variables_are_written():
    out = io.StringIO()
    shown.inspect_types(out)
    assert "# c: " in out.getvalue() and "vectorised" not in out.getvalue()


def innermost(f, text):
    """Remarks about what became of the loop that begins at a line."""
    kinds = ("vectorised", "not vectorised", "unrolled", "one call of")
    return [n for n in notes(f, text) if n.startswith(kinds)]


def test_loops_in_the_bodies_of_parallel_loops_have_remarks():
    @njit(parallel=True)
    def f(a, b, out):
        total = 0.0
        for i in prange(a.shape[0]):
            t = 0.0
            for j in range(a.shape[1]):
                t += a[i, j] * b[j]
            for k in range(a.shape[1]):
                out[i, k] = a[i, k] * 2 + b[k]
            total += t
        return total

    @njit(parallel=True)
    def scale(a):
        for i in prange(len(a)):
            a[i] = a[i] * 2 + 1

    a = np.ones((70, 80))
    f(a, np.ones(80), a.copy())
    assert innermost(f, "for j") == ["not vectorised: a float sum must keep its order; fastmath={'reassoc'} lifts that"]
    assert len(innermost(f, "for k")) == 1 and innermost(f, "for k")[0].startswith("vectorised")
    # Of the loop around them nothing is said, nor of what adds up the sums of its blocks.
    assert innermost(f, "for i") == []
    scale(SCALAR.copy())
    assert [n.split(":")[0] for n in innermost(scale, "for i")] == ["vectorised"]


def test_parallel_array_expressions_and_calls_in_bodies_have_remarks():
    @njit(parallel=True)
    def expression(a, b):
        return a * b + 2

    @njit(parallel=True)
    def rows(a, out):
        for i in prange(a.shape[0]):
            out[i] = a[i].max()
            row = a[i] * 2
            out[i] += row[0]

    a = np.ones((70, 80))
    expression(SCALAR, SCALAR)
    rows(a, np.ones(70))
    assert [n.split(":")[0] for n in innermost(expression, "return")] == ["vectorised"]
    assert any(n.startswith("max: vectorised") for n in notes(rows, "max()"))
    assert "allocates in a loop" in notes(rows, "row = ")


def test_every_innermost_loop_has_a_remark():
    @njit
    def f(a, b, n):
        for i in range(3):
            b[i] = a[i] + 1.5
        for i in range(n):
            for j in range(4):
                b[i] += a[j] * i
        for i in range(n):
            b[i] = 0
        for i in range(n):
            b[i] = a[i]
        for x in (1, 2.5):
            b[0] += x
        return b

    f(SCALAR, np.zeros(64), 10)
    assert innermost(f, "for i in range(3)") == ["unrolled: no loop is left"]
    assert innermost(f, "for j in range(4)")
    lines = [line for line in f.explain().sections[0].functions[0].lines if "for i in range(n)" in line.text]
    said = [[n.text for n in line.notes if n.kind != "type"] for line in lines]
    assert said[1] == ["one call of memset instead of a loop"]
    assert [n.split(":")[0] for n in said[2]] == ["vectorised"]


def test_allocations_in_loops_are_told_from_others():
    @njit
    def f(a, n):
        first = np.zeros(n)
        texts, rows = [], [a]
        for i in range(n):
            small = np.zeros(3)
            first[i] = small[0] + a[0]
            texts.append(str(i))
        squares = [np.ones(k) for k in range(n)]
        doubled = first * 2.0
        last = doubled + a[:n]
        while last[0] > (a + 1.0).sum() * 0.0:
            rows.append(last - 1.0)
            last[:] = rows[-1]
        return last, texts, squares, rows

    f(SCALAR, 3)
    repeated = ["small = np.zeros", "texts.append", "squares = ", "rows.append"]
    for line in ["first = np", "texts, rows = ", *repeated, "last = doubled"]:
        said = [n for n in notes(f, line) if n.startswith("allocates")]
        assert said and any(n.startswith("allocates in a loop") for n in said) == (line in repeated), (line, said)


# Remedies.


def test_remedies_are_those_of_the_manual():
    page = Path(__file__).parents[3] / "docs/explain.md"
    rows = [row.strip("| ").split(" | ") for row in page.read_text("utf-8").splitlines() if row.startswith("| ")]
    for part, remedy in REMEDIES.items():
        assert any(part in row[0] and remedy == row[-1].replace("\\|", "|") for row in rows), part


def test_remedies_are_told_once_with_their_lines():
    @njit
    def f(a, b):
        s = 0.0
        for x in a:
            s += x
        for y in b:
            s += y
        return s

    f(SCALAR, SCALAR)
    first = f.py_func.__code__.co_firstlineno
    text, page = " ".join(str(f.explain()).split()), f.explain()._repr_html_()
    lines = f"lines {first + 3}, {first + 5}"
    assert text.count("the result may differ") == page.count("the result may differ") == 1
    assert f"{lines}, not vectorised: a float sum must keep its order: `fastmath={{'reassoc'}}`" in text
    assert f"{lines}: <code>fastmath={{'reassoc'}}</code>" in page


def test_a_function_without_faults_has_no_remedies():
    f = njit(lambda x: x + 1)
    f(1)
    assert "Remedies" not in str(f.explain()) + f.explain()._repr_html_()


# The page in a browser.

LONG = "out[i, k] = " + " + ".join(f"positions[i, k + {n}]" for n in range(4))
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
MEASURE = """<script>addEventListener("load", () => {
  const right = (e) => Math.ceil(e.getBoundingClientRect().right);
  const parts = [...document.querySelectorAll("pre, .notes span, .remedies li, header code")];
  document.title = [innerWidth, document.documentElement.scrollWidth, Math.max(...parts.map(right))].join(" ");
})</script>"""


@pytest.mark.skipif(not CHROMIUM, reason="there is no browser")
@pytest.mark.parametrize("width", [390, 1200])
def test_f38_nothing_stands_outside_of_the_window(width, tmp_path):
    said = [
        Note("type", "a_long_name_of_a_variable: array(float64, 2d, C)"),
        Note("scalar", "not vectorised: " + "why " * 30),
    ]
    lines = [Line(9, "for k in range(n):", said), Line(10, f"            {LONG:<108}", said), Line(11, "x" * 120, said)]
    assert max(len(line.text) for line in lines) == 120
    function = Function("f", [("positions", "array(float64, 2d, C)")] * 5, "none", "f.py", lines)
    (tmp_path / "f.html").write_text(Report("f", [Section([function], 1, 9, [("types", 0.1)])])._page() + MEASURE)
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900", "--dump-dom"]
    done = subprocess.run([CHROMIUM, *options, tmp_path / "f.html"], capture_output=True, text=True, timeout=60)
    window, page, right = map(int, re.search("<title>(.*?)</title>", done.stdout)[1].split())
    assert window == width and page <= width and right <= width
