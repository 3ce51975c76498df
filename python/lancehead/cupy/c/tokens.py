"""Tokens of CUDA C, after what the preprocessor does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lancehead.options import suggestion


class CompileException(Exception):
    """C text that does not compile: the message, the line of the program, and its number."""

    def __init__(self, message: str, source: str, name: str, options: Sequence[str] = (), line: int = 0) -> None:
        lines = source.splitlines()
        shown = f"\n    {lines[line - 1].strip()}" if 0 < line <= len(lines) else ""
        super().__init__(f"{name}({line}): error: {message}{shown}" if line else f"{name}: error: {message}")
        self._msg, self.source, self.name, self.options, self.line = message, source, name, tuple(options), line

    def __reduce__(self) -> tuple[object, ...]:
        return CompileException, (self._msg, self.source, self.name, self.options, self.line)

    def get_message(self) -> str:
        """The message."""
        return str(self)

    def dump(self, f: object) -> None:
        """Writes the message and the numbered lines of the text to a file."""
        write = f.write  # type: ignore[attr-defined]
        write(f"{self}\n")
        for i, line in enumerate(self.source.splitlines(), 1):
            write(f"{i:4} {line}\n")


class Failure(Exception):
    """An error at a line of the text."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


_VECTOR = re.compile(r"(?:make_)?(u?(?:char|short|int|long|longlong)|float|double)([1-4])|dim3")


def unserved(name: str, line: int) -> Failure | None:
    """The error for a name of structures and vectors, which has a way out."""
    if name in ("struct", "class", "union"):
        way = "pass an array for each field, or write the kernel in Python (`cuda.jit`), with records"
        return Failure(f"{name} is not served in kernels of C text: {way}", line)
    if found := _VECTOR.fullmatch(name):
        way = "use a number for each of them"
        if found[1] and found[2] != "1":
            way = f"take a pointer to {found[1]} and index it, x[{found[2]} * i + 1] for the second of item i"
        return Failure(f"{name} is not served in kernels of C text: {way}", line)
    return None


def undefined(name: str, line: int, known: Iterable[str]) -> Failure:
    """The error for a name that nothing declares, with the nearest of those that there are."""
    return unserved(name, line) or Failure(f'identifier "{name}" is undefined{suggestion(name, known)}', line)


class Token(NamedTuple):
    """A word of the text: its kind (`name number text op end`), and the line of the program."""

    kind: str
    text: str
    line: int


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+)
    |(?P<number>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[a-zA-Z]*)
    |(?P<name>[A-Za-z_$]\w*)
    |(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')
    |(?P<op>\#\#|<<<|>>>|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||::|[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]\#])
    """,
    re.X,
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'", re.S)


def _without_comments(source: str) -> str:
    def blank(m: re.Match[str]) -> str:
        text = m[0]
        return text if text[0] in "\"'" else " " + "\n" * text.count("\n")

    return _COMMENT.sub(blank, source)


def _words(text: str, line: int) -> list[Token]:
    found, at = [], 0
    while at < len(text):
        m = _TOKEN.match(text, at)
        if m is None:
            raise Failure(f"unrecognized token {text[at]!r}", line)
        at = m.end()
        if m.lastgroup != "space":
            found.append(Token(str(m.lastgroup), m[0], line))
    return found


class _Macro(NamedTuple):
    parameters: tuple[str, ...] | None
    body: list[Token]


class _Preprocessor:
    def __init__(self, macros: dict[str, str]) -> None:
        self.macros = {name: _Macro(None, _words(body, 0)) for name, body in macros.items()}
        #: For each `#if`: whether lines count now, whether a part has counted, whether what is around counts.
        self.open: list[tuple[bool, bool, bool]] = []

    def _counts(self) -> bool:
        return all(now for now, _, _ in self.open)

    def directive(self, text: str, line: int) -> None:
        m = re.match(r"(\w*)\s*(.*)", text.strip(), re.S)
        assert m is not None, "it matches anything"
        name, rest = m[1], m[2]
        if name in ("if", "ifdef", "ifndef"):
            inside = self._counts()
            now = inside and (
                self._truth(rest, line) if name == "if" else (rest.strip() in self.macros) == (name == "ifdef")
            )
            self.open.append((now, now, inside))
        elif name in ("elif", "else", "endif"):
            if not self.open:
                raise Failure(f"#{name} without #if", line)
            _, done, inside = self.open.pop()
            if name != "endif":
                now = inside and not done and (name == "else" or self._truth(rest, line))
                self.open.append((now, done or now, inside))
        elif self._counts():
            self._other(name, rest, line)

    def _other(self, name: str, rest: str, line: int) -> None:
        if name == "define":
            m = re.match(r"(\w+)(\(([^)]*)\))?\s*(.*)", rest, re.S)
            if m is None:
                raise Failure("a macro needs a name", line)
            parameters = None if m[2] is None else tuple(p.strip() for p in m[3].split(",") if p.strip())
            self.macros[m[1]] = _Macro(parameters, _words(m[4], line))
        elif name == "undef":
            self.macros.pop(rest.strip(), None)
        elif name == "error":
            raise Failure(f"#error directive: {rest}", line)
        elif name not in ("include", "pragma", "line", "warning", ""):
            raise Failure(f"unrecognized preprocessing directive #{name}", line)

    def _truth(self, text: str, line: int) -> bool:
        words, i, out = _words(text, line), 0, []
        while i < len(words):
            if words[i].text == "defined":
                i += 2 if words[i + 1].text == "(" else 1
                out.append(Token("number", str(int(words[i].text in self.macros)), line))
                i += 1 if words[i - 1].text == "(" else 0
            else:
                out.append(words[i])
            i += 1
        parts = []
        for t in self.expand(out):
            known = {"&&": " and ", "||": " or ", "!": " not ", "/": "//"}
            parts.append(
                t.text.rstrip("uUlL") if t.kind == "number" else known.get(t.text, t.text) if t.kind == "op" else "0"
            )
        return _constant("".join(parts), line)

    def expand(self, words: Sequence[Token], hidden: frozenset[str] = frozenset()) -> list[Token]:
        """The words with macros replaced."""
        out: list[Token] = []
        i = 0
        while i < len(words):
            t = words[i]
            macro = self.macros.get(t.text) if t.kind == "name" and t.text not in hidden else None
            i += 1
            if macro is None:
                out.append(t)
            elif macro.parameters is None:
                body = [b._replace(line=t.line) for b in macro.body]
                out.extend(self.expand(body, hidden | {t.text}))
            elif i < len(words) and words[i].text == "(":
                given, i = _arguments(words, i + 1)
                if len(given) != len(macro.parameters) and macro.parameters:
                    raise Failure(f"macro {t.text} takes {len(macro.parameters)} arguments", t.line)
                values = dict(zip(macro.parameters, given, strict=False))
                body = [
                    w._replace(line=t.line) for b in macro.body for w in (values[b.text] if b.text in values else [b])
                ]
                out.extend(self.expand(_pasted(body), hidden | {t.text}))
            else:
                out.append(t)
        return out


def _pasted(words: list[Token]) -> list[Token]:
    out: list[Token] = []
    i = 0
    while i < len(words):
        if words[i].text == "##" and out and i + 1 < len(words):
            out[-1] = out[-1]._replace(text=out[-1].text + words[i + 1].text)
            i += 2
            continue
        out.append(words[i])
        i += 1
    return out


def _arguments(words: Sequence[Token], i: int) -> tuple[list[list[Token]], int]:
    found: list[list[Token]] = [[]]
    depth = 0
    while i < len(words):
        text = words[i].text
        if text == ")" and depth == 0:
            return found, i + 1
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(words[i])
        i += 1
    raise Failure("a macro's arguments have no end", words[-1].line)


def _constant(text: str, line: int) -> bool:
    # An expression of numbers and operators only.
    if not re.fullmatch(r"[\d\sxa-fA-F()+*/%<>=!&|^~-]*(?:(?:and|or|not)[\d\sxa-fA-F()+*/%<>=!&|^~-]*)*", text):
        raise Failure(f"#if of something that is no constant: {text}", line)
    try:
        return bool(eval(compile(text.strip() or "0", "<#if>", "eval"), {"__builtins__": {}}))
    except Exception as e:
        raise Failure(f"#if of something that is no constant: {text}", line) from e


def tokens(source: str, macros: dict[str, str]) -> list[Token]:
    """The words of a text, after the preprocessor; Failure for what it does not know."""
    state = _Preprocessor(macros)
    done: list[Token] = []
    pending: list[Token] = []
    lines = _without_comments(source).split("\n")
    i = 0
    while i < len(lines):
        number, text = i + 1, lines[i]
        while text.rstrip().endswith("\\") and i + 1 < len(lines):
            i += 1
            text = text.rstrip()[:-1] + " " + lines[i]
        i += 1
        if text.lstrip().startswith("#"):
            # Words before a directive have the macros of that place.
            done.extend(state.expand(pending))
            pending = []
            state.directive(text.lstrip()[1:], number)
        elif state._counts():
            pending.extend(_words(text, number))
    if state.open:
        raise Failure("#if without #endif", len(lines))
    return [*done, *state.expand(pending), Token("end", "", len(lines))]
