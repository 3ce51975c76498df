"""`with objmode(y="float64"):` in compiled code: the block runs in the interpreter, and gives values of these types.

The block becomes a Python function of the variables that it reads; the function around it, which is compiled, calls
that and assigns the results.
"""

from __future__ import annotations
import __future__

import ast
import dis
import inspect
import weakref
from dataclasses import dataclass
from itertools import pairwise
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

    #: The diagnostic for an `objmode` that was not recognised as the start of a block.
    __lancehead_refused__ = (
        "`objmode` begins a block of a function that is defined by `def` in a file: `with objmode(y='float64'):`"
    )

    def __call__(self, *args: Any, **types_of_outputs: Any) -> ObjectMode:
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass

    def __repr__(self) -> str:
        return "lancehead.objmode"


objmode = ObjectMode()

#: The variable of a rewritten function that holds the primitive which calls a block.
_CALL = "__objmode_call"
#: Nodes with variables of their own.
_SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip
#: The flags of code that annotations have not been evaluated in.
_FUTURE = __future__.annotations.compiler_flag


class Site:
    """A block as a function of the interpreter, which gives a tuple of the outputs."""

    __lancehead_refused__ = "a block of `objmode` is no value"

    def __init__(self, body: Any, result: Any) -> None:
        #: The function of the interpreter that compiled code calls.
        self.body = body
        self.__qualname__ = f"the block of `objmode` in line {body.__code__.co_firstlineno}"
        #: The type of the tuple.
        self.result = result
        #: The function of the program whose block it is, if that has to live as long.
        self.function: Any = None

    def __call__(self, *args: Any) -> Any:
        return self.body(*args)


#: By the addresses of functions and of lists, which the blocks keep alive.
_RECORDERS: weakref.WeakValueDictionary[tuple[int, int], Site] = weakref.WeakValueDictionary()


def recorder(function: Any, items: list[Any]) -> Site | None:
    """A block that appends to a list outside of a function; None if the function does anything else with the list, of
    which compiled code has a constant copy."""
    own = getattr(function, "py_func", function)
    cells = zip(own.__code__.co_freevars, own.__closure__ or (), strict=True)
    names = {name for name in _named(own.__code__) if own.__globals__.get(name) is items}
    names |= {name for name, cell in cells if _contents(cell) is items}
    if (
        hasattr(own, "__lancehead_copy__")
        or not names
        or not all(_only_appends(code, names) for code in (own.__code__, *_codes(own.__code__)))
    ):
        return None
    # The function may have changed since; the block is the same.
    known = _RECORDERS.get((id(function), id(items)))
    if known is not None:
        return known

    def append(item: Any) -> tuple[()]:
        items.append(item)
        return ()

    made = _RECORDERS[id(function), id(items)] = Site(append, types.Tuple(()))
    made.function = function
    return made


def _only_appends(code: CodeType, names: set[str]) -> bool:
    steps = list(dis.get_instructions(code))
    return all(
        after.argval == "append"
        for step, after in pairwise(steps)
        if isinstance(step.argval, str) and step.argval in names and "LOAD" in step.opname
    )


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # The variable is not assigned yet.
        return None


def rewritten(function: FunctionType) -> FunctionType | None:
    """The function whose blocks of `objmode` are calls; None if it has none."""
    names = _named(function.__code__)
    known = [function.__globals__.get(name) for name in names]
    known += [_contents(cell) for cell in function.__closure__ or ()]
    if "objmode" not in names and not any(value is objmode for value in known):
        return None
    return _Rewriter(function).made()


def _named(code: CodeType) -> set[str]:
    """Names that are not local, in a function and in those inside."""
    return {*code.co_names, *code.co_freevars}.union(*map(_named, _codes(code)))


def _refused(text: str, node: Any = None, kind: Any = errors.UnsupportedBlockError) -> errors.NumbaError:
    where = "" if node is None else f" (line {node.lineno})"
    error: errors.NumbaError = kind(f"a block of `objmode`{where} {text}")
    return error


@dataclass
class _Block:
    """A block, the call that takes its place, and the types of its outputs by their names."""

    node: ast.With
    call: ast.Call
    assignment: ast.Assign
    outputs: dict[str, Any]
    #: The function that it is in, after those around that.
    around: list[ast.FunctionDef]


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
        self.blocks: list[_Block] = []
        self.locals = set(code.co_varnames) | set(code.co_cellvars)
        #: The function that is being visited, after those around it.
        self.around: list[ast.FunctionDef] = []

    def made(self) -> FunctionType | None:
        code = self.function.__code__
        own = self.definition()
        if own is None:
            return None
        self.visit_FunctionDef(own)
        if not self.blocks:
            return None
        bodies = [self.body(block, number) for number, block in enumerate(self.blocks)]
        sites = [_site(number) for number in range(len(self.blocks))]
        outer = _definition("__objmode_outer", [*self.cells, _CALL, *sites], [*bodies, own])
        module = ast.fix_missing_locations(ast.Module([outer], []))
        compiled = compile(module, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE)
        inner = _codes(_codes(compiled)[0])
        codes = {c.co_name: c for c in inner}
        cells = {**self.cells, _CALL: CellType(prim.call_python)}
        for site, body, block in zip(sites, bodies, self.blocks, strict=True):
            function = _function(codes[body.name], self.function, self.cells)
            cells[site] = CellType(Site(function, types.Tuple(list(block.outputs.values()))))
        made = _function(codes[own.name], self.function, cells)
        made.__defaults__, made.__kwdefaults__ = self.function.__defaults__, self.function.__kwdefaults__
        made.__module__, made.__qualname__ = self.function.__module__, self.function.__qualname__
        return made

    def definition(self) -> ast.FunctionDef | None:
        """The definition of the function in its source, without decorators; None for a lambda."""
        if self.function.__code__.co_name == "<lambda>":
            return None
        try:
            lines, first = inspect.getsourcelines(self.function.__code__)
        except OSError:
            raise _refused("needs the source of its function, which is not there") from None
        # Indentation belongs to the texts of several lines, and stays.
        is_inside = lines[0][:1].isspace()
        tree = ast.parse("if 1:\n" * is_inside + "".join(lines))
        ast.increment_lineno(tree, first - 1 - is_inside)
        found = tree.body[0].body[0] if isinstance(tree.body[0], ast.If) else tree.body[0]
        if not isinstance(found, ast.FunctionDef):
            return None
        found.decorator_list = []
        return found

    def visit_With(self, node: ast.With) -> Any:
        context = node.items[0].context_expr
        if len(node.items) > 1 or not self.is_objmode(context.func if isinstance(context, ast.Call) else context):
            return self.generic_visit(node)
        args, keywords = (context.args, context.keywords) if isinstance(context, ast.Call) else ([], [])
        if args or any(word.arg is None for word in keywords):
            raise _refused("takes its outputs as keywords: `objmode(y='float64')`", node)
        _check_exits(node.body, False)
        outputs = {str(word.arg): self.type_of(str(word.arg), word.value, node) for word in keywords}
        call = ast.Call(_load(_CALL), [_load(_site(len(self.blocks)))], [])
        targets = ast.Tuple([ast.Name(name, ast.Store()) for name in outputs], ast.Store())
        assignment = ast.fix_missing_locations(ast.copy_location(ast.Assign([targets], call), node))
        self.blocks.append(_Block(node, call, assignment, outputs, list(self.around)))
        return assignment

    def body(self, block: _Block, number: int) -> ast.FunctionDef:
        """The function of a block; completes the call in its place."""
        needed: set[str] = set()
        assigned = _assigned_after(block.node.body, set(), needed)
        _, written = _names(block.node.body)
        reads, elsewhere = _variables(block.around[-1], block.assignment)
        lost = sorted((written - block.outputs.keys()) & reads - elsewhere)
        if lost:
            text = f"assigns to `{lost[0]}`, which is read after it: name its type, `objmode({lost[0]}=...)`"
            raise _refused(text, block.node, errors.TypingError)
        missing = sorted(block.outputs.keys() - written - elsewhere)
        if missing:
            raise _refused(f"does not assign to `{missing[0]}`", block.node, errors.TypingError)
        # An output that is not assigned on every way keeps the value that it had.
        needed |= block.outputs.keys() - assigned
        known = [_variables(function, block.assignment)[1] for function in block.around]
        # A name that the compiled function declares `global` or `nonlocal` is not a variable of it.
        known[0] &= self.locals
        inputs = sorted(needed & set().union(*known))
        values = ast.Tuple([_load(name) for name in inputs], ast.Load())
        block.call.args.append(values)
        ast.fix_missing_locations(block.assignment)
        result = ast.Return(ast.Tuple([_load(name) for name in block.outputs], ast.Load()))
        made = _definition(f"__objmode_{number}", inputs, [*block.node.body, result])
        return ast.copy_location(made, block.node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """An inner function, whose blocks see its own variables."""
        self.around.append(node)
        node.body = [self.visit(statement) for statement in node.body]
        self.around.pop()
        return node

    def visit_Lambda(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda

    def is_objmode(self, node: ast.expr) -> bool:
        try:
            return self.value_of(node) is objmode
        except Exception:
            return False

    def value_of(self, node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<objmode>", "eval"), self.scope)

    def type_of(self, name: str, node: ast.expr, block: ast.With) -> Any:
        text = ast.unparse(node)
        try:
            value = self.value_of(node)
        except NameError:
            # A free variable whose cell is empty is one of a function that registers overloads.
            kind = errors.TypingError if text.split(".")[0] in self.cells else errors.CompilerError
            raise _refused(f"gives `{name}` the type `{text}`, which has no value here", block, kind) from None
        except AttributeError:
            raise _refused(
                f"gives `{name}` the type `{text}`, which does not exist", block, errors.CompilerError
            ) from None
        try:
            value = _core.parse_type(value) if isinstance(value, str) else value
            types.Tuple([value])
        except (TypeError, errors.NumbaError):
            why = f"gives `{name}` the type `{text}`, which is no type"
            raise _refused(why, block, errors.CompilerError) from None
        return value


def _site(number: int) -> str:
    return f"__objmode_site_{number}"


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _definition(name: str, parameters: list[str], body: list[Any]) -> ast.FunctionDef:
    # Versions of Python differ in the fields that are needed.
    made = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.args, made.body = _parameters(parameters), body
    return made


def _parameters(names: list[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _names(nodes: list[Any], but: Any = None) -> tuple[set[str], set[str]]:
    """Names that are read and that are assigned to, outside of one node; those of inner scopes are only read."""
    reads: set[str] = set()
    writes: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node is but:
            continue
        if isinstance(node, _SCOPES) and node not in nodes:
            reads |= _reads(node)
            writes |= {node.name} if hasattr(node, "name") else set()
            continue
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            writes.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name is not None:
            writes.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            writes.add(node.rest)
        todo.extend(ast.iter_child_nodes(node))
    return reads, writes


def _variables(function: ast.FunctionDef, but: Any) -> tuple[set[str], set[str]]:
    """Names that a function reads, and those that it has as parameters or assigns to, outside of one node."""
    reads, writes = _names([function], but)
    parameters = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    return reads, (writes - {function.name}) | parameters


def _reads(node: ast.AST, bound: frozenset[str] = frozenset()) -> set[str]:
    """Names that evaluating a node may read, without those of inner scopes."""
    if isinstance(node, ast.Name):
        return {node.id} - bound if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, _SCOPES):
        inner = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        inner |= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        bound = bound | inner
    return set().union(*(_reads(part, bound) for part in ast.iter_child_nodes(node)))


def _assigned_after(statements: list[Any], assigned: set[str], needed: set[str]) -> set[str]:
    """Names that are assigned after statements for certain. Names that may be read before are added to `needed`."""
    for node in statements:
        parts = _nested(node)
        needed |= {name for part in _headers(node) for name in _reads(part)} - assigned
        if isinstance(node, ast.AugAssign):
            needed |= _names([node.target])[1] - assigned
        if not parts:
            written = {str(getattr(node, "name", ""))} if isinstance(node, _SCOPES) else _names([node])[1]
            assigned = assigned - written if isinstance(node, ast.Delete) else assigned | written
            continue
        written = {name for part in _headers(node) for name in _names([part])[1]}
        ends = [_assigned_after(part, assigned | written, needed) for part in parts]
        if isinstance(node, ast.If) and node.orelse:
            assigned = ends[0] & ends[1]
        elif isinstance(node, ast.With):
            assigned = ends[0]
    return assigned


def _nested(node: Any) -> list[list[Any]]:
    """The lists of statements inside a statement, but for those of other scopes."""
    if isinstance(node, _SCOPES):
        return []
    lists = [value for _, value in ast.iter_fields(node) if isinstance(value, list) and value]
    found = [part for part in lists if isinstance(part[0], ast.stmt)]
    return found + [
        way.body for part in lists if isinstance(part[0], (ast.ExceptHandler, ast.match_case)) for way in part
    ]


def _headers(node: Any) -> list[Any]:
    """The parts of a statement that are no statements."""
    inside = {id(part) for parts in _nested(node) for part in parts}
    if not inside:
        return [node]
    children = [*ast.iter_child_nodes(node)]
    ways = [child for child in children if isinstance(child, (ast.ExceptHandler, ast.match_case))]
    children += [part for way in ways for part in ast.iter_child_nodes(way)]
    return [child for child in children if id(child) not in inside and child not in ways]


def _check_exits(statements: list[Any], in_loop: bool) -> None:
    for node in statements:
        if isinstance(node, (ast.Break, ast.Continue)) and not in_loop:
            raise _refused("cannot leave the loop around it", node)
        todo = [] if isinstance(node, _SCOPES) else _headers(node)
        while todo:
            part = todo.pop()
            if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)):
                raise _refused("cannot return or yield", part)
            todo += [child for child in ast.iter_child_nodes(part) if not isinstance(child, _SCOPES)]
        for nested in _nested(node):
            is_body = isinstance(node, (ast.For, ast.While)) and nested is node.body
            _check_exits(nested, in_loop or is_body)


def _codes(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def _function(code: CodeType, like: FunctionType, cells: dict[str, CellType]) -> FunctionType:
    closure = tuple(cells[name] for name in code.co_freevars)
    return FunctionType(code, like.__globals__, like.__name__, None, closure)
