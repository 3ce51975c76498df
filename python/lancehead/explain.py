"""The report on a compiled function that `f.explain()` gives, as text and as HTML."""

from __future__ import annotations

import html
import keyword
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lancehead import config, errors, places
from lancehead.notices import tell

WIDTH = 100

#: String literals and comments, keywords, numbers, names that are not attributes.
_TOKEN = re.compile(
    r"""(?P<string>\"\"\".*?(?:\"\"\"|$)|\'\'\'.*?(?:\'\'\'|$)|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<comment>\#.*)|(?P<number>(?<![\w.])\d[\w.]*)|(?P<attribute>\.\s*[^\W\d]\w*)|(?P<name>[^\W\d]\w*)"""
)

#: Parts of remarks and the remedies, which `docs/explain.md` has, too.
REMEDIES = {
    "a float sum must keep its order": "`fastmath={'reassoc'}`: the result may differ in the last digits",
    "an iteration reads what an earlier one wrote": "another algorithm; such loops are serial",
    "an iteration needs a result of the one before": "a second pass, if the value can be computed from the index",
    "it calls a function that has no vector form": "take the call (text, lists, `print`) out of the loop",
    "it can be left from its middle": "`return`, `break` and `raise` in a loop: count first, decide after it",
    "an index check in it can raise": "check an index that is read from an array before the loop; `boundscheck=False`",
    "it is not known beforehand how often it runs": "a `for` loop in place of `while`",
    "it writes to memory in one branch only": "write always: `y[i] = new if found else y[i]`",
    "allocates in a loop": "of an array, make it once, before the loop, and store into it: `out[:] = a + b`; of texts, "
    "collect the parts in a list and join them once",
    "bytes of each iteration": "`checkpoint_loop` for long loops",
    "its iterations may depend on each other": "`lancehead help parallel-race` has the forms that are understood",
    "a variable carries a value": "set it at the start of each iteration, or combine by one operation: `s += x`",
    "`break` or `return` leaves it early": "set a flag, `found |= a[i] == x`, and decide after the loop",
    "is handled outside of it": "handle exceptions within the iteration",
    "is used after it": "compute it again, after the loop",
}


@dataclass(frozen=True)
class Note:
    """A remark about a line: `kind` is type, fused, parallel, serial, vectorised, scalar, replaced, hoisted, checks,
    allocates or derivative."""

    kind: str
    text: str

    @property
    def remedy(self) -> str | None:
        """The way to better code, if there is one."""
        return next((remedy for part, remedy in REMEDIES.items() if part in self.text), None)


@dataclass(frozen=True)
class Line:
    """A line of the source and what is said about it."""

    number: int
    text: str
    notes: Sequence[Note]


@dataclass(frozen=True)
class Function:
    """A function, its parameters with their types, and its source."""

    name: str
    params: Sequence[tuple[str, str]]
    result: str
    file: str
    lines: Sequence[Line]

    @property
    def headline(self) -> str:
        """Name and types."""
        return f"{self.name}({', '.join(f'{name}: {kind}' for name, kind in self.params)}) -> {self.result}"

    @property
    def place(self) -> str:
        """The file as it is shown: the number of a notebook's cell, or a path from the working directory if that is
        shorter."""
        return places.shown(self.file)

    def remedies(self) -> list[tuple[Note, str, str]]:
        """Each remedy with the first remark that it is for, and the lines of all such remarks."""
        found: dict[str, tuple[Note, list[int]]] = {}
        for line in self.lines:
            for note in line.notes:
                if note.remedy:
                    found.setdefault(note.remedy, (note, []))[1].append(line.number)
        return [
            (Note(note.kind, note.text.partition(";")[0]), _lines(numbers), remedy)
            for remedy, (note, numbers) in found.items()
        ]

    def types(self) -> dict[str, str]:
        """Types of variables; of one that has several, all."""
        found = {name: {kind: None} for name, kind in self.params}
        for line in self.lines:
            for note in line.notes:
                if note.kind == "type":
                    name, _, kind = note.text.partition(": ")
                    found.setdefault(name, {})[kind] = None
        return {name: " or ".join(kinds) for name, kinds in found.items()}


@dataclass(frozen=True)
class Section:
    """One specialisation: the function and those of the user's that it calls, size of the code, seconds of each
    stage."""

    functions: Sequence[Function]
    count: int
    size: int
    stages: Sequence[tuple[str, float]]

    @property
    def shown(self) -> Sequence[Function]:
        """The functions without those of this package, which stand between a derivative and the program's function."""
        package = os.path.dirname(__file__) + os.sep
        return [f for f in self.functions if not f.file.startswith(package)] or self.functions

    @property
    def summary(self) -> str:
        """Time and size in a line."""
        total = sum(seconds for _, seconds in self.stages)
        others = "" if self.count == 1 else f" for {self.count} functions"
        return f"compiled in {_milliseconds(total)}, {self.size:,} bytes of machine code{others}"

    def __str__(self) -> str:
        out = [line for f in self.shown for line in (*_function_text(f), "")]
        if self.stages:
            out += [self.summary, *_stages_text(self.stages), ""]
        return "\n".join(out)


#: The kinds of notes that `parallel_diagnostics` prints, each with the lowest level that includes it.
_LEVELS = {
    "parallel": 1,
    "serial": 1,
    "fused": 2,
    "hoisted": 3,
    "checks": 3,
    "vectorised": 4,
    "scalar": 4,
    "replaced": 4,
    "allocates": 4,
    "derivative": 1,
}


@dataclass(frozen=True)
class Report:
    """A report on a compiled function; prints as text, shows as HTML in notebooks and in files that `save` writes."""

    name: str
    sections: Sequence[Section]

    def __str__(self) -> str:
        if not self.sections:
            return self._nothing()
        return ("-" * WIDTH + "\n").join(f"{section}\n" for section in self.sections).rstrip() + "\n"

    def __repr__(self) -> str:
        return str(self).rstrip()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Writes the report with the printer of IPython, which indents all its lines within lists and dictionaries."""
        with printer.group():
            for number, line in enumerate(repr(self).splitlines()):
                if number:
                    printer.break_()
                printer.text(line)

    def _repr_html_(self) -> str:
        body = "".join(map(_section_html, self.sections)) or f"<p>{html.escape(self._nothing())}</p>"
        return f'<div class="lancehead-report"><style>{_STYLE}</style>{body}</div>'

    def save(self, file: Any) -> None:
        """Writes to a path, as HTML if its name ends in .html or .htm, or as text to an open file."""
        if hasattr(file, "write"):
            file.write(str(self))
            return
        path = os.fspath(file)
        with open(path, "w", encoding="utf-8") as out:
            out.write(self._page() if str(path).lower().endswith((".html", ".htm")) else str(self))

    def parallel(self, level: int = 1) -> str:
        """Lists the loops that run in parallel and those that do not, and why; levels up to 4 say more of each loop."""
        out = []
        for section in self.sections:
            first = section.functions[0]
            out += [f"Parallel loops of {first.headline}", "=" * WIDTH]
            told = [line for f in section.functions for line in _parallel_text(f, level)]
            out += [*(told or ["No loop or array expression that could run in parallel."]), ""]
        return "\n".join(out)

    def tell(self, level: int) -> None:
        """Prints that."""
        print(self.parallel(level), end="")

    def warn_if_serial(self) -> None:
        """Warns, as Numba does, where nothing runs in parallel although the decorator asks for it."""
        if config.DISABLE_PERFORMANCE_WARNINGS:
            return
        functions = [f for section in self.sections for f in section.functions]
        notes = [note for f in functions for line in f.lines for note in line.notes]
        if not any(note.kind in _LEVELS or "array(" in note.text for note in notes):
            text = (
                "The keyword argument 'parallel=True' was specified but no transformation for parallel execution was "
                f"possible: {self.name}"
            )
            tell(errors.NumbaPerformanceWarning(text))

    def _page(self) -> str:
        title = html.escape(self.name)
        head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
        body = f'<body style="margin: clamp(0.5rem, 3vw, 1.5rem); color-scheme: light dark">{self._repr_html_()}</body>'
        return f'<!doctype html><html lang="en"><head>{head}</head>{body}</html>\n'

    def _nothing(self) -> str:
        return f"{self.name} has not been compiled yet: call it first."


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


def _lines(numbers: Sequence[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, dict.fromkeys(numbers)))}"


def _function_text(f: Function) -> Iterator[str]:
    yield from textwrap.wrap(f.headline, WIDTH, subsequent_indent="    ")
    yield f.place
    yield ""
    column = min(max((len(line.text) for line in f.lines), default=0), 60)
    for line in f.lines:
        types = ", ".join(note.text for note in line.notes if note.kind == "type")
        yield f"{line.number:5}  {line.text:{column if types else 0}}{'  # ' if types else ''}{types}".rstrip()
        indent = " " * (7 + len(line.text) - len(line.text.lstrip()))
        for note in line.notes:
            if note.kind != "type":
                yield from textwrap.wrap(
                    note.text, WIDTH, initial_indent=f"{indent}^ ", subsequent_indent=f"{indent}  "
                )
    for number, (note, lines, remedy) in enumerate(f.remedies()):
        yield from [] if number else ["", "Remedies:"]
        text = f"{lines}, {note.text}: {remedy}"
        yield from textwrap.wrap(text, WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def _parallel_text(f: Function, level: int) -> Iterator[str]:
    for line in f.lines:
        notes = [note for note in line.notes if _LEVELS.get(note.kind, level + 1) <= level]
        if notes:
            yield f"{f.place}:{line.number}: {line.text.strip()}"
        for note in notes:
            yield from textwrap.wrap(note.text, WIDTH, initial_indent="    - ", subsequent_indent="      ")


def _stages_text(stages: Sequence[tuple[str, float]]) -> Iterator[str]:
    longest = max(seconds for _, seconds in stages)
    for name, seconds in stages:
        yield f"    {name:14}{_milliseconds(seconds):>12}  {'#' * round(40 * seconds / longest)}".rstrip()


def _section_html(section: Section) -> str:
    out = "".join(map(_function_html, section.shown))
    if section.stages:
        total = sum(seconds for _, seconds in section.stages)
        rows = "".join(_stage_html(name, seconds, seconds / total) for name, seconds in section.stages)
        out += f'<p>{html.escape(section.summary)}</p><div class="stages">{rows}</div>'
    return f"<section>{out}</section>"


def _stage_html(name: str, seconds: float, share: float) -> str:
    bar = f'<i style="width: {share * 100:.1f}%"></i>'
    return f"<span>{html.escape(name)}</span><span>{_milliseconds(seconds)}</span><span>{bar}</span>"


def _function_html(f: Function) -> str:
    types = f.types()
    rows = "".join(_line_html(line, types) for line in f.lines)
    longest = max((len(line.text) for line in f.lines), default=0)
    place = f"{f.place}:{f.lines[0].number}" if f.lines else f.place
    head = f"<header><code>{html.escape(f.headline)}</code><small>{html.escape(place)}</small></header>"
    remedies = "".join(
        f"<li>{_note_html(note)} {lines}: {_marked(remedy)}</li>" for note, lines, remedy in f.remedies()
    )
    remedies = remedies and f'<p>Remedies</p><ul class="remedies">{remedies}</ul>'
    return f'{head}<div class="source" style="--longest: {longest}">{rows}</div>{remedies}'


def _marked(text: str) -> str:
    """Text with code between backticks."""
    return re.sub("`(.*?)`", r"<code>\1</code>", html.escape(text, quote=False))


def _note_html(note: Note) -> str:
    return f'<span class="{note.kind}">{html.escape(note.text)}</span>'


def _line_html(line: Line, types: dict[str, str]) -> str:
    indent = len(line.text) - len(line.text.lstrip())
    code = f"<pre>{_code_html(line.text, types)}</pre>"
    notes = "".join(map(_note_html, line.notes))
    notes = notes and f'<div class="notes">{notes}</div>'
    return f'<b>{line.number}</b><div class="line" style="--indent: {indent}">{code}{notes}</div>'


def _code_html(text: str, types: dict[str, str]) -> str:
    """The line with its tokens coloured, and the type of every variable in its hover text."""
    out, end = [], 0
    for token in _TOKEN.finditer(text):
        out.append(html.escape(text[end : token.start()]))
        end, word, kind = token.end(), token.group(), token.lastgroup
        shown = html.escape(word)
        if kind == "name" and keyword.iskeyword(word):
            shown = f'<span class="keyword">{shown}</span>'
        elif kind == "name" and word in types:
            shown = f'<span class="variable" title="{html.escape(f"{word}: {types[word]}")}">{shown}</span>'
        elif kind in ("string", "comment", "number"):
            shown = f'<span class="{kind}">{shown}</span>'
        out.append(shown)
    return "".join(out) + html.escape(text[end:])


_LIGHT = """{
  --text: #1f2328; --faint: #656d76; --line: #d0d7de; --ground: #f6f8fa; --keyword: #cf222e; --string: #0a3069;
  --number: #0550ae; --good: #1a7f37; --bad: #bc4c00; --warn: #8250df; --info: #0969da;
}"""
_DARK = """{
  --text: #d8dee4; --faint: #8b949e; --line: #30363d; --ground: #161b22; --keyword: #ff7b72; --string: #a5d6ff;
  --number: #79c0ff; --good: #56d364; --bad: #f0883e; --warn: #d2a8ff; --info: #79c0ff;
}"""
# Notebooks have a theme of their own, which need not be the computer's.
_STYLE = f"""
.lancehead-report {_LIGHT}
.lancehead-report {{ color: var(--text); font: 14px/1.5 system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{ .lancehead-report {_DARK} }}
[data-jp-theme-light="true"] .lancehead-report {_LIGHT}
[data-jp-theme-light="false"] .lancehead-report {_DARK}
.lancehead-report {{ display: flex; flex-wrap: wrap; gap: 0 1em; align-items: flex-start; }}
.lancehead-report section {{
  flex: 1 1 44em; min-width: 0; box-sizing: border-box;
  background: var(--ground); border: 1px solid var(--line); border-radius: 8px; margin: 0 0 1em; padding: 0.8em 1em;
}}
.lancehead-report header code {{
  color: var(--text); background: none; font-weight: 600; font-size: 13px; overflow-wrap: anywhere;
}}
.lancehead-report header small {{ display: block; color: var(--faint); }}
.lancehead-report .source {{
  display: grid; grid-template-columns: max-content minmax(0, 1fr); column-gap: 1em; margin: 0.6em 0 1em;
}}
.lancehead-report .source b {{
  color: var(--faint); font: 12px/20px ui-monospace, monospace; text-align: right; border-right: 1px solid var(--line);
  padding-right: 0.7em; user-select: none;
}}
.lancehead-report .line {{
  --code: calc((var(--longest) + 1) * 1ch); --gap: 1em; --remarks: 20em;
  display: flex; flex-wrap: wrap; column-gap: var(--gap); font: 13px/20px ui-monospace, monospace;
}}
.lancehead-report pre {{
  --hang: calc(min(var(--indent) + 4, max(var(--indent), 12), 20) * 1ch);
  flex: 0 1 var(--code); min-width: 0; max-width: 100%; box-sizing: border-box; min-height: 20px;
  margin: 0; padding: 0 0 0 var(--hang); text-indent: calc(-1 * var(--hang)); background: none; color: var(--text);
  font: inherit; white-space: pre-wrap; overflow-wrap: anywhere;
}}
/* Beside the code if the longest line leaves room, else below it and as far from the left. */
.lancehead-report .notes {{
  flex: 1 1 var(--remarks); min-width: 0; display: flex; flex-wrap: wrap; gap: 2px 6px; align-items: flex-start;
  margin-left: clamp(
    0px, (var(--code) + var(--gap) + var(--remarks) - 100%) * 999, min(var(--indent) * 1ch, 20%)
  );
}}
.lancehead-report :is(.notes, .remedies) span {{
  --tint: var(--faint); font: 12px/18px system-ui, sans-serif; padding: 0 7px; border-radius: 9px; color: var(--tint);
  background: color-mix(in srgb, var(--tint) 12%, transparent); margin: 1px 0; overflow-wrap: anywhere;
}}
.lancehead-report .notes .type {{ font-family: ui-monospace, monospace; background: none; padding: 0; }}
.lancehead-report :is(.notes, .remedies) :is(.vectorised, .parallel) {{ --tint: var(--good); }}
.lancehead-report :is(.notes, .remedies) :is(.fused, .hoisted) {{ --tint: var(--info); }}
.lancehead-report :is(.notes, .remedies) :is(.scalar, .serial) {{ --tint: var(--bad); }}
.lancehead-report :is(.notes, .remedies) :is(.checks, .allocates) {{ --tint: var(--warn); }}
.lancehead-report .variable {{
  cursor: help; text-decoration: underline dotted var(--faint); text-underline-offset: 3px;
}}
.lancehead-report .keyword {{ color: var(--keyword); }}
.lancehead-report .string {{ color: var(--string); }}
.lancehead-report .number {{ color: var(--number); }}
.lancehead-report .comment {{ color: var(--faint); font-style: italic; }}
.lancehead-report .remedies {{ margin: 0 0 1em; padding: 0; list-style: none; font-size: 13px; }}
.lancehead-report .remedies span {{ display: inline-block; max-width: 100%; box-sizing: border-box; }}
.lancehead-report .remedies code {{ color: var(--text); background: none; font: 12px ui-monospace, monospace; }}
.lancehead-report p {{ margin: 0 0 0.3em; color: var(--faint); }}
.lancehead-report .stages {{
  display: grid; grid-template-columns: max-content max-content minmax(6em, 24em); column-gap: 1em; align-items: center;
  font-size: 12px; line-height: 18px; color: var(--faint);
}}
.lancehead-report .stages span:nth-child(3n + 2) {{ text-align: right; font-variant-numeric: tabular-nums; }}
.lancehead-report .stages i {{
  display: block; height: 8px; min-width: 1px; border-radius: 2px; background: var(--info);
}}
"""
