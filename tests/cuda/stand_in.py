"""A GPU for tests, without one: a library that stands in for NVIDIA's driver. It returns the PTX of each launch, which
is lifted and runs on the CPU device with the parameters that the driver was given.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import subprocess
import sysconfig
import threading
import traceback
from pathlib import Path
from typing import Any

from lancehead import _core
from lancehead.cuda import devices, gpu

_TAGS = range(0x10, 0x14)
_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint), ctypes.c_uint,
    ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(ctypes.c_uint64)),
)  # fmt: skip


def _plain(word: int) -> int:
    return word & ~(0xFF << 56) if word >> 56 in _TAGS else word


class StandIn:
    """The library, and what has been launched on it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "libfakecuda.so"
        if not self.path.exists():
            compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
            source, made = Path(__file__).with_name("fake_driver.c"), folder / f"{os.getpid()}.so"
            subprocess.run(
                [compiler, "-shared", "-fPIC", "-O1", "-w", "-pthread", "-o", str(made), str(source)], check=True
            )
            # Processes that begin at once may share the folder.
            made.replace(self.path)
        self.library = ctypes.CDLL(str(self.path))
        for name in ("used", "threshold"):
            getattr(self.library, f"fake_{name}").restype = ctypes.c_size_t
        for name in (
            "assembled", "launched", "pending", "calls", "own_pools", "default_pool_changes", "from_default_pool",
            "registered", "streams_alive", "events_alive",
        ):  # fmt: skip
            getattr(self.library, f"fake_{name}").restype = ctypes.c_long
        self._launches: list[tuple[str, tuple[int, ...], int, bool]] = []
        self._kernels: dict[Any, Any] = {}
        # Kernels of one text share the variables of their module here.
        self._running = threading.Lock()
        self._callback = _LAUNCH(self._launch)
        self.library.fake_on_launch(self._callback)
        # The driver's threads must not come into Python while the interpreter ends.
        atexit.register(self.library.fake_close)

    @property
    def used(self) -> int:
        """Bytes of the memory that are in use."""
        return int(self.library.fake_used())

    @property
    def launches(self) -> list[tuple[str, tuple[int, ...], int, bool]]:
        """All launches: name, dimensions, dynamic shared memory, whether it is cooperative."""
        self.library.fake_finish()
        return self._launches

    @property
    def launched(self) -> list[tuple[str, tuple[int, ...], int, bool]]:
        """The launches that have run so far."""
        return list(self._launches)

    @property
    def assembled(self) -> int:
        """How often its assembler has been used."""
        return int(self.library.fake_assembled())

    @property
    def pending(self) -> int:
        """The number of operations that streams have not run yet."""
        return int(self.library.fake_pending())

    def calls(self, function: str) -> int:
        """How often a function of the driver has been called."""
        return int(self.library.fake_calls(function.encode()))

    def set(
        self,
        pinned: bool = False,
        pools: bool = True,
        idle: bool = False,
        order: int = 0,
        eager: bool = False,
        blocks: bool = False,
    ) -> None:
        """Whether memory of the host cannot be paged; whether there are pools; whether launches do nothing.

        `order` is the seed of an order in which work runs; with `eager` a thread of the library runs it at once; with
        `blocks` calls wait for stream callbacks.
        """
        self.library.fake_set(pinned, pools, idle)
        self.library.fake_order(ctypes.c_uint64(order))
        self.library.fake_eager(eager)
        self.library.fake_block_while_callbacks(blocks)

    def reset(self) -> None:
        """Does what is pending, and forgets errors and settings."""
        self.library.fake_reset()

    def _kernel(self, text: bytes, name: bytes) -> Any:
        made = self._kernels.get((text, name))
        if made is None:
            # Captured arrays are at addresses in the text.
            plain_text = re.sub(r"\b1\d{18}\b", lambda m: str(_plain(int(m[0]))), text.decode())
            # It raises where threads of a warp come to a barrier after they have parted.
            made = self._kernels[text, name] = _core.PtxKernel(plain_text, name.decode(), converged=True)
        return made

    def _variables(self, module: int, made: Any) -> list[tuple[int, int, int]]:
        """The variables that the host knows: address there, address in the lifted kernel, size."""
        found = []
        name, at, size = ctypes.c_char_p(), ctypes.c_void_p(), ctypes.c_size_t()
        while self.library.fake_variable(
            ctypes.c_void_p(module), len(found), ctypes.byref(name), ctypes.byref(at), ctypes.byref(size)
        ):
            assert name.value is not None and at.value is not None
            found.append((at.value, made.variable(name.value.decode())[0], size.value))
        return found

    def _launch(
        self, module: int, text: bytes, name: bytes, dims: Any, shared: int, cooperative: int, words: Any
    ) -> int:
        try:
            with self._running:
                made = self._kernel(text, name)
                given = [words[i][0] for i in range(made.words)]
                if not all(self.library.fake_reaches(ctypes.c_uint64(w)) for w in given):
                    return 700
                self._launches.append((name.decode(), tuple(dims[:6]), shared, bool(cooperative)))
                variables = self._variables(module, made)
                for there, here, size in variables:
                    ctypes.memmove(here, there, size)
                made.launch(dims[:3], dims[3:6], shared, [_plain(w) for w in given])
                for there, here, size in variables:
                    ctypes.memmove(there, here, size)
        except BaseException:
            traceback.print_exc()
            return 719
        return 0


def forget() -> None:
    """Has the choice of devices be made again."""
    if hasattr(gpu, "forget"):
        gpu.forget()
    else:
        gpu.count.cache_clear()
        gpu.opened.cache_clear()
    gpu.here.gpu = None
    vars(devices.gpus).pop("lst", None)
    devices._contexts.clear()
