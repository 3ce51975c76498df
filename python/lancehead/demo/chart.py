"""The demo's chart."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from lancehead.demo.program import Measurement


def draw_chart(results: list[Measurement], paths: list[Path]) -> None:
    """Speed-ups as horizontal bars, one picture per path; its ending decides the format."""
    shown = [result for result in results if not result.failure][::-1]
    colours = {"Python": "#3b6fb6", "NumPy": "#e08a1e", "SciPy": "#4f9d69", "Dask": "#b0436e"}
    # The same results draw the same file.
    with rc_context({"svg.hashsalt": "lancehead", "font.size": 10}):
        figure = Figure(figsize=(9, 0.8 + 0.42 * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        for place, result in enumerate(shown):
            # From 1 on: what is slower than the plain version points to the left.
            axes.barh(place, result.speedup - 1.0, left=1.0, color=colours[result.program.baseline], height=0.7)
            label = f"{result.speedup:,.0f} ×" if result.speedup >= 10 else f"{result.speedup:.1f} ×"
            axes.annotate(
                label, (max(result.speedup, 1.0), place), xytext=(4, 0), textcoords="offset points", va="center"
            )
        axes.set_yticks(range(len(shown)), [result.program.title for result in shown])
        axes.set_xscale("log")
        axes.set_xlim(
            left=min([1.0, *(r.speedup / 2 for r in shown if r.speedup < 1.0)]),
            right=max([10.0, *(r.speedup * 3 for r in shown)]),
        )
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.set_xlabel("times as fast as the plain version (compile time not included)")
        axes.spines[["top", "right"]].set_visible(False)
        used = {result.program.baseline for result in shown}
        bars = [Patch(color=colour, label=f"plain {name}") for name, colour in colours.items() if name in used]
        axes.legend(handles=bars, loc="lower right", frameon=False)
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, dpi=150, metadata=metadata)
