"""A kernel that calls a function written in CUDA C. NVIDIA's compiler makes PTX of it, which runs on the CPU device
too."""

import numpy as np

from lancehead import cuda

SOURCE = cuda.CUSource(
    """
extern "C" __device__
int smooth(float *result, float left, float middle, float right)
{
  *result = 0.25f * left + 0.5f * middle + 0.25f * right;
  return 0;
}
""",
    name="smooth.cu",
)

smooth = cuda.declare_device("smooth", "float32(float32, float32, float32)", link=SOURCE)


@cuda.jit
def smoothed(x, out):
    """out = x, each element mixed with its neighbours."""
    i = cuda.grid(1)
    if 0 < i < out.size - 1:
        out[i] = smooth(x[i - 1], x[i], x[i + 1])
    elif i < out.size:
        out[i] = x[i]


if __name__ == "__main__":
    x = np.sin(np.linspace(0, 20, 1000)).astype(np.float32) + np.random.default_rng(1).normal(0, 0.1, 1000).astype(
        np.float32
    )
    out = np.empty_like(x)
    try:
        smoothed.forall(x.size)(x, out)
    except cuda.errors.LinkerError as missing:
        # Without the compiler there is nothing to run.
        print(missing)
    else:
        expected = x.copy()
        expected[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
        assert np.allclose(out, expected, atol=1e-6)
        print("roughness before and after:", np.abs(np.diff(x)).mean().round(3), np.abs(np.diff(out)).mean().round(3))
