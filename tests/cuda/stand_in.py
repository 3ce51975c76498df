"""A GPU for tests, without one: a library that stands in for NVIDIA's driver. What is launched, it gives back as PTX, which is
lifted and runs on the CPU device with the parameters that the driver was given.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sysconfig
import traceback
from pathlib import Path
from typing import Any

from lancehead import _core
from lancehead.cuda import devices, gpu

_TAGS = range(0x10, 0x14)
_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint), ctypes.c_uint, ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(ctypes.c_uint64)), ctypes.c_void_p,
)  # fmt: skip


def _plain(word: int) -> int:
    return word & ~(0xFF << 56) if word >> 56 in _TAGS else word


class StandIn:
    """The library, and what has been launched on it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "libfakecuda.so"
        compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
        source = Path(__file__).with_name("fake_driver.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(self.path), str(source)], check=True)
        self.library = ctypes.CDLL(str(self.path))
        self.library.fake_used.restype = ctypes.c_size_t
        self._launches: list[tuple[str, tuple[int, ...], int, bool]] = []
        self._kernels: dict[Any, Any] = {}
        self._callback = _LAUNCH(self._launch)
        self.library.fake_on_launch(self._callback)
        for count in ("assembled", "launched", "pending"):
            getattr(self.library, f"fake_{count}").restype = ctypes.c_long

    @property
    def used(self) -> int:
        """Bytes of the memory that are in use."""
        return int(self.library.fake_used())

    @property
    def launches(self) -> list[tuple[str, tuple[int, ...], int, bool]]:
        """What has been launched: name, dimensions, dynamic shared memory, whether it is cooperative."""
        self.library.cuCtxSynchronize()
        return self._launches

    @property
    def assembled(self) -> int:
        """How often its assembler has been used."""
        return int(self.library.fake_assembled())

    @property
    def pending(self) -> int:
        """What has been put into streams and not been done yet."""
        return int(self.library.fake_pending())

    def set(self, pinned: bool = False, pools: bool = True, idle: bool = False) -> None:
        """Whether memory of the host cannot be paged; whether there are pools; whether launches do nothing."""
        self.library.fake_set(pinned, pools, idle)

    def reset(self) -> None:
        """Does what is pending, and forgets errors and settings."""
        self.library.fake_reset()

    def _launch(self, text: bytes, name: bytes, dims: Any, shared: int, cooperative: int, words: Any, error: int | None) -> int:
        try:
            made = self._kernels.get((text, name))
            if made is None:
                # Captured arrays are at addresses in the text.
                plain_text = re.sub(r"\b1\d{18}\b", lambda m: str(_plain(int(m[0]))), text.decode())
                made = self._kernels[text, name] = _core.PtxKernel(plain_text, name.decode())
            given = [words[i][0] for i in range(made.words)]
            if not all(self.library.fake_reaches(ctypes.c_uint64(w)) for w in given):
                return 700
            plain = [_plain(w) for w in given]
            self._launches.append((name.decode(), tuple(dims[:6]), shared, bool(cooperative)))
            noted = made.variable("lh_error")[0] if error else 0
            if error:
                ctypes.memmove(noted, error, 32)
            made.launch(dims[:3], dims[3:6], shared, plain)
            if error:
                ctypes.memmove(error, noted, 32)
        except BaseException:
            traceback.print_exc()
            return 719
        return 0


def forget() -> None:
    """Has the choice of devices be made again."""
    gpu.count.cache_clear()
    gpu.opened.cache_clear()
    gpu.here.gpu = None
    vars(devices.gpus).pop("lst", None)
    devices._contexts.clear()
