"""A list that contains itself has no finite type: it is refused when it is compiled."""

from collections.abc import Callable
from typing import Any

import pytest

from lancehead import errors, njit


def itself() -> int:
    a: Any = []
    a.append(a)
    return len(a)


def each_other() -> int:
    a: Any = []
    b: Any = []
    a.append(b)
    b.append(a)
    return len(a)


def in_a_display() -> int:
    a: Any = []
    a.append([a])
    return len(a)


def in_a_tuple() -> int:
    a: Any = []
    a.append((a, 1))
    return len(a)


def extended() -> int:
    a: Any = []
    a.extend([a])
    a += [a]
    return len(a)


def its_own_item() -> int:
    a: Any = [[]]
    a[0].append(a)
    return len(a)


def in_a_closure() -> int:
    a: Any = []
    a.append(lambda: len(a))
    return len(a)


def nested_by_a_loop() -> int:
    a: Any = []
    for _ in range(3):
        a = [a]
    return len(a)


@pytest.mark.parametrize(
    "f", [itself, each_other, in_a_display, in_a_tuple, extended, its_own_item, in_a_closure, nested_by_a_loop]
)
def test_lists_that_contain_themselves(f: Callable[[], int]) -> None:
    with pytest.raises(errors.TypingError) as raised:
        njit(f)()
    assert len(str(raised.value)) < 1000


def test_parameters_without_items() -> None:
    def appended(a: Any) -> None:
        a.append(a)

    with pytest.raises(errors.TypingError):
        njit(appended)([])
