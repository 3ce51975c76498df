"""Figures of benchmarks: results have one form, and pages say what they say."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RESULTS = sorted((ROOT / "benches/results").glob("*.json"))
SLOWING = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE"}
FACTS = {"benchmark", "command", "source", "processor", "cores", "threads", "load", "blas", "versions", "commit"}


def module(name):
    """A file of `benches`."""
    spec = importlib.util.spec_from_file_location(f"benches_{name}", ROOT / f"benches/{name}.py")
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def results(tmp_path, monkeypatch):
    """`tables.py`, which finds one result that `figures.py` has written."""
    # Importing `figures` unsets these, which other tests may have.
    for name in SLOWING:
        monkeypatch.delenv(name, raising=False)
    figures, tables = module("figures"), module("tables")
    result = figures.Result("some", "benches/run.sh some", 2)
    table = result.table("times", "case", ("here", "us", 2), "peer")
    table.add("`a | b`", 1.5, 1234)
    table.add("c", float("nan"), 0)
    result.summary["mean"] = 0.48
    result.write(tmp_path / "some.json")
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    return tables


def test_pages_have_what_results_say():
    done = subprocess.run(
        [sys.executable, ROOT / "benches/tables.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_have_one_form(path):
    data = json.loads(path.read_text())
    assert FACTS | {"summary", "tables"} <= set(data) <= FACTS | {"summary", "tables", "notes"}
    for table in data["tables"].values():
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}
        assert all(set(column) == {"name", "unit", "digits"} for column in table["columns"])


def test_tables_and_figures_replace_what_stands_between_marks(results):
    page = "x <!-- figure some mean -->old<!-- end -->\n\n<!-- table some times -->\nold\n<!-- end -->\n"
    assert results.renewed(page) == (
        "x <!-- figure some mean -->0.48<!-- end -->\n\n<!-- table some times -->\n"
        "| case | here, µs | peer |\n| --- | ---: | ---: |\n| `a \\| b` | 1.50 | 1,234 |\n| c | | 0 |\n<!-- end -->\n"
    )
    assert results.table("some", "times", "peer; case").startswith("| peer | case |\n")


@pytest.mark.parametrize(
    "mark", ["figure some lacking", "figure lacking mean", "table some lacking", "table some times x"]
)
def test_marks_without_a_result_are_refused(results, mark):
    with pytest.raises(results.Wrong):
        results.renewed(f"<!-- {mark} --><!-- end -->")


def test_variables_that_slow_the_peer_are_unset(monkeypatch):
    for name in SLOWING:
        monkeypatch.setenv(name, "1")
    module("figures")
    assert not SLOWING & set(os.environ)
