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


@pytest.mark.parametrize(
    ("subscripts", "rank"),
    [("i->ii", 1), ("i->k", 1), ("ij", 1), ("i,j", 1), ("1", 1), ("i1", 2), ("...i->i", 2)],
)
def test_subscripts_that_do_not_fit(subscripts: str, rank: int) -> None:
    with pytest.raises(errors.TypingError, match="the subscripts"):
        njit(program(f"np.einsum({subscripts!r}, *args)"))(some(*[3] * rank))


def test_subscripts_are_constants() -> None:
    @njit
    def ask(text, a):
        return np.einsum(text, a)

    assert ask("i->", np.ones(3)) == 3


def random_subscripts(count: int) -> list[str]:
    """Three to five operands of up to three of six letters, and a result of some of them."""
    random = np.random.default_rng(7)
    made = []
    for _ in range(count):
        terms = ["".join(random.choice(list("abcdef"), random.integers(0, 4))) for _ in range(random.integers(3, 6))]
        letters = sorted(set("".join(terms)))
        result = "".join(letter for letter in random.permutation(letters) if random.random() < 0.4) if letters else ""
        made.append(",".join(terms) + "->" + result)
    return made


PATHS = ["ij,jk,kl", "ea,fb,abcd,gc,hd->efgh", "ai,bi,ci->abc", "ab,bc,cd,de,ea->", "ii,ij,jk", ",a,ab", "a,b,c->cab"]


@pytest.mark.parametrize("subscripts", PATHS + random_subscripts(8))
def test_paths_and_their_reports_are_those_of_numpy(subscripts: str) -> None:
    """Of small extents many orders cost the same, so that ties are decided, too."""

    @njit
    def ask(operands, how, limit):
        plain = np.einsum_path(subscripts, *operands, optimize=how)
        return plain if limit == -2 else np.einsum_path(subscripts, *operands, optimize=(how, limit))

    terms, result = subscripts.split("->") if "->" in subscripts else (subscripts, "il")
    random = np.random.default_rng(11)
    for round in range(60):
        sizes = {letter: int(random.integers(round % 6 != 5, 3 + round // 6)) for letter in "abcdefghijkl"}
        shapes = [
            [1 if term.count(c) == 1 and random.random() < 0.1 else sizes[c] for c in term] for term in terms.split(",")
        ]
        how = ["greedy", "optimal"][round % 2]
        limit = int(random.integers(-1, 40)) if round % 3 == 2 else -2
        operands = tuple(np.ones(shape) for shape in shapes)
        path, report = np.einsum_path(subscripts, *operands, optimize=how if limit == -2 else (how, limit))
        is_of_pairs = len(path) == len(operands) and all(len(places) == 2 for places in path[1:])
        if is_of_pairs or set(result) == set(terms) - {","}:
            assert ask(operands, how, limit) == (tuple(path), report)
        elif limit == -2:
            with pytest.raises(NotImplementedError, match="more than two operands"):
                ask(operands, how, limit)


def test_paths_within_a_limit() -> None:
    @njit
    def ask(a, b, c, how, limit):
        return np.einsum_path("ij,jk,kl->", a, b, c, optimize=(how, limit))

    operands = some(9, 4), some(4, 5), some(5, 7)
    for how in ["greedy", "optimal"]:
        for limit in [28, 1e30, 28.9, 100]:
            path, report = np.einsum_path("ij,jk,kl->", *operands, optimize=(how, limit))
            assert ask(*operands, how, limit) == (tuple(path), report)
        with pytest.raises(NotImplementedError, match="more than two operands"):
            ask(*operands, how, 2)
    for limit, error in [(np.inf, OverflowError), (np.nan, ValueError)]:
        with pytest.raises(error, match="cannot convert float"):
            ask(*operands, "greedy", limit)
    with pytest.raises(KeyError, match="Path name"):
        ask(*operands, "best", 5)


@pytest.mark.parametrize(
    "arguments",
    [
        "'ij,jk->ik', some(3, 4), some(4, 5)",
        "'ij,jk->ik', some(3, 4), some(4, 5), optimize='optimal'",
        "'ij->', some(3, 4), optimize=('best', 3)",
        "'i,j,k', some(3), some(1), some(0)",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=True",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=False",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=None",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=['einsum_path', (2, 0), (0, 1)]",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=['einsum_path', (0, 1, 2)]",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=['einsum_path', (1,), (0, -1), (), (0, 1, 2)]",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=['einsum_path', (0, 1)]",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=['einsum_path', (0, 3)]",
        "'ij,jk,kl', some(3, 4), some(4, 5), some(5, 6), optimize=['einsum_path']",
        "'ij->', some(3, 4), optimize=['einsum_path']",
        "'ij,jk', some(3, 4), some(5, 6)",
        "'ij,jk', some(3, 4), some(4, 6), optimize=('best',)",
    ],
)
def test_paths_that_are_given_or_trivial(arguments: str) -> None:
    space: dict[str, Any] = {"np": np, "some": some}
    call, _, optimize = arguments.partition(", optimize=")
    operands = eval(f"({call.partition(', ')[2]},)", space)
    subscripts = arguments[1 : arguments.index("'", 1)]
    f = program(f"np.einsum_path({subscripts!r}, *args, optimize={optimize or repr('greedy')})")
    try:
        path, report = f(*operands)
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            njit(f)(*operands)
        assert isinstance(error, TypeError) or str(raised.value) == str(error)
    else:
        assert njit(f)(*operands) == (tuple(path), report)


def test_costs_of_huge_extents() -> None:
    """Costs are exact integers beyond 64 bits, and the quotient of two is rounded once."""

    @njit
    def ask(operands):
        return np.einsum_path("ab,bc,cd,de->ae", *operands)

    random = np.random.default_rng(5)
    for _ in range(200):
        sizes = random.integers(1, 1 << random.integers(2, 30), 5)
        operands = tuple(np.broadcast_to(1.0, sizes[i : i + 2]) for i in range(4))
        path, report = np.einsum_path("ab,bc,cd,de->ae", *operands)
        if len(path) == 4:
            assert ask(operands) == (tuple(path), report)


def test_axes_of_ellipses_have_letters_in_reports() -> None:
    """In NumPy they depend on the hashes of texts."""

    @njit
    def ask(a, b, c):
        return np.einsum_path("i...,...j,jB->i...", a, b, c)

    path, report = ask(some(2, 3, 4), some(4, 5), some(5, 6))
    assert report.splitlines()[0].endswith("iAC,Cj,jB->iAC")
    other = np.einsum_path("iAC,Cj,jB->iAC", some(2, 3, 4), some(4, 5), some(5, 6))
    assert (list(path), report) == other
