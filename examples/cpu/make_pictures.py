"""Draws the pictures of the programs beside this file: `python examples/cpu/make_pictures.py FOLDER [PROGRAM ...]`."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: The programs, in the order in which the gallery shows them.
PROGRAMS = (
    "photo_filter",
    "lorenz",
    "random_walks",
    "kmeans",
    "game_of_life",
    "heat_map",
    "levenshtein",
    "histogram",
    "tone_curve",
    "kalman",
)


def main() -> None:
    """One PNG per program, named after it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="made if it does not exist")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"one or more of: {', '.join(PROGRAMS)}")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.programs) - set(PROGRAMS)):
        parser.error(f"no program is named {', '.join(unknown)}; there are: {', '.join(PROGRAMS)}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(HERE))
    for program in arguments.programs or PROGRAMS:
        importlib.import_module(program).draw(arguments.folder / f"{program}.png")


if __name__ == "__main__":
    main()
