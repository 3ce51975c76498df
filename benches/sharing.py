"""Objects that programs share through the store, and what a program still compiles when others have run.

    python benches/sharing.py [--folders cpu,gradients,programs] [--json FILE]

Each program of `examples/` runs in a process of its own: by itself (an empty store), after all others (a store that has
what they compiled), and again (its own store). The table has the modules that LLVM compiled each time, and those whose
objects came with lancehead. `LANCEHEAD_PASSES=-parts` measures the same without units of library functions.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import figures

EXAMPLES = Path(__file__).parents[1] / "examples"
#: It runs a program and prints the store's counts: found, came with lancehead, compiled.
RUN = """
import json, os, runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    from lancehead import _core
    print("\\n" + json.dumps(_core.store_counts()))
"""


def counts(program: Path, store: Path) -> list[int]:
    """The modules that a program found in the store, took from the wheel and compiled; none if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        names = {"LANCEHEAD_STORE": str(store), "LANCEHEAD_CACHE_DIR": folder, "MPLBACKEND": "agg"}
        command = [sys.executable, "-c", RUN, str(program)]
        environment = {**os.environ, **names}
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{program.name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return []
    return json.loads(done.stdout.splitlines()[-1])


def after_others(program: Path, stores: dict[Path, Path], folder: Path) -> list[int]:
    """The same with a store that has what all other programs compiled."""
    for other, store in stores.items():
        if other != program:
            shutil.copytree(store, folder, dirs_exist_ok=True)
    return counts(program, folder)


def main() -> None:
    """Prints a line per program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", default="cpu,gradients,programs,sparse,xp")
    figures.add_json(parser)
    given = parser.parse_args()
    programs = [p for f in given.folders.split(",") for p in sorted((EXAMPLES / f).glob("*.py"))]
    result = figures.Result("sharing", "python benches/sharing.py", 1)
    heads = ("by itself", "after the others", "again", "from the wheel")
    table = result.table("sharing", "program", *((name, "modules", 0) for name in heads))
    with tempfile.TemporaryDirectory() as root:
        stores = {program: Path(root, f"{n}") for n, program in enumerate(programs)}
        alone = {program: counts(program, store) for program, store in stores.items()}
        stores = {program: store for program, store in stores.items() if store.is_dir()}
        for n, program in enumerate(p for p in stores if alone[p]):
            after, again = after_others(program, stores, Path(root, f"after{n}")), counts(program, stores[program])
            table.add(program.stem, alone[program][2], after[2], again[2], alone[program][1])
    for row in table.rows:
        print(*row, sep="\t")
    result.write(given.json)


if __name__ == "__main__":
    main()
