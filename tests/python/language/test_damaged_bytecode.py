"""Functions with damaged bytecode: a diagnostic, or an answer, but neither a crash nor an internal error."""

import dis
import subprocess
import sys
import types
from pathlib import Path

import pytest

from lancehead import errors, njit

HERE = Path(__file__)


def loops(n):
    s = 0
    for i in range(n):
        if i % 3 == 1:
            continue
        s += i * 2
    return s


def handlers(n):
    try:
        return 10 // n
    except ZeroDivisionError:
        return -1
    finally:
        n += 1


def containers(n):
    a = [i * i for i in range(n)]
    d = {i: str(i) for i in a}
    return len(d) + sum(a)


def captures(n):
    k = n

    def inner(y, z=3):
        nonlocal k
        k += 1
        return y * k + z

    return inner(n) + inner(2, z=5)


def texts(n):
    a, *b = (n, n + 1, n + 2)
    return f"{a}-{b[0]:>4}" + ("x" if n > 2 else "y") * 3


FUNCTIONS = [loops, handlers, containers, captures, texts]
#: No operation, an extension of an argument, a jump back, and others.
VALUES = (0, 1, 2, 9, 83, 100, 110, 114, 140, 144, 255)


#: Code units of caches behind each instruction: a list by opcode up to Python 3.12, a mapping by name after it.
CACHES = dis._inline_cache_entries


def ends_within_caches(instructions):
    """Whether the caches of the last instruction lie beyond the code. The interpreter itself writes there, when such a
    code object is made (3.12) or when `co_code` is read (3.11): its memory is damaged before a compiler sees it."""
    at = 0
    while at < len(instructions):
        opcode = instructions[at]
        at += 2 + 2 * (CACHES.get(dis.opname[opcode], 0) if isinstance(CACHES, dict) else CACHES[opcode])
    return at > len(instructions)


def variants(f):
    """Code objects like that of a function, each with one fault."""
    code = f.__code__

    def replaced(**parts):
        if ends_within_caches(parts.get("co_code", b"")):
            return code
        try:
            return code.replace(**parts)
        except ValueError:
            return code

    def bytes_of(name):
        whole = getattr(code, name)
        for at in range(len(whole)):
            for value in VALUES:
                yield replaced(**{name: whole[:at] + bytes([value]) + whole[at + 1 :]})
            yield replaced(**{name: whole[:at]})

    yield from bytes_of("co_code")
    yield from bytes_of("co_exceptiontable")
    for name in ("co_consts", "co_names"):
        for at in range(len(getattr(code, name))):
            yield replaced(**{name: getattr(code, name)[:at]})
    yield replaced(co_stacksize=1)


def main(name, step, start):
    """Compiles each of some variants, and says so before: a crash is that of the last one. Nothing is called, since
    damaged loops need not end."""
    f = next(f for f in FUNCTIONS if f.__name__ == name)
    for number, code in list(enumerate(variants(f)))[start::step]:
        print(number, flush=True)
        try:
            njit(types.FunctionType(code, {"__builtins__": __builtins__}, name)).compile("(int64,)")
        except errors.InternalError as error:
            print(name, number, error, flush=True)
            sys.exit(1)
        except Exception:
            pass


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_mutations_end_in_a_diagnostic_or_in_code(f, some):
    command = [sys.executable, str(HERE), f.__name__, str(some(1, 17)), "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=some(3600, 120))
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-2000:])


def test_code_that_does_not_return():
    code = loops.__code__
    for damaged in (b"", code.co_code[:2], code.co_code[:-2]):
        f = types.FunctionType(code.replace(co_code=damaged), {})
        with pytest.raises(errors.NumbaError, match="malformed"):
            njit(f)(1)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
