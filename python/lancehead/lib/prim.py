"""Primitives of the library dialect: `prim.<name>` is known to the compiler and means nothing to the interpreter."""


def means(meaning):
    """Declares the meaning of a function or a named tuple to the compiler: a word of `lh-ir/src/meaning.rs`."""

    def declare(f):
        f.__means__ = meaning
        return f

    return declare


class Prim:
    """A primitive, known by its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"prim.{self.name}"


_KNOWN: dict[str, Prim] = {}


def __getattr__(name: str) -> Prim:
    if name.startswith("__"):
        raise AttributeError(name)
    return _KNOWN.setdefault(name, Prim(name))
