"""Names that compiled code may use, as the operation table and the library have them: for the generated pages.

Nothing is imported from the library and nothing is compiled: the sources are read.
"""

import ast
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIB = ROOT / "python/lancehead/lib"


def summary(text):
    """The first sentence of a docstring."""
    return re.split(r"(?<=\.)\s", " ".join((text or "").split("\n\n")[0].split()))[0]


def home_of(module):
    """The library's file of a module, or `None`."""
    path = LIB.joinpath(*module.split("."))
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)


@functools.cache
def exports(path):
    """`name -> (file, definition)` of the functions and classes that a file defines, imports or gives another name."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = (path, node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lancehead.lib."):
            home = home_of(node.module.removeprefix("lancehead.lib."))
            known = exports(home) if home else {}
            for alias in node.names:
                if alias.name == "*":
                    found |= {name: known[name] for name in known if not name.startswith("_")}
                elif alias.name in known:
                    found[alias.asname or alias.name] = known[alias.name]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in found:
            found |= {target.id: found[node.value.id] for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.Expr) and getattr(getattr(node.value, "func", None), "id", "") == "copy_functions":
            # A family of polynomials: see its module.
            copied, prefix = exports(home_of("numpy.polynomial._families")), node.value.args[1].value
            found |= {name.replace("series", prefix): known for name, known in copied.items() if "series" in name}
    return found


def members(path, node):
    """`name -> definition` of the public functions of a class and of those that it derives from; some of its file are
    methods, too."""
    found, known = {}, exports(path)
    for base in reversed(node.bases):
        if isinstance(base, ast.Name) and base.id in known:
            found |= members(*known[base.id])
    for m in node.body:
        if isinstance(m, ast.Assign) and isinstance(m.value, ast.Name) and m.value.id in known:
            # The compiler asks for some by names of its own.
            if not (name := m.targets[0].id).startswith(("_", "getitem_", "setitem_")):
                found[name] = known[m.value.id][1]
    own = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")}
    return found | own


def is_refused(node):
    """Whether a function of the library does nothing but refuse."""
    return isinstance(node, ast.FunctionDef) and (ast.get_docstring(node) or "").startswith("Refused:")


def rows():
    """`path -> what it is` of the primitive operations."""
    found = {}
    for path in sorted((ROOT / "crates/lh-ops/src/table").glob("*.rs")):
        for doc, names in re.findall(r'doc: "((?:[^"\\]|\\.)*)",\s*python: &\[([^\]]*)\]', path.read_text()):
            for name in re.findall(r'"([^"]+)"', names):
                found[name] = summary(doc.replace("\\\n", " ").replace('\\"', '"'))
    return found
