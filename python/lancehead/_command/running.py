"""`lancehead run`: a script, module, text or the standard input, run as Python would, with numba served by
lancehead."""

from __future__ import annotations

import importlib.abc
import importlib.util
import linecache
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, TracebackType

from lancehead._command import serve

#: Exit status of a program that was stopped by Ctrl-C, as shells have it.
_INTERRUPTED = 130


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Runs a file, as `python script arguments`."""
    if not Path(script).exists():
        return _refused(f"there is no file {script}")
    if Path(script).is_file():
        sys.path[0:1] = [str(Path(script).resolve().parent)]
    return _run(lambda: runpy.run_path(script, run_name="__main__"), [script, *arguments])


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Runs a module, as `python -m name arguments`."""
    sys.path[0:1] = [os.getcwd()]
    serve.install()
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        return _refused(f"there is no module {name}")
    return _run(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True), [name, *arguments])


def run_text(text: str, file: str, name: str, arguments: Sequence[str]) -> int:
    """Runs a program that has no file, as `python -c text arguments` or `python - arguments`."""
    sys.path[0:1] = [""]
    # Diagnostics and tracebacks show its lines.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules["__main__"] = ModuleType("__main__")
    return _run(lambda: _Text(text, file).exec_module(module), [name, *arguments])


class _Text(importlib.abc.InspectLoader):
    """The loader of a program that has no file."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        return self.source_to_code(self.text, self.file)


def _run(program: Callable[[], object], arguments: list[str]) -> int:
    serve.install()
    sys.argv[:] = arguments
    try:
        program()
    except KeyboardInterrupt as error:
        _show(error)
        return _INTERRUPTED
    except Exception as error:
        _show(error)
        return 1
    return 0


def _show(error: BaseException) -> None:
    """Shows an exception as Python would if it had run the program itself."""
    error.__traceback__ = _own(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)


def _own(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that lead to the program."""
    while traceback is not None and _is_ours(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    return traceback


def _is_ours(file: str) -> bool:
    return file == __file__ or file.startswith("<frozen ")


def _refused(why: str) -> int:
    print(f"lancehead run: {why}", file=sys.stderr)
    return 2
