"""`lancehead numba`: whether every program of an environment gets lancehead for `import numba`.

Python runs the lines of `.pth` files that begin with `import` when it starts. One file comes with lancehead, and asks
the variable `LANCEHEAD_SERVE_NUMBA`; the other one is there while it is on. Both put a finder in front that does
nothing until somebody imports numba, so that a start takes no longer.
"""

from __future__ import annotations

import sysconfig
from importlib import metadata
from pathlib import Path

#: The line of both files, behind a condition.
LINE = (
    'import os, sys; {condition}sys.meta_path.insert(0, type("LanceheadForNumba", (), {{'
    '"find_spec": staticmethod(lambda name, path=None, target=None: '
    '__import__("lancehead._command.serve", fromlist=["serve"]).first(name) '
    'if name.partition(".")[0] in ("numba", "numba_cuda_mlir") else None), '
    '"find_distributions": staticmethod(lambda context=None: '
    '__import__("lancehead._command.serve", fromlist=["serve"]).distributions(context))}}))\n'
)
BY_VARIABLE = LINE.format(condition='os.environ.get("LANCEHEAD_SERVE_NUMBA") == "1" and ')
ALWAYS = LINE.format(condition="")
_NAME = "lancehead_for_numba.pth"


def place() -> Path:
    """The file that is there while it is on."""
    return Path(sysconfig.get_paths()["purelib"]) / _NAME


def turn(on: bool) -> str:
    """Turns it on or off; says how it is.

    Raises:
        OSError: the file cannot be written or removed.
    """
    if on:
        place().write_text(ALWAYS)
    else:
        place().unlink(missing_ok=True)
    return status()


def status() -> str:
    """Says how it is."""
    folder = place().parent
    if place().exists():
        return f"on: programs of {folder} get lancehead for `import numba`"
    try:
        found = next(d for d in metadata.distributions(path=[str(folder)]) if d.name == "numba").version
    except StopIteration:
        return f"off: {folder} has no Numba; `lancehead numba on` serves it"
    return f"off: programs of {folder} get Numba {found}; `lancehead numba on` serves it"
