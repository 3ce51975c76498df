"""Runs the blocks of a page of the documentation, each alone: `python doc_blocks.py PAGE`, in an empty folder.

- A block of Python runs in a namespace of its own. `print(...)  # text` says which line is printed. A statement with
  `# raises: Name` must raise that exception; after a second colon stands a part of its message.
- A block whose first line is `# name.py` or `/* name.c */` becomes that file. Python files run as programs.
- Blocks of shell commands after the comment `<!-- run -->` run in the folder. Text that a page shows after
  `<!-- prints -->` is a part of what the block before it has printed or raised; `...` stands for anything.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import traceback
import types
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^(?:<!-- (?P<mark>\w+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"print\(.*\)\s+# (.*)")
RAISES = re.compile(r"# raises: (\w+)(?:: (.*))?$")


class Block(NamedTuple):
    """A fenced block: the line of its fence, the comment before it, its language and text."""

    line: int
    mark: str
    language: str
    text: str

    @property
    def file(self) -> str:
        """The file that the block is, by its first line; empty if it is none."""
        found = re.match(r"(?:# |/\* )(\w+\.(?:py|c))(?: \*/)?\n", self.text)
        return found[1] if found else ""


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page."""
    found = []
    for match in FENCE.finditer(page):
        line = page.count("\n", 0, match.start("language")) + 1
        found.append(Block(line, match["mark"] or "", match["language"], match["text"]))
    return found


def expect_lines(text: str, printed: str) -> None:
    """Looks for the lines that the comments of a block announce, in order."""
    lines = iter(printed.splitlines())
    for wanted in PRINTED.findall(text):
        if wanted not in lines:
            raise AssertionError(f"does not print, at this point: {wanted}\nprinted:\n{printed}")


def run_statement(node: ast.stmt, source: list[str], namespace: dict[str, object], name: str) -> str:
    """Runs one statement of a block; gives the message of the exception that it announces."""
    announced = RAISES.search(source[node.end_lineno - 1])
    code = compile(ast.Module([node], []), name, "exec")
    if not announced:
        exec(code, namespace)
        return ""
    try:
        exec(code, namespace)
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        if announced[1] in kinds and (announced[2] or "") in str(error):
            return f"{type(error).__module__}.{type(error).__qualname__}: {error}\n"
        raise
    raise AssertionError(f"line {node.lineno} of the block does not raise {announced[1]}")


def run_python(block: Block, page: str) -> str:
    """Runs a block in a namespace of its own; gives what it printed, and messages of announced exceptions."""
    path = Path(f"{page}_{block.line}.py").resolve()
    path.write_text(block.text, encoding="utf-8")
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    shown, messages = io.StringIO(), []
    source = block.text.splitlines()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        for node in ast.parse(block.text).body:
            messages.append(run_statement(node, source, module.__dict__, str(path)))
    expect_lines(block.text, shown.getvalue())
    return shown.getvalue() + "".join(messages)


def run_file(block: Block) -> str:
    """Writes a block's file; a program in Python is run."""
    Path(block.file).write_text(block.text, encoding="utf-8")
    if not block.file.endswith(".py"):
        return ""
    done = run_command([sys.executable, block.file])
    expect_lines(block.text, done)
    return done


def run_command(command: list[str]) -> str:
    """Runs a program in the folder; gives what it wrote."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240)
    if done.returncode:
        raise AssertionError(f"{command} gives {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def run_block(block: Block, page: str, before: str) -> str:
    """Runs a block, if it can be run; gives what it showed."""
    if block.file:
        return run_file(block)
    if block.language in ("py", "python"):
        return run_python(block, page)
    if block.mark == "run":
        return run_command(["sh", "-e", "-c", block.text])
    if block.mark == "prints":
        missing = [
            line for line in block.text.splitlines() if any(part.rstrip() not in before for part in line.split("..."))
        ]
        if missing:
            raise AssertionError(f"the block before does not show: {missing}\nit shows:\n{before}")
    return before


def main(path: Path) -> int:
    """Runs a page; says which blocks failed."""
    failed, before = 0, ""
    for block in blocks(path.read_text(encoding="utf-8")):
        try:
            before = run_block(block, path.stem.replace("-", "_"), before)
        except Exception:
            failed += 1
            print(f"--- {path.name}, line {block.line}\n{traceback.format_exc()}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
