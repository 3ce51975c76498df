"""Common to the programs beside this file: their command line, an honest comparison of times, and small pictures."""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

#: Colours in a picture: photographs stay below 60 kB.
COLOURS = 64


def picture_asked_for(about: str) -> Path | None:
    """The file named by `--png`, or None."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw a picture, too (needs matplotlib and pillow)")
    return parser.parse_args().png


def compare(what: str, plain: Callable[[], object], compiled: Callable[[], object], *, rtol: float = 0.0) -> None:
    """Does the same work in plain Python and compiled, and prints both times.

    Plain Python runs once. Compiled code runs once to be compiled, which is not counted, and then five times, of which
    the fastest counts. AssertionError if the results differ by more than `rtol`.
    """
    compiled()
    slow, expected = timed(plain)
    runs = [timed(compiled) for _ in range(5)]
    fast = min(seconds for seconds, _ in runs)
    np.testing.assert_allclose(runs[-1][1], expected, rtol=rtol)
    times = f"plain Python {milliseconds(slow)}, compiled {milliseconds(fast)}"
    print(f"{what}: {times}, {slow / fast:,.0f} times as fast (compile time not included)")


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Seconds that some work took, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def milliseconds(seconds: float) -> str:
    """A time of two digits, or of whole milliseconds."""
    return f"{seconds * 1e3:.2g} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"


def save(figure: object, path: Path) -> None:
    """Writes a figure of matplotlib as a PNG of few colours."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=80)
    picture = Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(path, format="PNG", optimize=True)
    print(f"picture: {path}", file=sys.stderr)
