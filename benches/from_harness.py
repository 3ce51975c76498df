"""Figures of the side-by-side harness in the form of benches/results.

    python benches/from_harness.py latency target/bench/latency.json OUT.json
    python benches/from_harness.py throughput target/bench/throughput.json OUT.json

The harness lives outside of this repository and has a form of JSON of its own; the modules are those of Numba and of
lancehead.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import figures

PROGRAMS = {
    "a_add": "`x + y`",
    "b_sum2d": "sum over a 2-D array",
    "c_mid": "a middle-sized function",
    "d_par": "a `prange` loop with a reduction",
    "e_vec": "`@vectorize` with a signature",
    "e2_dufunc": "`@vectorize` that grows",
    "e3_guvec": "`@guvectorize`",
    "f_numpy": "a program of NumPy calls",
    "g_jit100": "50 small functions",
    "h_dict": "two dictionaries and a list",
    "i_class": "a jitclass",
}


def latency(data: dict[str, Any]) -> figures.Result:
    """First results, memory and calls."""
    result = figures.Result("numba-latency", "benches/run.sh numba-latency", 1)
    first = result.table(
        "first-results", "program", ("Numba", "ms CPU"), ("lancehead", "ms CPU"), ("times", ""),
        ("Numba, cached", "ms CPU"), ("lancehead, cached", "ms CPU", 1),
    )  # fmt: skip
    memory = result.table("memory", "program", ("first compile", "MiB"), ("from the cache", "MiB"))
    calls = result.table("calls", "arguments", ("Numba", "ns"), ("lancehead", "ns"))
    theirs, ours = data["cases"]["numba"], data["cases"]["lancehead"]
    ratios: dict[str, list[float]] = {"cold": [], "warm": []}
    bare = data["import"]["lancehead"]["numpy"]["rss_mib"]
    for case in (c for c in ours if "error" not in ours[c] and "error" not in theirs.get(c, {"error": ""})):
        (a, b), (c, d) = ([side[case][kind]["first_cpu"] for side in (theirs, ours)] for kind in ratios)
        ratios["cold"].append(a / b)
        ratios["warm"].append(c / d)
        title = PROGRAMS.get(case, case)
        first.add(title, round(a), round(b), round(a / b), round(c), round(d, 1))
        memory.add(title, *(round(ours[case][kind]["rss_mib"] - bare) for kind in ratios))
    for name, ns in data["overhead_ns"]["lancehead"].items():
        if name in data["overhead_ns"]["numba"]:
            calls.add(name, round(data["overhead_ns"]["numba"][name]), round(ns))
    means = (round(figures.geometric_mean(values)) for values in ratios.values())
    result.summary = dict(zip(("cold", "cached"), means))
    for name, module in (("import", "lancehead"), ("import of Numba", "numba")):
        times = data["import"][module]
        result.summary[name] = f"{times['numpy then module']['cpu'] - times['numpy']['cpu']:.0f} ms"
    return result


def throughput(data: dict[str, Any]) -> figures.Result:
    """Least times of kernels."""
    result = figures.Result("throughput", "benches/run.sh throughput", 2)
    table = result.table("kernels", "kernel", ("Numba", "us", 1), ("lancehead", "us", 1), ("ratio", "", 2))
    parallel = []
    for kernel, found in data["results"].items():
        times = [found["backends"].get(module, {}).get("min") for module in ("numba", "lancehead")]
        if all(times):
            table.add(f"`{kernel}`", *(round(t * 1e6, 1) for t in times), round(times[1] / times[0], 2))
            parallel += [times[1] / times[0]] * found["par"]
    result.summary = {
        "kernels": len(table.rows),
        "mean": figures.geometric_mean(row[3] for row in table.rows),
        "mean of parallel": figures.geometric_mean(parallel),
    }
    return result


if __name__ == "__main__":
    kind, source, target = sys.argv[1:]
    {"latency": latency, "throughput": throughput}[kind](json.loads(Path(source).read_text())).write(target)
