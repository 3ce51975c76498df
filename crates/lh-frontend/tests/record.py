"""Records the code objects of code/source.py for the tests, with the interpreter that runs it.

Run in this directory with every supported version: `python3.11 record.py`. It writes code/py311.txt: a line per
function, of tokens; strings are percent-encoded, lists in brackets. `all/support.rs` reads it.
"""

import sys
import types
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).parent / "code"


def text(s):
    return "'" + quote(s, safe="_.<>()*")


def names(items):
    return "[ " + "".join(text(s) + " " for s in items) + "]"


def constant(c):
    if c is None or c is ... or isinstance(c, bool):
        return str(c)
    if isinstance(c, int):
        return f"i{c}"
    if isinstance(c, float):
        return f"f{c!r}"
    if isinstance(c, complex):
        return f"j{c.real!r},{c.imag!r}"
    if isinstance(c, str):
        return text(c)
    if isinstance(c, bytes):
        return f"y{c.hex()}"
    if isinstance(c, tuple):
        return "( " + "".join(constant(x) + " " for x in c) + ")"
    if isinstance(c, frozenset):
        return "( " + "".join(constant(x) + " " for x in sorted(c, key=repr)) + ")"
    if isinstance(c, slice):
        return "slice " + " ".join(constant(x) for x in (c.start, c.stop, c.step))
    if isinstance(c, types.CodeType):
        return code(c)
    return "?" + type(c).__name__


def position(p, first):
    line, end_line, col, end_col = p
    if line is None:
        return "-"
    if col is None:
        return str(line - first)
    return f"{line - first}.{col}.{end_col}" + (f".{end_line - first}" if end_line != line else "")


def positions(c):
    runs = [(p, len(list(run))) for p, run in groupby(position(p, c.co_firstlineno) for p in c.co_positions())]
    return "[ " + "".join(p + (f"*{n} " if n > 1 else " ") for p, n in runs) + "]"


def code(c):
    fields = [
        "code",
        text(c.co_name),
        text(c.co_qualname),
        c.co_firstlineno,
        c.co_argcount,
        c.co_posonlyargcount,
        c.co_kwonlyargcount,
        c.co_flags,
        c.co_stacksize,
        "x" + c.co_code.hex(),
        "x" + c.co_exceptiontable.hex(),
        names(c.co_names),
        names(c.co_varnames),
        names(c.co_cellvars),
        names(c.co_freevars),
        "[ " + "".join(constant(x) + " " for x in c.co_consts) + "]",
        positions(c),
    ]
    return " ".join(map(str, fields))


def main():
    source = compile((HERE / "source.py").read_text(), "source.py", "exec")
    functions = [c for c in source.co_consts if isinstance(c, types.CodeType) and not c.co_name.startswith("<")]
    lines = "".join(code(c) + "\n" for c in functions if "__annotate__" not in c.co_name)
    (HERE / f"py{sys.version_info[0]}{sys.version_info[1]}.txt").write_text(lines)


if __name__ == "__main__":
    main()
