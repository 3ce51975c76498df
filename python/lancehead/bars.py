"""`progress`: a bar of how far a loop is, in compiled code and in Python.

Compiled code counts down the rounds to the next call into Python, which draws and says after how many rounds it is to
be called again: a tenth of a second later.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import inspect
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

from lancehead import types
from lancehead.decorators import njit
from lancehead.errors import TypingError
from lancehead.extending import overload
from lancehead.objectmode import objmode
from lancehead.options import public, suggestion

T = TypeVar("T")

__all__ = ["progress"]
public(globals())

#: Seconds between two drawings.
_PAUSE = 0.1
_WIDTH = 30


class _Plain:
    """A bar of characters; without a terminal, its last state alone."""

    def __init__(self, total: int | None, description: str, leave: bool | None) -> None:
        self.total, self.description, self.leave = total, description, leave
        self.at, self.start, self.drawn = 0, time.perf_counter(), 0.0
        self.lives = sys.stderr.isatty() or "ipykernel" in sys.modules

    def text(self) -> str:
        took = f"{time.perf_counter() - self.start:.1f} s"
        head = f"{self.description}: " if self.description else ""
        if not self.total:
            return f"{head}{self.at} {took}"
        part = min(self.at / self.total, 1.0)
        bar = ("#" * int(part * _WIDTH)).ljust(_WIDTH)
        return f"{head}{part:4.0%} |{bar}| {self.at}/{self.total} {took}"

    def update(self, rounds: int) -> None:
        self.at += rounds
        now = time.perf_counter()
        if self.lives and now - self.drawn > _PAUSE / 2:
            self.drawn = now
            print(f"\r{self.text()}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.leave is not False:
            print(f"\r{self.text()}" if self.lives else self.text(), file=sys.stderr, flush=True)
        elif self.lives:
            print(f"\r{' ' * len(self.text())}\r", end="", file=sys.stderr, flush=True)


class _Rich:
    """A bar of Rich, below those of the loops around."""

    shown: Any = None
    count = 0

    def __init__(self, rich: Any, total: int | None, description: str, leave: bool | None) -> None:
        if _Rich.count == 0:
            console = importlib.import_module("rich.console").Console(stderr=True)
            columns = (*rich.Progress.get_default_columns(), rich.MofNCompleteColumn())
            _Rich.shown = rich.Progress(*columns, console=console, auto_refresh=False, transient=leave is False)
            _Rich.shown.start()
        _Rich.count += 1
        self.task = _Rich.shown.add_task(description, total=total)

    def update(self, rounds: int) -> None:
        _Rich.shown.update(self.task, advance=rounds, refresh=True)

    def close(self) -> None:
        _Rich.count -= 1
        if _Rich.count == 0:
            _Rich.shown.stop()
        else:
            _Rich.shown.remove_task(self.task)


def _drawn(total: int | None, description: str, leave: bool | None) -> Any:
    """A bar of the first package that is installed."""
    try:
        # The class for notebooks warns where its widgets are missing.
        name = "tqdm.auto" if "ipykernel" in sys.modules and _has("ipywidgets") else "tqdm.std"
        kind = importlib.import_module(name).tqdm
        # It moves ten times in a second: tqdm's thread for bars that do not is left out. A Ctrl-C that came while tqdm
        # takes its lock would make the end of the program wait for it.
        bar = type(kind.__name__, (kind,), {"monitor_interval": 0})(total=total, desc=description or None)
        # Widgets do not know `None`, by which others leave outer bars alone.
        bar.leave = bar.pos == 0 if leave is None else leave
        return bar
    except ImportError:
        pass
    try:
        return _Rich(importlib.import_module("rich.progress"), total, description, leave)
    except ImportError:
        return _Plain(total, description, leave)


def _has(module: str) -> bool:
    return importlib.import_module("importlib.util").find_spec(module) is not None


class _Bar:
    """A bar, and the pace of its loop."""

    def __init__(self, total: int | None, description: str, place: Any, leave: bool | None = None) -> None:
        self.drawn = _drawn(total, description, leave)
        self.total, self.place = total, place
        self.at, self.part, self.last = 0, 1, time.perf_counter()

    def moved(self) -> int:
        """Draws the rounds since the last call, and gives the number of those until the next one."""
        now = time.perf_counter()
        self.drawn.update(self.part)
        self.at += self.part
        took, self.last = now - self.last, now
        # Rounds may become slower: so many more are waited for only.
        faster = _PAUSE / took if took > 0.0 else 10.0
        self.part = max(int(self.part * min(max(faster, 0.1), 10.0)), 1)
        return self.part

    def close(self, left: int) -> None:
        """Draws the last rounds, of which some were not run."""
        if self.part > left:
            self.drawn.update(self.part - left)
        self.drawn.close()


_open: dict[int, _Bar] = {}
_numbers = itertools.count()
_lock = threading.Lock()


def _place() -> tuple[int, int, int]:
    """The call from Python below which compiled code runs."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals is globals():
        frame = frame.f_back
    return threading.get_ident(), id(frame), frame.f_lasti


def _begun(total: int, description: str, leave: bool | None, disable: bool | None) -> int:
    """The number of a new bar, -1 for none. Those of loops that other calls of the thread have left, as by `break`, are
    closed."""
    if disable:
        return -1
    place = _place()
    _close(lambda bar: bar.place[0] == place[0] and bar.place != place)
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and _end_cell not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", _end_cell)
    number = next(_numbers)
    _open[number] = _Bar(total if total >= 0 else None, description, place, leave)
    return number


def _moved(number: int) -> int:
    bar = _open.get(number)
    return bar.moved() if bar is not None else 1 << 62


def _ended(number: int, left: int) -> None:
    bar = _open.pop(number, None)
    if bar is not None:
        bar.close(left)


def _close(is_left: Callable[[_Bar], bool]) -> None:
    """Closes bars of loops that were left."""
    with _lock:
        bars = [_open.pop(number) for number, bar in list(_open.items()) if is_left(bar)]
    for bar in bars:
        bar.drawn.close()


def _end_cell(*_: Any) -> None:
    """Closes the bars of loops that a cell of a notebook, or a line of IPython, has left."""
    _close(lambda bar: bar.place[0] == threading.get_ident())


atexit.register(_close, lambda bar: True)


def progress(
    items: Iterable[T], description: str | None = "", total: int | None = None, leave: bool | None = None,
    disable: bool | None = False, desc: str | None = None,
) -> Iterator[T]:  # fmt: skip
    """The items, with a bar on the error output that says how far the loop over them is.

    It is drawn by tqdm or Rich if one is installed, else by characters, about ten times in a second. In compiled code a
    round costs less than a nanosecond more. `total` is the number of items, by default `len(items)`. With `leave=False`
    the bar is gone after the loop, by default if it is an inner one; with `disable=True` there is none. `desc` is
    tqdm's name for the description.

    >>> from lancehead import njit, progress
    >>> @njit
    ... def total(n):
    ...     s = 0.0
    ...     for i in progress(range(n), "adding"):
    ...         s += i
    ...     return s
    >>> total(10)
    45.0
    """
    if disable:
        yield from items
        return
    count = len(items) if total is None and isinstance(items, Sized) else total
    bar = _Bar(count, desc or description or "", None, leave)
    left = 1
    try:
        for item in items:
            yield item
            left -= 1
            if left == 0:
                left = bar.moved()
    finally:
        bar.close(left)


def _length(items: Any) -> int:
    """The number of items; -1 if they have none, as generators."""
    return len(items) if isinstance(items, Sized) else -1


@overload(_length)
def _typed_length(items):  # type: ignore[no-untyped-def]
    if items.kind == "Generator":
        return lambda items: -1
    return lambda items: len(items)


def _counted(items: Any, description: Any, total: Any, leave: Any, disable: Any) -> Any:
    """The loop of compiled code."""
    size = _length(items) if total is None else total
    with objmode(bar="int64"):
        bar = _begun(size, description or "", leave, disable)
    left = 1
    for item in items:
        yield item
        left -= 1
        if left == 0:
            with objmode(left="int64"):
                left = _moved(bar)
    with objmode():
        _ended(bar, left)


counted = njit(_counted)


def _refusing(form: Any) -> Any:
    """Lets the form of a bar refuse keywords that compiled code does not have."""

    @functools.wraps(form)
    def refuse(*args: Any, **named: Any) -> Any:
        known, bar = inspect.signature(form).parameters, form.__name__[1:]
        for name in named.keys() - known:
            instead = suggestion(name, known) or "; leave it out, or loop in Python"
            raise TypingError(f"in compiled code `{bar}` has no argument `{name}`{instead}")
        return form(*args, **named)

    return refuse


def _check(bar: str, items: Any) -> None:
    """Refuses what is no loop, and says what to write."""
    if items is None or isinstance(items, (types.NoneType, types.Integer)):
        raise TypingError(f"a bar is of a loop over something: write `for i in {bar}(range(n))`")


@overload(progress)
@_refusing
def _progress(items, description="", total=None, leave=None, disable=False, desc=None):  # type: ignore[no-untyped-def]
    _check("progress", items)

    def impl(items, description="", total=None, leave=None, disable=False, desc=None):  # type: ignore[no-untyped-def]
        return counted(items, description if desc is None else desc, total, leave, disable)

    return impl


def serve(bar: Any) -> None:
    """Says what compiled code does for a class of tqdm."""

    @overload(bar)
    @_refusing
    def _tqdm(iterable=None, desc=None, total=None, leave=None, disable=False):  # type: ignore[no-untyped-def]
        _check("tqdm", iterable)

        def impl(iterable=None, desc=None, total=None, leave=None, disable=False):  # type: ignore[no-untyped-def]
            return counted(iterable, desc, total, leave, disable)

        return impl
