"""`np.einsum` and `np.tensordot` against NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lancehead import errors, njit

RANDOM = np.random.default_rng(3)


def some(*shape: int, dtype: Any = float) -> np.ndarray:
    return (10 * RANDOM.random(shape)).astype(dtype)


CASES: list[tuple[Any, ...]] = [
    ("ij,jk->ik", some(3, 4), some(4, 5)),
    (" i j , j k ", some(3, 4), some(4, 5)),
    ("ij,kj->ik", some(3, 4, dtype="f4"), some(5, 4)),
    ("ba,b", some(2, 3), some(2)),
    ("ii", some(4, 4)),
    ("ii->i", some(4, 4)),
    ("iij->j", some(3, 3, 2)),
    ("ij->ji", some(3, 4)),
    ("ij->j", some(3, 4)),
    ("ij->", some(3, 4)),
    ("i->", some(4, dtype=complex)),
    ("i...->...", some(3, 4)),
    ("i,i->i", some(5), some(5)),
    ("i,i->", some(5), some(5)),
    ("i,j->ij", some(3), some(4)),
    ("i,->i", some(3), 2.0),
    ("ij,j->ij", some(3, 1), some(4)),
    ("ij,j->i", some(3, 4).T[::-1, ::2], some(2)),
    ("ij,ij->ij", some(3, 4, dtype=int), some(3, 4, dtype=int)),
    ("ij,j", some(3, 4, dtype=bool), some(4, dtype=bool)),
    ("bij,bjk->bik", some(2, 3, 4), some(2, 4, 5)),
    ("...ij,...jk->...ik", some(2, 6, 3, 4), some(6, 4, 5)),
    ("...,...->...", some(2, 3), some(3)),
    ("ijk,ikl,lm->jm", some(2, 3, 4), some(2, 4, 5), some(5, 2)),
    ("i,ij,j->", some(3), some(3, 4), some(4)),
    ("ab,cd->dacb", some(2, 3), some(4, 5)),
    ("ij,jk->ik", some(0, 4), some(4, 5)),
    ("ij,jk->ik", some(3, 0), some(0, 5)),
]


def program(call: str) -> Any:
    space: dict[str, Any] = {"np": np}
    exec(f"def f(*args): return {call}", space)
    return space["f"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {len(case) - 1}")
def test_einsum(case: tuple[Any, ...]) -> None:
    plain = program(f"np.einsum({case[0]!r}, *args)")
    want, got = plain(*case[1:]), njit(plain)(*case[1:])
    assert np.shape(got) == np.shape(want) and np.allclose(got, want)
    assert np.asarray(got).dtype == np.asarray(want).dtype


@pytest.mark.parametrize("axes", [0, 1, 2, ((0,), (0,)), ((0, 1), (1, 0)), ((1,), (-2,))])
def test_tensordot(axes: Any) -> None:
    plain = program(f"np.tensordot(args[0], args[1], {axes})")
    a, b = some(3, 3), some(3, 3)
    assert np.allclose(njit(plain)(a, b), plain(a, b))


def test_a_diagonal_is_a_view() -> None:
    @njit
    def clear(a):
        diagonal = np.einsum("ii->i", a)
        diagonal[:] = 0

    a = np.ones((3, 3))
    clear(a)
    assert (a == 1 - np.eye(3)).all()


def test_extents_that_differ_are_errors() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        njit(program("np.einsum('ij,jk', *args)"))(some(3, 4), some(3, 4))
    with pytest.raises(ValueError, match="collapsing index"):
        njit(program("np.einsum('ii', *args)"))(some(3, 4))
    with pytest.raises(ValueError, match="shape-mismatch"):
        njit(program("np.tensordot(args[0], args[1], 1)"))(some(3, 4), some(3, 4))


@pytest.mark.parametrize("subscripts", ["i->ii", "i->k", "ij", "i,j", "1"])
def test_subscripts_that_do_not_fit(subscripts: str) -> None:
    with pytest.raises(errors.TypingError, match="the subscripts"):
        njit(program(f"np.einsum({subscripts!r}, *args)"))(some(3))


def test_subscripts_are_constants() -> None:
    @njit
    def ask(text, a):
        return np.einsum(text, a)

    assert ask("i->", np.ones(3)) == 3
