"""JAX's derivatives at the points of `gradient_rules.py`, which it reads from the standard input."""

import json
import sys

import jax
import jax.scipy

jax.config.update("jax_enable_x64", True)


def flat(x):
    """Real and imaginary parts of all numbers of a value."""
    if isinstance(x, tuple):
        return [v for part in x for v in flat(part)]
    return [float(v) for z in jax.numpy.asarray(x).ravel() for v in (z.real, z.imag)]


def main():
    names = {"np": jax.numpy, "scipy": jax.scipy, "inf": float("inf"), "nan": float("nan")}
    for row in json.load(sys.stdin):
        found = []
        function = eval(f"lambda {row['names']}: {row['text']}", names)
        slopes = jax.grad(function, tuple(range(len(row["names"].split(",")))))
        for point in row["points"]:
            args = [jax.numpy.asarray(x) for x in eval(point, names)]
            try:
                found.append(flat(slopes(*args)))
            except Exception as e:
                found.append(f"{type(e).__name__}: {e}"[:80])
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
