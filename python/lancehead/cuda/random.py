"""Random numbers for kernels: xoroshiro128+, one state to each thread, as numba-cuda has them."""

from __future__ import annotations

from lancehead.cuda.names import Name

xoroshiro128p_next = Name("cuda.random.xoroshiro128p_next")
