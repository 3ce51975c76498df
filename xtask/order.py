"""Writes crates/lh-py/order.txt: the functions that compilations run, those that most of them run first.

    cargo rustc --release --package lh-py -- -C strip=none
    python xtask/order.py target/release/lib_core.so

The linker lays them side by side (`crates/lh-py/build.rs`), so that few pages of the module are in memory when something is compiled, and very few when nothing is. Which functions run is seen
by breakpoints: a copy of the module has one at the entry of each function, the first hit notes the function and removes it. Linux on x86-64 only. LLVM's names stay from build to build; Rust's
have hashes of the compiler and of the dependencies' versions: with others, Rust's functions lie where they lay without the list until it is written again.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "crates/lh-py/order.txt"
# Of <sys/ptrace.h>, <sys/reg.h> and <sys/wait.h>. FOLLOW is new processes and threads, and their end when this one ends.
TRACEME, PEEKUSER, POKEUSER, CONT, SETOPTIONS = 0, 3, 6, 7, 0x4200
FOLLOW, RIP, WALL = 0x10000E, 16 * 8, 0x40000000
BREAKPOINT = 0xCC
# Suites that run what programs of the demo do not, in files of tests/.
SUITES = ["python/test_ufuncs.py", "python/test_stencils.py", "python/test_parallel.py", "python/test_lib_doctests.py", "python/test_cuda_kernels.py", "cuda/test_ptx.py"]

ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long] * 4
ptrace.restype = ctypes.c_long


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Module:
    """A copy of the package whose extension module has a breakpoint in each function."""

    def __init__(self, built: Path, folder: Path) -> None:
        self.path = folder / "lancehead/_core.so"
        self.code = built.read_bytes()
        segment = re.search(r"LOAD +(\S+) (\S+) .* R E ", output("readelf", "-lW", built))
        assert segment, f"{built} has no code"
        #: Where threads have the module; what they have is looked up again when it does not fit.
        self.bases: dict[int, int] = {}
        #: Addresses less places in the file.
        self.shift = int(segment[2], 16) - int(segment[1], 16)
        #: One name of the function at an address.
        self.names = {
            int(address, 16): name
            for address, name in re.findall(r"([0-9a-f]{16}) +\d+ FUNC +\w+ +\w+ +\d+ (\S+)", output("readelf", "-sW", built))
        }
        patched = bytearray(self.code)
        for address in self.names:
            patched[address - self.shift] = BREAKPOINT
        shutil.copytree(ROOT / "python/lancehead", self.path.parent, ignore=shutil.ignore_patterns("*.so", "*.a"))
        self.path.write_bytes(patched)

    def address(self, thread: int, place: int) -> int | None:
        """The function whose breakpoint is at this place of the thread's memory."""
        if place - self.bases.get(thread, 0) not in self.names:
            maps = Path(f"/proc/{thread}/maps").read_text().splitlines()
            self.bases[thread] = next((int(line.split("-")[0], 16) for line in maps if line.endswith(str(self.path))), 0)
        address = place - self.bases[thread]
        return address if address in self.names else None

    def remove(self, thread: int, place: int, address: int) -> None:
        with open(f"/proc/{thread}/mem", "r+b", buffering=0) as memory:
            memory.seek(place)
            memory.write(self.code[address - self.shift : address - self.shift + 1])
        ptrace(POKEUSER, thread, RIP, place)

    def trace(self, arguments: list[str], environment: dict[str, str]) -> set[str]:
        """The functions that a Python program and its children run."""
        first = os.fork()
        if not first:
            ptrace(TRACEME, 0, 0, 0)
            os.execve(sys.executable, [sys.executable, *arguments], {**os.environ, **environment})
        os.waitpid(first, 0)
        ptrace(SETOPTIONS, first, 0, FOLLOW)
        ptrace(CONT, first, 0, 0)
        found = set()
        while True:
            try:
                thread, status = os.waitpid(-1, WALL)
            except ChildProcessError:
                return found
            if not os.WIFSTOPPED(status):
                if thread == first and status:
                    print(f"{arguments} ended with status {status}", file=sys.stderr)
                continue
            deliver = os.WSTOPSIG(status)
            if status >> 8 == signal.SIGTRAP:
                place = ptrace(PEEKUSER, thread, RIP, 0) - 1
                if (address := self.address(thread, place)) is not None:
                    found.add(self.names[address])
                    self.remove(thread, place, address)
            ptrace(CONT, thread, 0, 0 if deliver in (signal.SIGTRAP, signal.SIGSTOP) else deliver)


def programs() -> list[list[str]]:
    demo = sorted(path.stem for path in (ROOT / "python/lancehead/demo/programs").glob("[a-z]*.py"))
    pages = [str(path) for path in [*sorted((ROOT / "tests/lang").glob("*.md")), *(ROOT / "tests" / name for name in SUITES)]]
    return [
        *(["-m", "lancehead", "demo", "--quick", "--only", name] for name in demo),
        *([str(path)] for path in sorted((ROOT / "examples").rglob("*.py"))),
        *(["-m", "pytest", "-q", "-p", "no:cacheprovider", page] for page in pages),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        module = Module(Path(sys.argv[1]), Path(folder))
        environment = {"PYTHONPATH": folder}
        keeping = {**environment, "LANCEHEAD_CACHE": "1", "LANCEHEAD_CACHE_DIR": f"{folder}/cache"}
        loading = module.trace(["-c", "import lancehead"], environment)
        #: In how many programs a function ran: when compiled code came from the cache, and otherwise.
        kept, compiled = Counter[str](), Counter[str]()
        all_programs = programs()
        for program in all_programs:
            compiled.update(module.trace(program, environment))
            if "demo" in program:
                module.trace(program, keeping)
                kept.update(module.trace(program, keeping))
    often = {name for name, count in kept.items() if 2 * count > max(kept.values())}

    def level(name: str) -> int:
        # Eighths of all programs: a function seldom changes its place when the list is written again.
        return 0 if name in loading else 1 if name in often else 10 - compiled[name] * 8 // len(all_programs)

    names = sorted(loading | kept.keys() | compiled.keys(), key=lambda name: (level(name), name))
    LIST.write_text("".join(f"{name}\n" for name in names))
    print(f"{len(names)} functions: {len(loading)} of loading, {len(often - loading)} of code from the cache")


if __name__ == "__main__":
    main()
