"""Signals: functions of `scipy.signal` over the memory of arrays, where SciPy is installed."""

from __future__ import annotations

from typing import Any

from lancehead.cupy.hosted import names_of, of_module


def __getattr__(name: str) -> Any:
    return of_module("scipy.signal", name)


def __dir__() -> list[str]:
    return names_of("scipy.signal")
