"""JAX's side of `benches/gradients.py`: `gradients_with_jax.py FILE` reads the inputs and prints a line of JSON for
each program: seconds of the first call, which compiles, and of the fastest call of the derivative."""

from __future__ import annotations

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def dot(a, b):
    return jnp.sum(a * b)


def sines(a):
    return jnp.sum(jnp.sin(a) * a)


def expression(x, y):
    return jnp.sum(jnp.exp(-x * x) * y + x / (1 + y * y))


def heat(u, steps):
    def step(u, _):
        inner = u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        return u.at[1:-1].set(inner), None

    return jnp.sum(jax.lax.scan(step, u, None, length=int(steps))[0] ** 2)


def bodies(p, v, m, steps):
    def step(state, _):
        p, v = state
        d = p[None, :, :] - p[:, None, :]
        r2 = jnp.sum(d * d, axis=2) + 0.01
        # A body at no distance from itself has no force on itself: `d` is zero.
        v = v + 0.01 * jnp.sum((m[None, :] / (r2 * jnp.sqrt(r2)))[:, :, None] * d, axis=1)
        return (p + 0.01 * v, v), None

    _, v = jax.lax.scan(step, (p, v), None, length=int(steps))[0]
    return 0.5 * jnp.sum(m[:, None] * v * v)


def logistic(w, x, y):
    return jnp.sum(jnp.log1p(jnp.exp(-y * (x @ w))))


def branches(x, n):
    def step(s, _):
        return jax.lax.cond(s > 1.0, lambda s: s * 0.5, lambda s: s * 1.7 + 0.3, s), None

    return jax.lax.scan(step, x, None, length=int(n))[0]


def roughness(a):
    d = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]
    return jnp.sum(d * d)


def recurrent(w, xs):
    def step(h, x):
        return jnp.tanh(w @ h + x), None

    return jnp.sum(jax.lax.scan(step, jnp.zeros(w.shape[0]), xs)[0] ** 2)


#: Each program with the arguments that are asked for, and those that are known while compiling.
PROGRAMS = {
    "dot": (dot, (0, 1), ()),
    "sines": (sines, 0, ()),
    "expression": (expression, (0, 1), ()),
    "heat": (heat, 0, (1,)),
    "bodies": (bodies, (0, 1), (3,)),
    "logistic": (logistic, 0, ()),
    "branches": (branches, 0, (1,)),
    "roughness": (roughness, 0, ()),
    "recurrent": (recurrent, 0, ()),
}


def main() -> None:
    held = np.load(sys.argv[1])
    for name, (f, asked, static) in PROGRAMS.items():
        count = len([k for k in held.files if k.rpartition(".")[0] == name])
        if count == 0:
            continue
        given = [held[f"{name}.{i}"] for i in range(count)]
        args = [g.item() if i in static else jnp.asarray(g) for i, g in enumerate(given)]
        derivative = jax.jit(jax.value_and_grad(f, asked), static_argnums=static)
        start = time.perf_counter()
        value = jax.block_until_ready(derivative(*args))[0]
        first = time.perf_counter() - start
        best = float("inf")
        for _ in range(20):
            start = time.perf_counter()
            jax.block_until_ready(derivative(*args))
            best = min(best, time.perf_counter() - start)
        print(json.dumps({"name": name, "value": float(value), "first": first, "best": best}), flush=True)


if __name__ == "__main__":
    main()
