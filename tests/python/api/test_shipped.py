"""The wheel as it is shipped: it has all that users need, and nothing by accident."""

from __future__ import annotations

import email.parser
import fnmatch
import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
INFO = "lancehead-*.dist-info"

#: Patterns of names in the wheel; each must be met by a name. A star goes past slashes.
ALLOWED = (
    "lancehead/*.py",
    "lancehead/_core.pyi",
    "lancehead/_core.*.so",
    "lancehead/py.typed",
    # Tables that `make build` has written, and the run-time library for the linker.
    "lancehead/library.typed",
    "lancehead/library.x86-64-v3",
    "lancehead/library.x86-64-v4",
    "lancehead/liblancehead.a",
    "lancehead/_command/ahead.c",
    # The pages of `lancehead help`, which tools/pages.sh copies.
    "lancehead/_pages/*.md",
    # Read when Python starts: `import numba` is served where a variable asks for it.
    "lancehead_by_variable.pth",
    f"{INFO}/METADATA",
    f"{INFO}/WHEEL",
    f"{INFO}/RECORD",
    f"{INFO}/entry_points.txt",
    f"{INFO}/licenses/LICENSE-MIT",
    f"{INFO}/licenses/LICENSE-APACHE",
)
#: Files that pip adds to an installation, where there is no wheel to look into.
OPTIONAL = (f"{INFO}/INSTALLER", f"{INFO}/REQUESTED", f"{INFO}/direct_url.json")


def wheel() -> Path | None:
    """The wheel that `make build` made for this version of Python, if it is there."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    found = sorted((ROOT / "target" / "wheels").glob(f"lancehead-*-{tag}-*.whl"), key=lambda p: p.stat().st_mtime)
    return found[-1] if found else None


@pytest.fixture(scope="module")
def shipped() -> dict[str, str]:
    """Names of the files of the wheel, or of the installed distribution, with the text of some."""
    texts = ("METADATA", "py.typed", "WHEEL", "LICENSE-MIT", "LICENSE-APACHE", ".pyi")
    if (path := wheel()) is not None:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name).decode() if name.endswith(texts) else "" for name in archive.namelist()}
    files = importlib.metadata.files("lancehead") or []
    kept = [f for f in files if "__pycache__" not in f.parts and ".." not in f.parts]
    return {str(f): f.read_text() if str(f).endswith(texts) else "" for f in kept}


def one(shipped: dict[str, str], pattern: str) -> str:
    """Text of the one file that a pattern stands for."""
    (name,) = fnmatch.filter(shipped, pattern)
    return shipped[name]


def test_f2_the_wheel_has_what_it_needs_and_nothing_else(shipped):
    missing = [pattern for pattern in ALLOWED if not fnmatch.filter(shipped, pattern)]
    unexpected = [name for name in shipped if not any(fnmatch.fnmatch(name, p) for p in (*ALLOWED, *OPTIONAL))]
    assert (missing, unexpected) == ([], [])


def test_f2_the_wheel_has_one_extension_module(shipped):
    # One of another version of Python, or of another build, would be in the tree beside it.
    assert len(fnmatch.filter(shipped, "*.so")) == 1


def test_f2_every_module_in_git_is_in_the_wheel_and_no_other(shipped):
    """`.gitignore` cannot leave a file out, and a file that is not committed cannot come in."""
    listed = subprocess.run(["git", "ls-files", "-z", "python"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout of git")
    # READMEs of packages are for those who change them.
    names = [name for name in listed.stdout.split("\0") if name and not name.endswith("/README.md")]
    tracked = {name.removeprefix("python/") for name in names}
    made = {"_core", "library.typed", "library.x86-64-", "liblancehead.a", "_pages/"}
    in_wheel = {name for name in shipped if not name.startswith("lancehead-") and not any(m in name for m in made)}
    assert {n for n in tracked if "_core" not in n} == in_wheel


def test_f2_no_pattern_of_gitignore_matches_a_file_of_the_package():
    # maturin asks it, for files that git has, too: this is how `py.typed` was lost.
    asked = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard", "python"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout of git")
    assert listed.stdout == ""


def test_metadata_say_what_it_runs_on_and_under_which_licences(shipped):
    metadata = email.parser.Parser().parsestr(one(shipped, f"{INFO}/METADATA"))
    classifiers = metadata.get_all("Classifier", [])
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f"Programming Language :: Python :: {version}" in classifiers
        decoder = ROOT / "crates" / "lh-frontend" / "src" / "decode" / f"cpython{version.replace('.', '')}.rs"
        assert decoder.exists()
    assert "Typing :: Typed" in classifiers
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert sorted(metadata.get_all("License-File", [])) == ["LICENSE-APACHE", "LICENSE-MIT"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert [r for r in metadata.get_all("Requires-Dist", []) if "extra" not in r] == ["numpy>=1.26"]
    assert "compiler" in metadata["Keywords"]


def test_licences_are_those_of_the_repository(shipped):
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert one(shipped, f"{INFO}/licenses/{name}") == (ROOT / name).read_text()


def test_f13_pages_of_diagnostics_are_those_of_the_manual(shipped):
    names = {Path(name).name for name in fnmatch.filter(shipped, "lancehead/_pages/*")}
    assert names == {page.name for page in (ROOT / "docs" / "diagnostics").glob("*.md")}


def test_stubs_are_those_of_the_repository(shipped):
    stubs = fnmatch.filter(shipped, "*.pyi")
    assert stubs
    for name in stubs:
        assert shipped[name] == (ROOT / "python" / name).read_text()
