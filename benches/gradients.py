"""Derivatives beside the functions themselves: time of `value_and_grad` over that of the compiled function.

benches/run.sh gradients [names] [--json FILE]        JAX's time stands beside it where target/peers has JAX
benches/run.sh gradients --rules [words]        derivatives at edges beside JAX's
"""

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import figures  # isort: skip
import gradient_rules
import numpy as np

from lancehead import get_num_threads, njit
from lancehead.gradients import value_and_grad


def dot(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


def sines(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += np.sin(a[i]) * a[i]
    return s


def expression(x, y):
    return np.sum(np.exp(-x * x) * y + x / (1 + y * y))


def heat(u0, steps):
    u = u0.copy()
    v = np.empty_like(u)
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
        v[0] = u[0]
        v[-1] = u[-1]
        for i in range(u.shape[0]):
            u[i] = v[i]
    return np.sum(u * u)


def bodies(p0, v0, m, steps):
    n = p0.shape[0]
    p = p0.copy()
    v = v0.copy()
    for _ in range(steps):
        for i in range(n):
            for j in range(n):
                if i != j:
                    dx = p[j, 0] - p[i, 0]
                    dy = p[j, 1] - p[i, 1]
                    dz = p[j, 2] - p[i, 2]
                    r2 = dx * dx + dy * dy + dz * dz + 0.01
                    f = m[j] / (r2 * np.sqrt(r2))
                    v[i, 0] += 0.01 * f * dx
                    v[i, 1] += 0.01 * f * dy
                    v[i, 2] += 0.01 * f * dz
        for i in range(n):
            for k in range(3):
                p[i, k] += 0.01 * v[i, k]
    e = 0.0
    for i in range(n):
        e += 0.5 * m[i] * (v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
    return e


def logistic(w, x, y):
    s = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for j in range(x.shape[1]):
            z += x[i, j] * w[j]
        s += np.log1p(np.exp(-y[i] * z))
    return s


def branches(x, n):
    s = x
    for _ in range(n):
        if s > 1.0:
            s = s * 0.5
        else:
            s = s * 1.7 + 0.3
    return s


def roughness(a):
    s = 0.0
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            d = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4 * a[i, j]
            s += d * d
    return s


def recurrent(w, xs):
    h = np.zeros(w.shape[0])
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + xs[t])
    return np.sum(h * h)


#: Programs of `examples/gradients` whose gradients are measured, too.
EXAMPLES = Path(__file__).parents[1] / "examples" / "gradients"


def example(name):
    """A program of `examples/gradients`."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return importlib.import_module(name)


def of_examples(rng):
    points = rng.normal(size=(300, 4))
    mixture = np.zeros(5), rng.normal(size=(5, 4)), rng.normal(size=(5, 10)) * 0.1, points, 1.0, 0
    layers, ends = rng.uniform(-0.5, 0.5, (2, 2, 4, 7)), rng.uniform(-0.5, 0.5, (3, 7))
    bits = (rng.random((500, 7)) < 0.5).astype(float)
    counted = np.exp(rng.normal(size=(10, 2)) * 0.3 + 3.0)
    rates = np.log([0.5, 0.025, 0.025, 0.8, 30.0, 4.0])
    network = rng.normal(size=(64, 32)) * 0.1, np.zeros(32), rng.normal(size=(32, 10)) * 0.1, np.zeros(10)
    images, labels = rng.random((500, 64)), rng.integers(0, 10, 500)
    photo, noisy = rng.random((200, 200)), rng.random((200, 200))
    places = rng.normal(size=(60, 3))
    ball, seen = np.array([0.2, -0.1, 3.0, 0.8]), np.full((40, 40), 3.0)
    return {
        "mixture": (example("gaussian_mixture").log_likelihood, mixture, (0, 1, 2)),
        "lstm": (example("lstm").objective, (layers, ends, bits), (0, 1)),
        "control": (example("heat_control").miss, (np.ones(12), np.ones(40), 40, 2000), 0),
        "adaptive": (example("ode_fit").loss, (rates, counted, 1e-6), 0),
        "process": (example("gaussian_process").likelihood, (np.zeros(5), places, rng.normal(size=60)), 0),
        "network": (example("digits_network").loss, (network, images, labels), 0),
        "rays": (example("ray_marching").miss, (ball, seen), 0),
        "denoise": (example("denoise").roughness, (photo, noisy, 0.1, 0.01), 0),
    }


def programs():
    rng = np.random.default_rng(0)
    line = rng.normal(size=100_000)
    return {
        "dot": (dot, (line, line[::-1].copy()), (0, 1)),
        "sines": (sines, (line,), 0),
        "expression": (expression, (line, line[::-1].copy()), (0, 1)),
        "heat": (heat, (line[:1000].copy(), 200), 0),
        "bodies": (bodies, (rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), rng.random(20), 50), (0, 1)),
        "logistic": (logistic, (rng.normal(size=30), rng.normal(size=(3000, 30)), np.sign(line[:3000])), 0),
        "branches": (branches, (2.2, 2_000), 0),
        "roughness": (roughness, (rng.normal(size=(300, 300)),), 0),
        "recurrent": (recurrent, (rng.normal(size=(50, 50)) * 0.1, rng.normal(size=(100, 50))), 0),
    } | of_examples(rng)


def least(f, args):
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        f(*args)
        best = min(best, time.perf_counter() - start)
    return best


def first(f, args):
    start = time.perf_counter()
    f(*args)
    return time.perf_counter() - start


#: The Python that has JAX (`benches/run.sh primitives` installs it), and the programs as JAX has them.
JAX = Path(__file__).parents[1] / "target" / "peers" / "v" / "bin" / "python"
WITH_JAX = Path(__file__).parent / "peers" / "gradients_with_jax.py"


def with_jax(chosen):
    """JAX's measurements of programs that are loops over numbers or arrays, by name."""
    if not JAX.exists():
        return {}
    with tempfile.NamedTemporaryFile(suffix=".npz") as f:
        given = {f"{name}.{i}": a for name, (_, args, _) in chosen.items() for i, a in enumerate(args)}
        np.savez(f, **{k: a for k, a in given.items() if not isinstance(a, tuple)})
        f.flush()
        out = subprocess.run([JAX, WITH_JAX, f.name], capture_output=True, text=True, check=True).stdout
    return {line["name"]: line for line in map(json.loads, out.splitlines())}


def result_of_programs():
    """The figures of a run, and their table, which is empty."""
    result = figures.Result("gradients", "benches/run.sh gradients", get_num_threads())
    times = [("function", "us", 1), ("gradient", "us", 1), ("ratio", "", 2), ("of JAX", "", 2)]
    first_calls = [("function's first call", "ms"), ("gradient's first call", "ms"), ("of JAX's first", "", 2)]
    return result, result.table("programs", "program", *times, *first_calls)


def main():
    if sys.argv[1:2] == ["--rules"]:
        sys.exit(gradient_rules.main(sys.argv[2:]) > 0)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    figures.add_json(parser)
    given = parser.parse_args()
    chosen = {n: p for n, p in programs().items() if not given.names or n in given.names}
    result, table = result_of_programs()
    jax = with_jax(chosen)
    heads = "program", "itself us", "gradient us", "ratio", "first calls ms", "of JAX", "first"
    print("{:12s} {:>10s} {:>12s} {:>6s} {:>16s} {:>8s} {:>5s}".format(*heads))
    for name, (f, args, argnums) in chosen.items():
        itself, gradient = njit(f), value_and_grad(f, argnums)
        calls = [first(itself, args) * 1e3, first(gradient, args) * 1e3]
        times = [least(itself, args), least(gradient, args)]
        ratio, beside = times[1] / times[0], [None, None]
        line = f"{name:12s} {times[0] * 1e6:10.1f} {times[1] * 1e6:12.1f} {ratio:6.2f}"
        line += f" {calls[0]:8.0f} {calls[1]:7.0f}"
        if name in jax:
            assert np.isclose(jax[name]["value"], gradient(*args)[0], rtol=1e-9), name
            beside = [round(times[1] / jax[name]["best"], 2), round(calls[1] / 1e3 / jax[name]["first"], 2)]
            line += f" {beside[0]:8.2f} {beside[1]:5.2f}"
        print(line)
        numbers = *(round(t * 1e6, 1) for t in times), round(ratio, 2), beside[0], *map(round, calls), beside[1]
        table.add(f"`{name}`", *numbers)
    result.summary["mean"] = figures.geometric_mean(row[3] for row in table.rows)
    print(f"geometric mean {result.summary['mean']:.2f}")
    if jax:
        result.summary["mean of JAX"] = figures.geometric_mean(row[4] for row in table.rows if row[4])
        print(f"geometric mean of JAX's time {result.summary['mean of JAX']:.2f}")
    result.write(given.json)


if __name__ == "__main__":
    main()
