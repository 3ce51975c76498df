"""Sizes of the corpus's kernels as machine code for sm_90, beside numba-cuda's. Needs no GPU.

    python benches/gpu/sizes.py         writes benches/gpu/sizes.md, and tests/cuda/sizes.json, which tests hold us to

Needs numba-cuda and NVIDIA's wheels of nvcc, nvdisasm, nvvm and nvrtc.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "cuda"))
import assemble
import corpus

HEAD = """# Sizes of kernels

Instructions and registers of each kernel of `tests/cuda/corpus.py` for sm_90, after ptxas {version}, beside numba-cuda
{theirs}: `python benches/gpu/sizes.py`.
The same mathematics as on the CPU, within 1 ulp, where numba-cuda's (libdevice's) allows itself 1 to 4 and the GPU's
approximations. Where it is empty, numba-cuda asks for a driver to compile a kernel that waits for the grid.

| kernel | here | numba-cuda | registers | numba-cuda |
|---|---:|---:|---:|---:|
"""


def size(cuda: Any, kernel: corpus.Kernel) -> assemble.Size:
    """Of a kernel that a package compiles."""
    return assemble.assemble(cuda.compile_ptx(kernel.function, kernel.signature, cc=(9, 0))[0], "sm_90")


def main() -> None:
    """Writes both files."""
    import numba_cuda
    from numba import cuda as peer
    from numba.cuda.cudadrv.error import CudaSupportError

    from lancehead import cuda

    known, rows = {}, []
    peers = corpus.make(peer)
    for name, kernel in sorted(corpus.make(cuda).items()):
        here = size(cuda, kernel)
        try:
            theirs = size(peer, peers[name])
        except CudaSupportError:
            theirs = None
        known[name] = [*here, theirs and theirs.instructions]
        rows.append(
            f"| `{name}` | {here.instructions} | {theirs.instructions if theirs else ''} | {here.registers} | "
            f"{theirs.registers if theirs else ''} |\n"
        )
        print(rows[-1], end="", flush=True)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(sizes)}" for name, sizes in known.items())
    Path(assemble.__file__).with_name("sizes.json").write_text(f"{{\n{lines}\n}}\n")
    (HERE / "sizes.md").write_text(
        HEAD.format(version=assemble.version(), theirs=numba_cuda.__version__) + "".join(rows)
    )


main()
