"""Writes the library's functions as `lh_library::make` reads them, to the standard output: code objects, defaults,
globals, paths.

Usage: `python decode.py DIRECTORY [FOLDER ...]`: the directory has the package, the folders have further modules of the
library. The form is postcard's for the types declared in `lib.rs`
and `lh_frontend::raw`. The library is imported without lancehead itself and without NumPy, which need not be there:
what it takes from them is known by name.
"""

import builtins
import importlib
import pkgutil
import struct
import sys
import types

LIB = "lancehead.lib"


class Outside:
    """Something of a module that is not imported."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Outside(self.module, f"{self.name}.{name}".lstrip("."))


class Stub(types.ModuleType):
    """A module of which everything is outside."""

    def __getattr__(self, name):
        return getattr(Outside(self.__name__, ""), name)


def number(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def text(s):
    return number(len(s.encode())) + s.encode()


def many(items, each):
    items = list(items)
    return number(len(items)) + b"".join(map(each, items))


def raw(b):
    return number(len(b)) + b


def is_const(c):
    return isinstance(c, (type(None), type(...), bool, int, float, complex, str, bytes)) or (
        isinstance(c, (tuple, frozenset)) and all(map(is_const, c))
    )


def const(c):
    """As `PyConst`."""
    if c is None:
        return number(0)
    if isinstance(c, bool):
        return number(1) + bytes([c])
    if isinstance(c, int):
        assert -(1 << 127) <= c < 1 << 127, c
        return number(2) + number(c << 1 if c >= 0 else ~(c << 1))
    if isinstance(c, float):
        return number(4) + struct.pack("<d", c)
    if isinstance(c, complex):
        return number(5) + struct.pack("<dd", c.real, c.imag)
    if isinstance(c, str):
        return number(6) + text(c)
    if isinstance(c, bytes):
        return number(7) + raw(c)
    if c is ...:
        return number(8)
    if isinstance(c, slice):
        return number(10) + const(c.start) + const(c.stop) + const(c.step)
    return number(9) + many(c, const)


def position(p):
    line, end, col, end_col = p
    line = line or 0
    return number(line) + number(line if end is None else end) + number(col or 0) + number(end_col or 0)


def code(c):
    """As `RawCode`."""

    def item(k):
        return number(1) + code(k) if isinstance(k, types.CodeType) else number(0) + const(k)

    file = c.co_filename.removeprefix(ROOT + "/lancehead/")
    parts = [text(c.co_name), text(c.co_qualname), text(file)]
    parts += map(number, (c.co_firstlineno, c.co_argcount, c.co_posonlyargcount, c.co_kwonlyargcount, c.co_flags))
    parts += [raw(c.co_code), many(c.co_consts, item)]
    parts += [many(names, text) for names in (c.co_names, c.co_varnames, c.co_cellvars, c.co_freevars)]
    parts += [raw(c.co_exceptiontable), many(c.co_positions(), position), number(c.co_stacksize)]
    return b"".join(parts)


def names_of(c):
    return set(c.co_names).union(*(names_of(k) for k in c.co_consts if isinstance(k, types.CodeType)))


def is_function(o):
    return isinstance(o, types.FunctionType) and o.__module__.startswith(LIB)


FUNCTIONS: dict[types.FunctionType, int] = {}


def function(f):
    """Its number."""
    assert f.__closure__ is None, f
    return FUNCTIONS.setdefault(f, len(FUNCTIONS))


def meaning(value, home=None):
    """As `Meaning`; what has no other form is found again as a module's name."""
    if is_function(value):
        return number(0) + number(function(value))
    if value is PRIM:
        return number(1)
    if is_const(value):
        return number(2) + const(value)
    if isinstance(value, Outside):
        home = value.module, value.name
    elif isinstance(value, types.ModuleType):
        home = value.__name__, ""
    elif getattr(builtins, getattr(value, "__name__", ""), None) is value:
        home = "builtins", value.__name__
    assert home, value
    return number(3) + text(home[0]) + text(home[1])


def found(f):
    """The object at the module and qualified name that a function states; of a property, its getter."""
    o = sys.modules[f.__module__]
    for name in f.__qualname__.split("."):
        o = getattr(o, name)
    return o.fget if isinstance(o, property) else o


def stored(f):
    """As `Function`."""
    assert found(f) is f, f
    scope = f.__globals__
    names = sorted(n for n in names_of(f.__code__) if n in scope and not n.startswith("__"))

    return b"".join(
        [
            text(f.__module__) + text(f.__qualname__),
            text(getattr(f, "__means__", "")),
            code(f.__code__),
            many(f.__defaults__ or (), meaning),
            many((f.__kwdefaults__ or {}).items(), lambda kv: text(kv[0]) + meaning(kv[1])),
            many([(n, scope[n], f.__module__, n) for n in names], lambda i: text(i[0]) + meaning(i[1], i[2:])),
        ]
    )


CLASSES: dict[str, bytes] = {}


def declare(path, c):
    """A class of compiled code, as `Declaration`."""
    told = {name: vars(c).get(f"__{name}__") for name in ("parameters", "fields", "items", "entries", "infers")}
    if told["parameters"] is None or path in CLASSES:
        return
    items, entries = (number(0) if t is None else number(1) + text(t) for t in (told["items"], told["entries"]))
    fields, infers = (
        many((t or {}).items(), lambda kv: text(kv[0]) + text(kv[1])) for t in (told["fields"], told["infers"])
    )
    by_value = bytes([bool(vars(c).get("__by_value__"))])
    CLASSES[path] = text(path) + many(told["parameters"], text) + fields + items + by_value + entries + infers


#: Kinds of members that are no methods, in the order of `lh_ir::class::Binding`.
BINDINGS = (property, staticmethod)


def paths():
    """Functions and properties by path, those of packages first: a class can have the name of the module that defines
    it."""
    found = {}

    def add(path, o, binding=0):
        if is_function(o):
            found.setdefault(path, (function(o), binding))

    modules = [
        importlib.import_module(LIB),
        *(importlib.import_module(m.name) for m in pkgutil.walk_packages(sys.modules[LIB].__path__, LIB + ".")),
    ]
    for module in sorted(modules, key=lambda m: (m.__name__.count("."), m.__name__)):
        start = module.__name__.removeprefix(LIB).lstrip(".")
        for name, o in vars(module).items():
            path = f"{start}.{name}".lstrip(".")
            add(path, o)
            if isinstance(o, type):
                declare(path, o)
            for member in dir(o) if isinstance(o, type) else ():
                held = next(c.__dict__[member] for c in o.__mro__ if member in c.__dict__)
                binding = next((i + 1 for i, kind in enumerate(BINDINGS) if isinstance(held, kind)), 0)
                add(f"{path}.{member}", held.fget if isinstance(held, property) else getattr(o, member), binding)
    return found


ROOT = sys.argv[1]
sys.path.insert(0, ROOT)
for stub in ("lancehead", "numpy"):
    sys.modules[stub] = Stub(stub)
sys.modules["lancehead"].__path__ = [ROOT + "/lancehead"]
importlib.import_module(LIB).__path__.extend(sys.argv[2:])
PRIM = importlib.import_module(LIB + ".prim")
PATHS = sorted(paths().items(), key=lambda item: item[0].encode())
BODIES = []
while len(BODIES) < len(FUNCTIONS):
    BODIES.append(stored(list(FUNCTIONS)[len(BODIES)]))
OUT = bytes(sys.version_info[:2]) + number(len(BODIES)) + b"".join(BODIES)
OUT += many(PATHS, lambda item: text(item[0]) + number(item[1][0]) + bytes([item[1][1]]))
OUT += many(CLASSES.values(), lambda declared: declared)
sys.stdout.buffer.write(OUT)
