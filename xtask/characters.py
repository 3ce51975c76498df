"""Writes `crates/lh-runtime/src/characters/table.rs`: the classes of characters that `str`'s methods ask for.

    python3.11 xtask/characters.py

They are those of the interpreter that runs it. The oldest version of Python that is served is the one to run it with:
characters of later versions of Unicode count as unassigned then, as they do in that version.
"""

import pathlib
import sys
import unicodedata

PAGE = pathlib.Path(__file__).resolve().parents[1] / "crates/lh-runtime/src/characters/table.rs"


def is_ignorable(c):
    """Whether a sigma's place in a word is found by looking past a character."""
    if c.isupper() or c.islower() or c.istitle():
        return not (c + "\u03a3").lower().endswith("\u03c2")
    return ("A" + c + "\u03a3").lower().endswith("\u03c2")


# In the order of the bits in `characters.rs`.
CLASSES = (
    str.isalpha,
    str.isdecimal,
    str.isdigit,
    str.isnumeric,
    str.isprintable,
    str.isidentifier,
    lambda c: ("a" + c).isidentifier(),
    str.isupper,
    str.islower,
    lambda c: c.istitle() and not c.isupper(),
    is_ignorable,
)
WIDTH = 120


def runs():
    """Where a run of characters with the same classes begins, and their bits."""
    last = None
    for code in range(sys.maxunicode + 1):
        bits = sum(1 << i for i, is_in in enumerate(CLASSES) if is_in(chr(code)))
        if bits != last:
            yield code << len(CLASSES) | bits
            last = bits


def folds():
    """Characters whose folded form is not their small one."""
    for code in range(sys.maxunicode + 1):
        folded = chr(code).casefold()
        if folded != chr(code).lower():
            yield f"({rust(chr(code), chr(39))}, {rust(folded, chr(34))})"


def rust(text, quote):
    """A literal of Rust, in ASCII."""
    escaped = "".join(c if c.isascii() and c.isalnum() else f"\\u{{{ord(c):x}}}" for c in text)
    return quote + escaped + quote


def array(items):
    """The lines of an array."""
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > WIDTH:
            yield line
            line = "   "
        line += f" {item},"
    yield line


def main():
    """Writes the file."""
    version = unicodedata.unidata_version
    all_runs, all_folds = [f"{run:#x}" for run in runs()], list(folds())
    lines = [
        f"//! Classes and folded forms of Unicode {version}'s characters: see `xtask/characters.py`.",
        "",
        "/// The first character of each run, then eleven bits of the classes.",
        "#[rustfmt::skip]",
        f"pub(super) static RUNS: [u32; {len(all_runs)}] = [",
        *array(all_runs),
        "];",
        "",
        "/// Characters whose folded form is not their small one.",
        "#[rustfmt::skip]",
        f"pub(super) static FOLDS: [(char, &str); {len(all_folds)}] = [",
        *array(all_folds),
        "];",
    ]
    PAGE.write_text("\n".join(lines) + "\n", "ascii")


if __name__ == "__main__":
    main()
