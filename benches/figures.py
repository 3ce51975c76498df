"""Figures of benchmarks as data: each program writes one form of JSON, from which `tables.py` writes pages.

Importing this module unsets variables that distort what is measured. By two of them OpenBLAS takes kernels or block
sizes of another processor: NumPy's products of matrices take 1.8 times as long on a processor with AVX-512 if they are
those of Haswell. OpenBLAS reads them when NumPy is imported, so programs import this module first. By the third one,
Python compiles modules anew in each process, whose start would be measured with that.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
for name in SLOWING:
    os.environ.pop(name, None)

HERE = Path(__file__).parent
#: Packages whose versions a result has, where they are installed.
PACKAGES = "lancehead numpy numba numba-cuda scipy networkx dask distributed cupy jax".split()


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, the unit of its numbers and how many decimals a page shows."""

    name: str
    unit: str = ""
    digits: int | None = None


@dataclass
class Table:
    """Rows of texts and numbers; None is an empty cell."""

    columns: list[Column]
    rows: list[list[Any]] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        """Adds a row. NaN is an empty cell."""
        assert len(cells) == len(self.columns), cells
        self.rows.append([None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells])


@dataclass
class Result:
    """The figures of one run of a benchmark."""

    benchmark: str
    command: str
    threads: int
    tables: dict[str, Table] = field(default_factory=dict)
    #: Single figures, such as means, by name.
    summary: dict[str, Any] = field(default_factory=dict)

    def table(self, name: str, *columns: str | tuple[Any, ...]) -> Table:
        """A new table; a column is its name, or name, unit and decimals."""
        made = [Column(c) if isinstance(c, str) else Column(*c) for c in columns]
        self.tables[name] = Table(made)
        return self.tables[name]

    def write(self, path: str | Path | None) -> None:
        """Writes the file, if there is a path."""
        if path is None:
            return
        data = {"benchmark": self.benchmark, "command": self.command, "source": "a run", **ran_on(self.threads)}
        Path(path).write_text(text_of({**data, "summary": self.summary, "tables": plain(self.tables)}))


def plain(tables: dict[str, Table]) -> dict[str, Any]:
    """Tables as JSON has them."""
    return {
        name: {"columns": [vars(column) for column in table.columns], "rows": table.rows}
        for name, table in tables.items()
    }


def text_of(data: dict[str, Any]) -> str:
    """JSON with a line for each row and column, so that differences of two runs can be read."""
    tables = data.pop("tables")
    head = json.dumps(data, indent=1, ensure_ascii=False)[:-2]
    parts = []
    for name, table in tables.items():
        lists = []
        for key in ("columns", "rows"):
            lines = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in table[key])
            lists.append(f'   "{key}": [\n{lines}\n   ]')
        parts.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(lists) + "\n  }")
    data["tables"] = tables
    return f'{head},\n "tables": {{\n' + ",\n".join(parts) + "\n }\n}\n"


def ran_on(threads: int) -> dict[str, Any]:
    """The processor, threads and versions of packages of a run."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "load": round(os.getloadavg()[0], 1),
        "blas": blas(),
        "versions": {"python": platform.python_version(), **versions()},
        "commit": commit(),
    }


def versions() -> dict[str, str]:
    """Versions of the packages that are compared."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The processor's name, with the widest vectors that it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    wide = ", AVX-512" if "avx512f" in facts.get("flags", "").split() else ""
    return f"{facts.get('model name', 'unknown')} (family {facts.get('cpu family')}, model {facts.get('model')}){wide}"


def commit() -> str:
    """The commit of this checkout, with `-dirty` where files differ."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"]
    try:
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def blas() -> str:
    """NumPy's BLAS and the kernel that it has chosen for this processor."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return ""
    built = numpy.show_config("dicts")["Build Dependencies"]["blas"]
    return f"{built['name']} {built['version']}, kernel {kernel_of_blas()}"


def kernel_of_blas() -> str:
    """The kernel that NumPy's BLAS runs in this process, as threadpoolctl knows it."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "unknown without threadpoolctl"
    kernels = [pool.get("architecture", "unknown") for pool in threadpool_info() if "numpy" in pool["filepath"]]
    return kernels[0] if kernels else "unknown"


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option of all benchmarks."""
    parser.add_argument("--json", metavar="FILE", help="also writes the figures, in the form of benches/results")


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean of ratios, to two decimals."""
    logs = [math.log(ratio) for ratio in ratios]
    return round(math.exp(sum(logs) / len(logs)), 2) if logs else math.nan
