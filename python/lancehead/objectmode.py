"""`with objmode(y="float64"):` in compiled code: the block runs in the interpreter, and gives values of these types.

The block becomes a Python function of the variables that it reads; the function around it, which is compiled, calls
that and assigns the results.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import CellType, CodeType, FunctionType
from typing import Any

from lancehead import _core, errors, types
from lancehead.lib import prim


class ObjectMode:
    """The context of a block that compiled code leaves to the interpreter. In Python it does nothing.

    >>> from lancehead import njit, objmode
    >>> @njit
    ... def shown(x):
    ...     with objmode(text="unicode_type"):
    ...         text = f"{x:>6.2f}"
    ...     return text
    >>> shown(1.5)
    '  1.50'
    """

    def __call__(self, *args: Any, **types_of_outputs: Any) -> ObjectMode:
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass

    def __repr__(self) -> str:
        return "lancehead.objmode"


objmode = ObjectMode()


class Site:
    """A block as a function of the interpreter: it gives 0 and the outputs."""

    __lancehead_refused__ = "a block of `objmode` is no value"

    def __init__(self, body: FunctionType, result: Any) -> None:
        self.body = body
        #: The type of what it gives.
        self.result = result

    def __call__(self, _: int, *args: Any) -> tuple[Any, ...]:
        return (0, *self.body(*args))


def rewritten(function: FunctionType) -> FunctionType | None:
    """The function whose blocks of `objmode` are calls; None if it has none."""
    names = set(function.__code__.co_names) | set(function.__code__.co_freevars)
    scope = inspect.getclosurevars(function)
    known = {**scope.builtins, **scope.globals, **scope.nonlocals}
    if "objmode" not in names and not any(value is objmode for value in known.values()):
        return None
    return _Rewriter(function).made()


def _refused(text: str, node: Any = None) -> errors.UnsupportedError:
    where = "" if node is None else f" (line {node.lineno})"
    return errors.UnsupportedError(f"a block of `objmode`{where} {text}")


class _Rewriter(ast.NodeTransformer):
    def __init__(self, function: FunctionType) -> None:
        self.function = function
        code = function.__code__
        self.cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        self.scope = {**function.__globals__}
        for name, cell in self.cells.items():
            try:
                self.scope[name] = cell.cell_contents
            except ValueError:
                continue
        self.locals = set(code.co_varnames) | set(code.co_cellvars)
        self.bodies: list[tuple[ast.FunctionDef, Any]] = []

    def made(self) -> FunctionType | None:
        code = self.function.__code__
        try:
            lines, first = inspect.getsourcelines(code)
        except OSError:
            raise _refused("needs the source of its function, which is not there") from None
        tree = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(tree, first - 1)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == code.co_name]
        if not found:
            return None
        own = found[0]
        own.decorator_list = []
        self.outside = own
        own.body = [self.visit(statement) for statement in own.body]
        if not self.bodies:
            return None
        names = [body.name for body, _ in self.bodies]
        outer = _definition("__objmode_outer", [], [*(body for body, _ in self.bodies), own])
        outer.args = _parameters([*self.cells, "__objmode_call", *(f"__site_{name}" for name in names)])
        module = ast.fix_missing_locations(ast.Module([outer], []))
        compiled = compile(module, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & 0x1000000)
        codes = {c.co_name: c for c in _codes(_codes(compiled)[0])}
        cells = {**self.cells, "__objmode_call": CellType(prim.call_python)}
        for body, result in self.bodies:
            made = _function(codes[body.name], self.function, cells)
            cells[f"__site_{body.name}"] = CellType(Site(made, result))
        made = _function(codes[own.name], self.function, cells)
        made.__defaults__, made.__kwdefaults__ = self.function.__defaults__, self.function.__kwdefaults__
        made.__module__, made.__qualname__ = self.function.__module__, self.function.__qualname__
        return made

    def visit_With(self, node: ast.With) -> Any:
        call = node.items[0].context_expr
        if len(node.items) > 1 or not isinstance(call, ast.Call) or not self.is_objmode(call.func):
            return self.generic_visit(node)
        if call.args or any(word.arg is None for word in call.keywords):
            raise _refused("takes its outputs as keywords: `objmode(y='float64')`", node)
        for inner in (part for statement in node.body for part in ast.walk(statement)):
            if isinstance(inner, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)):
                raise _refused("cannot return or yield", inner)
        _check_jumps(node.body, False)
        outs = {str(word.arg): self.type_of(word.value) for word in call.keywords}
        reads, writes = _names(node.body)
        outside_reads, outside_writes = _names([self.outside], node)
        parameters = {a.arg for a in ast.walk(self.outside.args) if isinstance(a, ast.arg)}
        ins = sorted(name for name in reads & self.locals if name in parameters | outside_writes)
        lost = sorted((writes - set(outs)) & outside_reads - outside_writes - parameters)
        if lost:
            raise _refused(
                f"assigns to `{lost[0]}`, which is read after it: name its type, `objmode({lost[0]}=...)`", node
            )
        missing = sorted(set(outs) - writes - parameters - outside_writes)
        if missing:
            raise _refused(f"does not assign to `{missing[0]}`", node)
        ins = sorted({*ins, *(set(outs) - writes)})
        name = f"__objmode_{len(self.bodies)}"
        result = ast.Return(ast.Tuple([ast.Name(out, ast.Load()) for out in outs], ast.Load()))
        body = _definition(name, ins, [*node.body, result])
        ast.copy_location(body, node)
        self.bodies.append((body, types.Tuple([types.int64, *outs.values()])))
        values = ast.Tuple([ast.Constant(0), *(ast.Name(i, ast.Load()) for i in ins)], ast.Load())
        call = ast.Call(ast.Name("__objmode_call", ast.Load()), [ast.Name(f"__site_{name}", ast.Load()), values], [])
        targets = ast.Tuple(
            [ast.Name(f"{name}_done", ast.Store()), *(ast.Name(o, ast.Store()) for o in outs)], ast.Store()
        )
        assign = ast.copy_location(ast.Assign([targets], call), node)
        return ast.fix_missing_locations(assign)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    visit_Lambda = visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def is_objmode(self, node: ast.expr) -> bool:
        try:
            return self.value_of(node) is objmode
        except Exception:
            return False

    def value_of(self, node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<objmode>", "eval"), self.scope)

    def type_of(self, node: ast.expr) -> Any:
        value = self.value_of(node)
        return _core.parse_type(value) if isinstance(value, str) else value


def _definition(name: str, parameters: list[str], body: list[Any]) -> ast.FunctionDef:
    # Versions of Python differ in the fields that are needed.
    made = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.args, made.body = _parameters(parameters), body
    return made


def _parameters(names: list[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _names(nodes: list[Any], but: Any = None) -> tuple[set[str], set[str]]:
    """Names that are read and that are assigned to, outside of one node."""
    reads: set[str] = set()
    writes: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node is but:
            continue
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            writes.update((a.asname or a.name).split(".")[0] for a in node.names)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            writes.add(node.name)
        todo.extend(ast.iter_child_nodes(node))
    return reads, writes


def _check_jumps(statements: list[Any], in_loop: bool) -> None:
    for node in statements:
        if isinstance(node, (ast.Break, ast.Continue)) and not in_loop:
            raise _refused("cannot leave the loop around it", node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        is_loop = in_loop or isinstance(node, (ast.For, ast.While))
        for part in ("body", "orelse", "finalbody", "handlers"):
            _check_jumps(getattr(node, part, []), is_loop and part != "orelse" or in_loop)


def _codes(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def _function(code: CodeType, like: FunctionType, cells: dict[str, CellType]) -> FunctionType:
    closure = tuple(cells[name] for name in code.co_freevars)
    return FunctionType(code, like.__globals__, like.__name__, None, closure)
