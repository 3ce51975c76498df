"""Templates known while compiling, those that are arguments, and CPython give the same text or the same error."""

import random
from typing import Any

import pytest

from lancehead import errors, njit

VALUES: dict[str, Any] = {
    "i": -42, "j": 2**40, "f": 2.65625, "g": -1e-7, "h": float("inf"), "s": "héy", "b": True, "n": None, "t": (1, 2.5),
}  # fmt: skip


def conversion(rng: random.Random) -> str:
    """A conversion of the old style."""
    flags = "".join(rng.sample("-+ 0#", rng.choice([0, 0, 1, 2])))
    precision = rng.choice(["", "", ".0", ".", ".2", ".7"])
    return f"%{flags}{rng.choice(['', '', '3', '12'])}{precision}{rng.choice('sradiuxXoeEfFgGc')}"


def field(rng: random.Random, name: str) -> str:
    """A field of the new style."""
    spec = rng.choice(["", "", ":", ":>7", ":<9", ":^11", ":*^8", ":+", ":,", ":x", ":.3", ":08.2f", ":e", ":d", ":s"])
    return f"{{{name}{rng.choice(['', '', '', '!r', '!s', '!a'])}{spec}}}"


def outcome(f: Any, *args: Any) -> Any:
    """The text, or the exception."""
    try:
        return f(*args)
    except (TypeError, ValueError, OverflowError, LookupError) as e:
        return type(e), str(e)


def check(template: str, names: list[str], call: str) -> None:
    """The call agrees where the template is written in the function, and where it is handed over."""
    values = [VALUES[name] for name in names]
    want = outcome(eval(f"lambda template, {', '.join(names)}: {call.format('template')}"), template, *values)
    for text in (repr(template), "template"):
        f: Any = eval(f"lambda template, {', '.join(names)}: {call.format(text)}")
        got = outcome(njit(f), template, *values)
        # That `None` and tuples have no formats is known while compiling.
        if isinstance(got, tuple) and got[0] is errors.ArgumentError:
            assert text != "template" and isinstance(want, tuple), (template, values)
        else:
            assert got == want, (text, template, values)


@pytest.mark.parametrize("seed", range(60))
def test_old_style(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(list(VALUES), rng.choice([1, 2, 3]))
    template = " %% ".join(conversion(rng) for _ in range(len(names) + rng.choice([0, 0, 0, 0, 1])))
    check(template, names, f"{{}} % ({', '.join(names)},)")
    if names[0] != "t":
        check(template, names[:1], f"{{}} % {names[0]}")


@pytest.mark.parametrize("seed", range(60))
def test_new_style(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(list(VALUES), rng.choice([1, 2, 3]))
    ways = [[""] * len(names), [str(rng.randrange(len(names))) for _ in names], [*names[:-1], "k"], ["k", *names]]
    template = "{{}} ".join(field(rng, name) for name in rng.choice(ways))
    named = ", ".join(f"{name}={name}" for name in names)
    check(template, names, f"{{}}.format({rng.choice([', '.join(names), named])}, k='more')")
