"""The interpreter ends while daemon threads are in lancehead: the exit status is kept, and nothing aborts."""

import pytest

import exits


@pytest.mark.parametrize("name", exits.PROGRAMS)
def test_the_interpreter_ends(name, some) -> None:
    said = [exits.status(name, (3, 0, 7)[k % 3], 0.05 + 0.07 * (k % 7)) for k in range(some(72, 1))]
    assert not any(said), "\n".join(filter(None, said))
