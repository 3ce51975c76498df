"""Writes a list of LLVM's functions that compilations run, those that most of them run first, given an extension
module with symbols. `make order` runs it, for each version of LLVM:

    python xtask/order.py python/lancehead/_core.*.so target/order.txt

The linker lays them side by side (`crates/lh-py/build.rs`), so that few pages of the module are in memory when
something is compiled, and very few when nothing is. Breakpoints tell which functions run: a copy of the module has one
at the entry of each function, the first hit notes the function and removes it. The list is empty where there is no
ptrace for x86-64 Linux, and where a process may not trace its child. Functions of Rust are left out: their names have
hashes, of the compiler and of the dependencies among others, and hold for one build.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Of <sys/ptrace.h>, <sys/reg.h> and <sys/wait.h>. FOLLOW is new processes and threads, and their end when this one
# ends.
TRACEME, PEEKUSER, POKEUSER, CONT, SETOPTIONS = 0, 3, 6, 7, 0x4200
FOLLOW, RIP, WALL, BREAKPOINT = 0x10000E, 16 * 8, 0x40000000, 0xCC

ptrace = ctypes.CFUNCTYPE(*[ctypes.c_long] * 5)(("ptrace", ctypes.CDLL(None)))


class Module:
    """A copy of the package whose extension module has a breakpoint in each function."""

    def __init__(self, built: Path, folder: Path) -> None:
        self.path = folder / "lancehead/_core.so"
        self.code = built.read_bytes()
        read = subprocess.run(["readelf", "-lsW", built], check=True, capture_output=True, text=True).stdout
        place, address = re.findall(r"LOAD +(\S+) (\S+) .* R E ", read)[0]
        self.shift = int(address, 16) - int(place, 16)
        #: One name of the function at an address.
        self.names = {
            int(at, 16): name for at, name in re.findall(r"([0-9a-f]{16}) +\d+ FUNC +\w+ +\w+ +\d+ (\S+)", read)
        }
        #: Where threads have the module; what they have is looked up again when it does not fit.
        self.bases: dict[int, int] = {}
        patched = bytearray(self.code)
        for address in self.names:
            patched[address - self.shift] = BREAKPOINT
        shutil.copytree(ROOT / "python/lancehead", self.path.parent, ignore=shutil.ignore_patterns("*.so", "*.a"))
        self.path.write_bytes(patched)

    def entered(self, thread: int) -> str | None:
        """The function at whose breakpoint the thread is; it goes on without."""
        place = ptrace(PEEKUSER, thread, RIP, 0) - 1
        if place - self.bases.get(thread, 0) not in self.names:
            maps = Path(f"/proc/{thread}/maps").read_text().splitlines()
            self.bases[thread] = next(
                (int(line.split("-")[0], 16) for line in maps if line.endswith(str(self.path))), 0
            )
        address = place - self.bases[thread]
        if address in self.names:
            with open(f"/proc/{thread}/mem", "r+b", buffering=0) as memory:
                memory.seek(place)
                memory.write(bytes([self.code[address - self.shift]]))
            ptrace(POKEUSER, thread, RIP, place)
        return self.names.get(address)

    def trace(self, arguments: list[str], environment: dict[str, str]) -> set[str]:
        """The functions that a Python program and its children run."""
        first = os.fork()
        if not first:
            ptrace(TRACEME, 0, 0, 0)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execve(sys.executable, [sys.executable, *arguments], os.environ | environment)
        os.waitpid(first, 0)
        ptrace(SETOPTIONS, first, 0, FOLLOW)
        ptrace(CONT, first, 0, 0)
        found = set()
        while True:
            try:
                thread, status = os.waitpid(-1, WALL)
            except ChildProcessError:
                return found - {None}
            if os.WIFSTOPPED(status):
                if status >> 8 == signal.SIGTRAP:
                    found.add(self.entered(thread))
                deliver = os.WSTOPSIG(status)
                ptrace(CONT, thread, 0, 0 if deliver in (signal.SIGTRAP, signal.SIGSTOP) else deliver)
            elif thread == first and status:
                print(f"order: {arguments} ended with status {status}", file=sys.stderr)
                return set()


def order(module: Module, folder: str) -> list[str]:
    """Names of functions, in order: of loading, of running what the cache has, of compiling."""
    demo = sorted(path.stem for path in (ROOT / "python/lancehead/demo/programs").glob("[a-z]*.py"))
    environment = {"PYTHONPATH": folder, "LANCEHEAD_CACHE": "1", "LANCEHEAD_CACHE_DIR": f"{folder}/cache"}
    loading = module.trace(["-c", "import lancehead"], environment)
    #: In how many programs a function ran: when compiled code came from the cache, and otherwise.
    kept, compiled = Counter[str](), Counter[str]()
    for name in demo:
        command = ["-m", "lancehead", "demo", "--quick", "--only", name]
        compiled.update(module.trace(command, environment))
        kept.update(module.trace(command, environment))
    # All but the one that wants to be told where to write.
    programs = sorted(p for p in (ROOT / "examples/cpu").glob("*.py") if p.stem != "make_pictures")
    for program in programs:
        compiled.update(module.trace([str(program)], {"PYTHONPATH": folder}))

    def level(name: str) -> int:
        # Eighths of all programs: a function seldom changes its place when the list is written again.
        often = 2 * kept[name] > len(demo)
        return 0 if name in loading else 1 if often else 10 - compiled[name] * 8 // (len(demo) + len(programs))

    found = [name for name in loading | kept.keys() | compiled.keys() if not re.search(r"17h[0-9a-f]{16}E|^_R", name)]
    return sorted(found, key=lambda name: (level(name), name))


def main() -> None:
    built, out = map(Path, sys.argv[1:])
    names: list[str] = []
    if sys.platform == "linux" and platform.machine() == "x86_64":
        with tempfile.TemporaryDirectory() as folder:
            names = order(Module(built, Path(folder)), folder)
    out.write_text("".join(f"{name}\n" for name in names))
    print(f"order: {len(names)} functions" if names else "order: functions stay as LLVM's archives have them")


if __name__ == "__main__":
    main()
