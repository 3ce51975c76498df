"""`lancehead info`: what a bug report needs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from lancehead import _core

OTHERS = ("scipy", "numba", "cloudpickle", "IPython")


def lines() -> list[str]:
    """The report, one fact per line."""
    facts = [
        ("lancehead", _core.__version__),
        *build_facts(),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()}, {platform.python_compiler()})"),
        ("executable", sys.executable),
        ("NumPy", np.__version__),
        *((name, version) for name in OTHERS if (version := installed(name))),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}, {' '.join(platform.libc_ver())}"),
        ("CPU", processor()),
        ("CPUs", f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}"),
        ("memory", memory()),
        *((name, value) for name, value in sorted(os.environ.items()) if name.startswith("LANCEHEAD_")),
    ]
    width = max(len(name) for name, _ in facts)
    return [f"{name:<{width}}  {value}" for name, value in facts]


def build_facts() -> list[tuple[str, Any]]:
    """The build facts of the extension module: LLVM, target machine, cache folder."""
    return [(name.replace("_", " "), value) for name, value in _core.build_info().items()]


def installed(name: str) -> str | None:
    """Version of an installed package."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """The processor's name for people."""
    return field(Path("/proc/cpuinfo"), "model name") or platform.processor() or platform.machine()


def memory() -> str:
    """Installed memory."""
    kilobytes = (field(Path("/proc/meminfo"), "MemTotal") or "0 kB").split()[0]
    return f"{int(kilobytes) / 2**20:.1f} GiB"


def field(path: Path, name: str) -> str | None:
    """The first `name: value` of a file of the kernel."""
    if not path.exists():
        return None
    for line in path.read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None
