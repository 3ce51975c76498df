"""Random graphs of lazy arrays with fixed seeds."""

import pytest

import graphs


def test_random_graphs_agree_with_numpy(some) -> None:
    faults = graphs.run(0, some(50, 16))
    assert not faults, "\n".join(f"{what}: {said}" for what, said in faults.items())


def test_faults_are_found_and_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    def negative(n, rng, pool):
        return -pool[-1] if n is graphs.xp else pool[-1] * 2

    monkeypatch.setattr(graphs, "KINDS", (negative,))
    (found,) = graphs.run(5, 1)
    assert found == "--seed 5 --size 1"
