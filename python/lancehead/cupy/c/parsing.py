"""The tree of a text of CUDA C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lancehead.cupy.c.tokens import Failure, Token, undefined, unserved

_WORDS = frozenset(
    "void bool char short int long float double signed unsigned auto size_t ptrdiff_t int8_t int16_t int32_t int64_t "
    "uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t float16 half __half complex uint uchar ushort ulong "
    "longlong ulonglong cuComplex cuFloatComplex cuDoubleComplex ssize_t grid_group thread_block".split()
)
_QUALIFIERS = frozenset(
    "const volatile static inline __inline__ __forceinline__ __noinline__ __restrict__ __restrict restrict register "
    "constexpr extern typename mutable signed_ __host__ __device__ __global__ __shared__ __constant__ unsigned_ "
    "__launch_bounds__ __managed__".split()
)
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))


@dataclass(frozen=True)
class TypeName:
    """A type as it is written: its name, how many pointers, whether what is pointed at is constant."""

    name: str
    pointers: int = 0
    is_const: bool = False
    is_reference: bool = False
    argument: str | None = None


@dataclass
class Node:
    """An expression or a statement: its kind, what it consists of, and its line."""

    kind: str
    parts: tuple[Any, ...]
    line: int


def nodes(tree: Any) -> Iterator[Node]:
    """All nodes of a tree, or of several, each before those that it consists of."""
    if isinstance(tree, Node):
        yield tree
        tree = tree.parts
    if isinstance(tree, list | tuple):
        for part in tree:
            yield from nodes(part)


@dataclass
class Parameter:
    """A parameter of a function."""

    type: TypeName
    name: str


@dataclass
class Function:
    """A function: what it returns, its parameters, statements, and whether it is a kernel."""

    name: str
    result: TypeName
    parameters: list[Parameter]
    body: Node | None
    is_kernel: bool
    line: int
    template: tuple[tuple[str, bool], ...] = ()


@dataclass
class Unit:
    """All of a text: functions, types that it names, and variables outside of functions."""

    functions: dict[str, Function] = field(default_factory=dict)
    aliases: dict[str, TypeName] = field(default_factory=dict)
    variables: list[Node] = field(default_factory=list)
    enumerators: dict[str, Node] = field(default_factory=dict)

    def put(self, table: dict[str, Any], name: str, value: Any, line: int) -> None:
        """Names something, of any namespace; Failure for a name that means something else already."""
        if table.get(name, value) != value:
            raise Failure(f'"{name}" has already been declared: names are those of one text, without overloads', line)
        table[name] = value


#: Namespaces whose names are known without them.
_SPACES = frozenset(("std", "thrust", "cupy", "cooperative_groups"))


def _plain(words: Sequence[Token], spaces: set[str]) -> list[Token]:
    # The words without namespaces: what is in one is as if it were outside of it.
    found: list[Token] = []
    inside: list[int] = []
    depth = i = 0
    while i < len(words):
        t = words[i]
        after = words[i + 1].text if i + 1 < len(words) else ""
        if t.text == "namespace" and t.kind == "name":
            is_used = bool(found) and found[-1].text == "using"
            name, i = i + 1, i + 1
            while words[i].text not in ("{", ";", "=", ""):
                i += 1
            spaces.update(w.text for w in words[name:i] if w.kind == "name")
            if words[i].text == "{":
                inside.append(depth)
            else:
                while words[i].text not in (";", ""):
                    i += 1
            if is_used:
                found.pop()
            i += words[i].text != ""
            continue
        if after == "::" and t.text in spaces:
            i += 2
            continue
        if t.text == "}" and inside and inside[-1] == depth:
            inside.pop()
        else:
            depth += (t.text == "{") - (t.text == "}")
            found.append(t)
        i += 1
    if inside:
        raise Failure('expected a "}"', words[-1].line)
    return found


class Parser:
    """Reads tokens."""

    def __init__(self, tokens: Sequence[Token], types: Sequence[str] = (), spaces: Iterable[str] = ()) -> None:
        #: Names of namespaces.
        self.spaces = {*_SPACES, *spaces}
        self.tokens, self.at = _plain(tokens, self.spaces), 0
        self.types = set(types)
        self.unit = Unit()
        self.templates: set[str] = set()
        #: Whether the last statement of the text may do without its semicolon.
        self.is_body = False

    # --- words -------------------------------------------------------------------------------------------------------
    @property
    def now(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        """A token after the next one."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is read."""
        found = self.tokens[self.at]
        self.at += found.kind != "end"
        return found

    def accept(self, *texts: str) -> bool:
        """Whether the next token is one of some, which is read then."""
        if self.now.text in texts and self.now.kind != "text":
            self.at += 1
            return True
        return False

    def _split(self) -> None:
        # `>>` that closes two lists of a template.
        if self.now.text == ">>":
            self.tokens[self.at : self.at + 1] = [self.now._replace(text=">")] * 2

    def expect(self, text: str) -> Token:
        """The next token, which must be one."""
        if text == ">":
            self._split()
        if text == ";" and self.is_body and self.now.kind == "end":
            return self.now
        if self.now.text != text:
            before = self.tokens[self.at - 1] if self.at else self.now
            line = before.line if text in (";", ")", "]") else self.now.line
            raise Failure(f'expected a "{text}"' + (f", not {self.now.text!r}" if self.now.text else ""), line)
        return self.take()

    def name(self) -> str:
        """The next token, which must be a name."""
        if self.now.kind != "name":
            raise Failure("expected an identifier", self.now.line)
        return self.take().text

    # --- types -------------------------------------------------------------------------------------------------------
    def is_type(self, ahead: int = 0) -> bool:
        """Whether a type begins at a token."""
        t = self.peek(ahead)
        failure = unserved(t.text, t.line)
        if failure is not None and (t.text in ("struct", "class", "union") or self.peek(ahead + 1).kind == "name"):
            raise failure
        return t.kind == "name" and (t.text in _WORDS or t.text in _QUALIFIERS or t.text in self.types)

    def type(self) -> tuple[TypeName, set[str]]:
        """A type without its pointers, and the qualifiers beside it."""
        words: list[str] = []
        qualifiers: set[str] = set()
        argument = None
        line = self.now.line
        while self.now.kind == "name" or (self.now.text == "::"):
            text = self.now.text
            if text == "extern" and self.peek().kind == "text":
                break
            if text in _QUALIFIERS:
                qualifiers.add(self.take().text)
                if text == "__launch_bounds__":
                    self._skip_parentheses()
            elif text in _WORDS or (text in self.types and not words):
                words.append(self.take().text)
                if text == "complex" and self.accept("<"):
                    inner, _ = self.type()
                    argument = inner.name
                    self.expect(">")
            else:
                break
        if not words:
            raise undefined(self.now.text, line, (*_WORDS, *self.types))
        return TypeName(_canonical(words, line), 0, "const" in qualifiers, False, argument), qualifiers

    def _skip_parentheses(self) -> None:
        self.expect("(")
        depth = 1
        while depth and self.now.kind != "end":
            depth += (self.now.text == "(") - (self.now.text == ")")
            self.at += 1

    def pointers(self, of: TypeName) -> TypeName:
        """A type with the pointers or the reference that follow."""
        while self.now.text in ("*", "&") or self.now.text in _QUALIFIERS:
            if self.accept("*"):
                of = TypeName(of.name, of.pointers + 1, of.is_const, False, of.argument)
            elif self.accept("&"):
                of = TypeName(of.name, of.pointers, of.is_const, True, of.argument)
            else:
                self.at += 1
        return of

    # --- expressions -------------------------------------------------------------------------------------------------
    def expression(self) -> Node:
        """An expression, with commas."""
        found = self.assignment()
        while self.now.text == ",":
            line = self.take().line
            found = Node("comma", (found, self.assignment()), line)
        return found

    def assignment(self) -> Node:
        """An expression without commas."""
        left = self.conditional()
        if self.now.text in _ASSIGNMENTS:
            op = self.take()
            return Node("assign", (op.text, left, self.assignment()), op.line)
        return left

    def conditional(self) -> Node:
        """`c ? a : b` and what binds closer."""
        test = self.binary(0)
        if self.now.text != "?":
            return test
        line = self.take().line
        a = self.expression()
        self.expect(":")
        return Node("choice", (test, a, self.assignment()), line)

    def binary(self, level: int) -> Node:
        """Operators of a level and what binds closer."""
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.now.text in _LEVELS[level] and self.now.kind == "op":
            op = self.take()
            left = Node("binary", (op.text, left, self.binary(level + 1)), op.line)
        return left

    def unary(self) -> Node:
        """Operators before an operand, and conversions."""
        t = self.now
        if t.kind == "op" and t.text in ("-", "+", "!", "~", "*", "&"):
            self.take()
            return Node("unary", (t.text, self.unary()), t.line)
        if t.text in ("++", "--"):
            self.take()
            return Node("before", (t.text, self.unary()), t.line)
        if t.text == "sizeof":
            self.take()
            self.expect("(")
            of = self.pointers(self.type()[0]) if self.is_type() else self.expression()
            self.expect(")")
            return Node("sizeof", (of,), t.line)
        if t.text == "(" and self.peek(2).text != "::" and self.is_type(1):
            self.take()
            to = self.pointers(self.type()[0])
            self.expect(")")
            return Node("cast", (to, self.unary()), t.line)
        return self.postfix()

    def postfix(self) -> Node:
        """Calls, indices, members and `++` after an operand."""
        found = self.primary()
        while True:
            t = self.now
            if t.text == "[":
                self.take()
                at = Node("list", (self.braces(),), t.line) if self.now.text == "{" else self.expression()
                found = Node("index", (found, at), t.line)
                self.expect("]")
            elif t.text == "(":
                found = Node("call", (found, self.arguments()), t.line)
            elif t.text in (".", "->"):
                self.take()
                found = Node("member", (found, self.name()), t.line)
            elif t.text in ("++", "--"):
                self.take()
                found = Node("after", (t.text, found), t.line)
            elif t.text == "<<<":
                raise Failure("kernels that start kernels are not served", t.line)
            else:
                return found

    def arguments(self) -> list[Node]:
        """The arguments of a call."""
        self.expect("(")
        found = []
        while not self.accept(")"):
            found.append(self.assignment())
            if self.now.text != ")":
                self.expect(",")
        return found

    def primary(self) -> Node:
        """Numbers, names, parentheses, and conversions that look like calls."""
        t = self.now
        if t.kind == "number" or t.kind == "text":
            self.take()
            return Node("number" if t.kind == "number" else "text", (t.text,), t.line)
        if self.accept("("):
            found = self.expression()
            self.expect(")")
            return found
        if t.text in ("static_cast", "reinterpret_cast", "const_cast"):
            self.take()
            self.expect("<")
            to = self.pointers(self.type()[0])
            self.expect(">")
            self.expect("(")
            found = self.expression()
            self.expect(")")
            return Node("cast", (to, found), t.line)
        if self._is_enumerator():
            self.at += 3
            return Node("name", (f"{t.text}::{self.peek(-1).text}",), t.line)
        if self.is_type():
            to = self.pointers(self.type()[0])
            if self.now.text == "{":
                raise Failure("lists in braces are not served here", t.line)
            given = self.arguments()
            if len(given) == 2:
                return Node("complex", (to, *given), t.line)
            zero = Node("number", ("0",), t.line)
            return Node("cast", (to, given[0] if given else zero), t.line)
        if self.accept("::"):
            return self.primary()
        if t.kind == "name":
            self.take()
            if t.text in self.templates and self.now.text == "<":
                return Node("name", (t.text, self._template_arguments()), t.line)
            return Node("name", (t.text,), t.line)
        raise Failure("expected an expression", t.line)

    def _is_enumerator(self) -> bool:
        return self.peek().text == "::" and f"{self.now.text}::{self.peek(2).text}" in self.unit.enumerators

    def _template_arguments(self) -> tuple[Any, ...]:
        self.expect("<")
        found: list[Any] = []
        while not self.accept(">"):
            is_type = self.is_type() and not self._is_enumerator()
            found.append(self.pointers(self.type()[0]) if is_type else self.binary(_ADDITIVE))
            self._split()
            if self.now.text != ">":
                self.expect(",")
        return tuple(found)

    # --- statements --------------------------------------------------------------------------------------------------
    def statements(self, end: str) -> Node:
        """Statements up to the end of a block, or of the text."""
        found, line = [], self.now.line
        self.is_body = self.is_body or not end
        while self.now.text != end and self.now.kind != "end":
            found.append(self.statement())
        if end:
            self.expect(end)
        return Node("block", (found,), line)

    def statement(self) -> Node:
        """A statement."""
        t = self.now
        if self.accept(";"):
            return Node("block", ([],), t.line)
        if self.accept("{"):
            return self.statements("}")
        reader = getattr(self, f"_{t.text}", None) if t.text in _STATEMENTS else None
        if reader is not None:
            self.take()
            found: Node = reader(t.line)
            return found
        if t.text in ("break", "continue"):
            self.take()
            self.expect(";")
            return Node(t.text, (), t.line)
        if t.text in ("goto", "asm", "try", "throw", "new", "delete", "__asm__"):
            raise Failure(f"{t.text} is not served in kernels of C text", t.line)
        if t.text in ("typedef", "using"):
            self.alias()
            return Node("block", ([],), t.line)
        if t.text == "enum":
            self.enumeration()
            return Node("block", ([],), t.line)
        if t.kind == "name" and self.peek().text == ":" and self.peek(2).text != ":":
            raise Failure("labels are not served in kernels of C text", t.line)
        if self.is_type() and not (self.peek().text in ("(", "::") and t.text not in _QUALIFIERS):
            return self.declaration()
        found = Node("expression", (self.expression(),), t.line)
        self.expect(";")
        return found

    def _if(self, line: int) -> Node:
        self.accept("constexpr")
        self.expect("(")
        test = self.expression()
        self.expect(")")
        then = self.statement()
        other = self.statement() if self.accept("else") else None
        return Node("if", (test, then, other), line)

    def _while(self, line: int) -> Node:
        self.expect("(")
        test = self.expression()
        self.expect(")")
        return Node("for", (None, test, None, self.statement()), line)

    def _do(self, line: int) -> Node:
        body = self.statement()
        self.expect("while")
        self.expect("(")
        test = self.expression()
        self.expect(")")
        self.expect(";")
        return Node("do", (body, test), line)

    def _for(self, line: int) -> Node:
        self.expect("(")
        first = None
        if not self.accept(";"):
            if self.is_type():
                first = self.declaration()
            else:
                first = Node("expression", (self.expression(),), line)
                self.expect(";")
        test = None if self.now.text == ";" else self.expression()
        self.expect(";")
        step = None if self.now.text == ")" else self.expression()
        self.expect(")")
        return Node("for", (first, test, step, self.statement()), line)

    def _return(self, line: int) -> Node:
        value = None if self.now.text == ";" else self.expression()
        self.expect(";")
        return Node("return", (value,), line)

    def _switch(self, line: int) -> Node:
        self.expect("(")
        value = self.expression()
        self.expect(")")
        self.expect("{")
        cases: list[tuple[list[Node | None], list[Node]]] = []
        while not self.accept("}"):
            labels: list[Node | None] = []
            while self.now.text in ("case", "default"):
                labels.append(self.conditional() if self.take().text == "case" else None)
                self.expect(":")
            if labels or not cases:
                cases.append((labels, []))
            else:
                cases[-1][1].append(self.statement())
            if not labels and self.now.kind == "end":
                raise Failure('expected a "}"', line)
            while self.now.text not in ("case", "default", "}"):
                cases[-1][1].append(self.statement())
        return Node("switch", (value, cases), line)

    def declaration(self) -> Node:
        """Variables of one type."""
        line = self.now.line
        of, qualifiers = self.type()
        found = []
        while True:
            this = self.pointers(of)
            name_line = self.now.line
            name = self.name()
            extents: list[Node | None] = []
            while self.accept("["):
                extents.append(None if self.now.text == "]" else self.expression())
                self.expect("]")
            value: Any = None
            if self.accept("="):
                value = self.braces() if self.now.text == "{" else self.assignment()
            elif self.now.text == "(":
                given = self.arguments()
                if len(given) == 2:
                    value = Node("complex", (this, *given), name_line)
                else:
                    value = given[0] if given else None
            elif self.now.text == "{":
                value = self.braces()
                value = value[0] if len(value) == 1 and not extents else value
            found.append((this, name, extents, value, name_line))
            if not self.accept(","):
                break
        self.expect(";")
        return Node("declare", (found, frozenset(qualifiers)), line)

    def braces(self) -> list[Any]:
        """Values in braces."""
        self.expect("{")
        found: list[Any] = []
        while not self.accept("}"):
            found.append(self.braces() if self.now.text == "{" else self.assignment())
            if self.now.text != "}":
                self.expect(",")
        return found

    def alias(self) -> None:
        """`typedef` and `using`."""
        line = self.now.line
        if self.take().text == "using":
            name = self.name()
            if self.accept(";"):
                return
            self.expect("=")
            of = self.pointers(self.type()[0])
        else:
            of = self.pointers(self.type()[0])
            name = self.name()
        self.expect(";")
        self.types.add(name)
        self.unit.put(self.unit.aliases, name, of, line)

    def enumeration(self) -> None:
        """`enum` and `enum class`, whose values are constants."""
        line = self.take().line
        is_scoped = self.accept("class", "struct")
        name = self.name() if self.now.kind == "name" else ""
        of = self.type()[0] if self.accept(":") else TypeName("int")
        if name:
            self.types.add(name)
            self.unit.put(self.unit.aliases, name, of, line)
        self.expect("{")
        start, count = Node("number", ("0",), line), 0
        while not self.accept("}"):
            own, at = self.name(), self.now.line
            if self.accept("="):
                start, count = self.conditional(), 0
            value = Node("cast", (of, Node("binary", ("+", start, Node("number", (str(count),), at)), at)), at)
            count += 1
            for key in ([] if is_scoped else [own]) + ([f"{name}::{own}"] if name else []):
                self.unit.put(self.unit.enumerators, key, value, at)
            if self.now.text != "}":
                self.expect(",")
        self.expect(";")

    # --- the text ----------------------------------------------------------------------------------------------------
    def parse(self) -> Unit:
        """The whole text."""
        while self.now.kind != "end":
            if self.now.text == "extern" and self.peek().kind == "text":
                self.at += 2
                self.accept("{")
            elif self.accept("}", ";"):
                pass
            elif self.now.text in ("typedef", "using"):
                self.alias()
            elif self.now.text == "enum":
                self.enumeration()
            else:
                self.outer()
        return self.unit

    def outer(self) -> None:
        """A function or variables outside of functions."""
        template = self._template() if self.accept("template") else ()
        start, line = self.at, self.now.line
        of, qualifiers = self.type()
        of = self.pointers(of)
        name = self.name()
        if self.now.text != "(":
            self.at = start
            self.unit.variables.append(self.declaration())
            return
        if template:
            self.templates.add(name)
        self.expect("(")
        parameters: list[Parameter] = []
        while not self.accept(")"):
            kind = self.pointers(self.type()[0])
            if kind.name == "void" and not kind.pointers:
                continue
            called = self.name() if self.now.kind == "name" else f"_{len(parameters)}"
            while self.accept("["):
                if self.now.text != "]":
                    self.expression()
                self.expect("]")
                kind = TypeName(kind.name, kind.pointers + 1, kind.is_const, False, kind.argument)
            parameters.append(Parameter(kind, called))
            if self.now.text != ")":
                self.expect(",")
        body = None
        if not self.accept(";"):
            self.expect("{")
            body = self.statements("}")
        for t, is_type in template:
            if is_type:
                self.types.discard(t)
        known = self.unit.functions.get(name)
        if known is not None and known.body is None and body is not None:
            if [p.type for p in known.parameters] == [p.type for p in parameters]:
                del self.unit.functions[name]
        if body is not None or known is None or [p.type for p in known.parameters] != [p.type for p in parameters]:
            made = Function(name, of, parameters, body, "__global__" in qualifiers, line, template)
            self.unit.put(self.unit.functions, name, made, line)

    def _template(self) -> tuple[tuple[str, bool], ...]:
        self.expect("<")
        found = []
        while not self.accept(">"):
            is_type = self.now.text in ("typename", "class")
            if is_type:
                self.take()
                self.types.add(self.now.text)
            else:
                self.type()
            found.append((self.name(), is_type))
            if self.now.text != ">":
                self.expect(",")
        return tuple(found)


_STATEMENTS = frozenset(("if", "while", "do", "for", "return", "switch"))
_ADDITIVE = 8


def _canonical(words: list[str], line: int) -> str:
    # One name for each of the ways to write a type.
    if len(words) == 1 and words[0] not in ("signed", "unsigned", "char", "long", "short"):
        return words[0]
    rest = sorted(w for w in words if w not in ("signed", "unsigned", "int"))
    sign = "unsigned " if "unsigned" in words else ""
    base = " ".join(rest) or "int"
    known = {"int": "int", "char": "char", "short": "short", "long": "long", "long long": "long long",
             "double long": "double", "double": "double"}  # fmt: skip
    if base not in known:
        raise Failure(f"invalid combination of type specifiers: {' '.join(words)}", line)
    return sign + known[base]
