#!/usr/bin/env python3
"""Runs the test suites of packages that are built on Numba, unchanged, with lancehead and with Numba.

    clients.py [--numba] [--python PYTHON] [--work FOLDER] [PACKAGE ...]

Their source archives come from PyPI, with pinned versions, and what they need is installed into a folder beside, so
that PYTHON, which has NumPy, SciPy, pandas, scikit-learn, Numba and the packages themselves, stays as it is. The output
is the table of docs/packages.md: tests passed, failed and skipped, seconds of CPU time and the most memory.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RUN = "import sys, pytest\nsys.exit(pytest.main(sys.argv[1:]))\n"
#: Packages that the suites need besides the tested ones.
TOOLS = ("pytest<9", "pytest-benchmark", "pytest-mock", "hypothesis", "bottleneck", "polars", "dask")


class Client(NamedTuple):
    """A package whose suite is run."""

    version: str
    #: Its tests, in the archive.
    tests: tuple[str, ...]
    #: Tests that are left out: they need the network, a GPU or hours.
    without: tuple[str, ...] = ()
    #: Further settings, for those that read beyond the end of arrays.
    settings: tuple[tuple[str, str], ...] = ()
    #: Files that a build makes, and what the tests need of them.
    versions: tuple[tuple[str, str], ...] = ()


CLIENTS = {
    "resampy": Client("0.4.3", ("tests",)),
    "tslearn": Client("0.10.0", ("tests/test_metrics.py", "tests/test_variablelength.py", "tests/test_barycenters.py")),
    "quantecon": Client("0.11.4", ("quantecon",)),
    "numbagg": Client("0.9.6", ("numbagg/test",), ("numbagg/test/test_benchmark.py",)),
    "numba-stats": Client("1.14.0", ("tests",)),
    # Ray is a cluster's.
    "stumpy": Client("1.14.1", ("tests",), ("tests/test_ray.py",), (("LANCEHEAD_CUDA_DEVICE", "cpu"),)),
    "interpolation": Client("2.2.7", ("interpolation",), (), (("LANCEHEAD_UNCHECKED", "interpolation"),)),
    "pyts": Client("0.14.1", ("pyts",)),
    "librosa": Client("0.11.0", ("tests/test_util.py", "tests/test_sequence.py")),
    "sparse": Client("0.19.3", ("sparse/numba_backend",)),
    "pynndescent": Client("0.7.0", ("pynndescent/tests",)),
    # The sources have no extension modules, so that all models run by Numba.
    "arch": Client(
        "8.0.0",
        (
            "arch/tests/univariate/test_recursions.py",
            "arch/tests/univariate/test_volatility.py",
            "arch/tests/bootstrap",
            "arch/tests/covariance",
        ),
        versions=(("arch/_version.py", "version = __version__ = '8.0.0'\nversion_tuple = (8, 0, 0)\n"),),
    ),
    "numba-progress": Client("1.2.0", ("tests",)),
    "py-pde": Client("0.56.1", ("tests",)),
    "datashader": Client("0.19.1", ("datashader/tests",), ("datashader/tests/benchmarks",)),
}


#: Prints the address of the index that pip uses by itself.
INDEX = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"


def downloaded(name: str, version: str, folder: Path, python: str) -> bool:
    """Takes an archive from the index itself: pip builds some packages first, to know what they need."""
    said = subprocess.run([python, "-c", INDEX], capture_output=True, text=True, check=True).stdout.strip()
    index = os.environ.get("PIP_INDEX_URL", said).rstrip("/")
    page = urllib.request.Request(f"{index}/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    try:
        with urllib.request.urlopen(page) as answer:
            files = json.load(answer)["files"]
    except (OSError, ValueError):
        return False
    wanted = re.compile(rf"{name.replace('-', '[-_]')}-{re.escape(version)}\.tar\.gz")
    for file in files:
        if wanted.fullmatch(file["filename"]):
            with urllib.request.urlopen(urllib.parse.urljoin(page.full_url, file["url"])) as answer:
                (folder / file["filename"]).write_bytes(answer.read())
            return True
    return False


def fetched(name: str, work: Path, python: str) -> Path | None:
    """The folder with the sources of a package; `None` if there is no archive."""
    client, sources = CLIENTS[name], work / "sources"
    pattern = f"{name.replace('-', '[-_]')}-{client.version}"
    if not (found := [p for p in sources.glob(f"{pattern}*") if p.is_dir()]):
        wanted = f"{name}=={client.version}"
        command = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", sources, wanted]
        sources.mkdir(parents=True, exist_ok=True)
        if not downloaded(name, client.version, sources, python) and subprocess.run(command, check=False).returncode:
            return None
        for archive in sources.glob(f"{pattern}*.tar.gz"):
            with tarfile.open(archive) as packed:
                packed.extractall(sources, filter="data")
        found = [p for p in sources.glob(f"{pattern}*") if p.is_dir()]
    for path, content in client.versions if found else ():
        (found[0] / path).write_text(content)
    return found[0] if found else None


def measured(name: str, folder: Path, work: Path, python: str, with_numba: bool) -> str:
    """A row of the table."""
    client = CLIENTS[name]
    (work / "run_pytest.py").write_text(RUN)
    site = work / "site"
    cache = work / ("cache-numba" if with_numba else "cache")
    paths = [str(site)] if with_numba else [str(ROOT / "python"), str(site)]
    variables = {"PYTHONPATH": os.pathsep.join(paths), "NUMBA_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1"}
    runner = [python] if with_numba else [python, "-m", "lancehead", "run"]
    ignored = [f"--ignore={folder / path}" for path in client.without]
    command = [*runner, work / "run_pytest.py", "-q", "-o", "addopts=", "-p", "no:cacheprovider", *ignored]
    command += [folder / path for path in client.tests if (folder / path).exists()]
    environment = {**os.environ, **variables, **dict(client.settings)}
    log = work / f"{name}-{'numba' if with_numba else 'lancehead'}.log"
    with log.open("w") as said:
        process = subprocess.Popen(list(map(str, command)), env=environment, cwd=folder, stdout=said, stderr=said)
        # The module `resource` only reports the maximum over all children so far.
        _, process.returncode, used = os.wait4(process.pid, 0)
    last = next((line for line in reversed(log.read_text().splitlines()) if " in " in line and "s" in line), "")
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|error)", last)}
    seconds = used.ru_utime + used.ru_stime
    failed = counts.get("failed", 0) + counts.get("error", 0)
    which = "Numba" if with_numba else "lancehead"
    return (
        f"| {name} {client.version} | {which} | {counts.get('passed', 0)} | {failed} | {counts.get('skipped', 0)} | "
        f"{seconds:.0f} s | {used.ru_maxrss // 1024} MB |"
    )


def main() -> None:
    """Runs the suites that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numba", action="store_true", help="with Numba, too")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--work", type=Path, default=ROOT / "target/clients")
    parser.add_argument("packages", nargs="*", default=list(CLIENTS))
    given = parser.parse_args()
    site = given.work / "site"
    if not (site / "pytest").is_dir():
        site.mkdir(parents=True, exist_ok=True)
        subprocess.run([given.python, "-m", "pip", "install", "-q", "--target", site, *TOOLS], check=True)
    print("| package | with | passed | failed | skipped | CPU | memory |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in given.packages:
        folder = fetched(name, given.work, given.python)
        if folder is None:
            print(f"| {name} {CLIENTS[name].version} | | | | | | no source archive |")
            continue
        for with_numba in (False, True)[: 1 + given.numba]:
            print(measured(name, folder, given.work, given.python, with_numba), flush=True)


if __name__ == "__main__":
    main()
