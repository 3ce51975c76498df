"""Kernels of `cpu_device.py` in OpenCL, on one core by PoCL."""

import os

os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"
import numpy as np
import pyopencl as cl
from timing import f32, row

SOURCE = """
kernel void add(global const float *a, global const float *b, global float *out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = a[i] + b[i];
}
kernel void matmul(global const float *a, global const float *b, global float *c, int n) {
    local float sa[16][16], sb[16][16];
    int x = get_global_id(0), y = get_global_id(1), tx = get_local_id(0), ty = get_local_id(1);
    float total = 0;
    for (int i = 0; i < n / 16; i++) {
        sa[ty][tx] = a[y * n + tx + i * 16];
        sb[ty][tx] = b[(ty + i * 16) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) total += sa[ty][k] * sb[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = total;
}
kernel void block_sum(global const float *a, global float *out) {
    local float s[256];
    int t = get_local_id(0);
    s[t] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 128; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = s[0];
}
kernel void mandelbrot(global int *out, int width, int most) {
    int i = get_global_id(0), n = 0;
    float cr = (float)(i % width) * 3.0f / width - 2.0f, ci = (float)(i / width) * 2.0f / width - 1.0f, zr = 0, zi = 0;
    while (n < most && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        n++;
    }
    out[i] = n;
}
kernel void n_body(global const float *x, global const float *y, global const float *z,
                   global const float *m, global float *ax, int n) {
    local float s[4][128];
    int i = get_global_id(0), t = get_local_id(0);
    float total = 0;
    for (int tile = 0; tile < n / 128; tile++) {
        int j = tile * 128 + t;
        s[0][t] = x[j]; s[1][t] = y[j]; s[2][t] = z[j]; s[3][t] = m[j];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 128; k++) {
            float dx = s[0][k] - x[i], dy = s[1][k] - y[i], dz = s[2][k] - z[i];
            float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
            total += s[3][k] * dx / (r2 * sqrt(r2));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    ax[i] = total;
}
kernel void heat(global const float *u, global float *out, float k, int n) {
    int i = get_global_id(0);
    if (i < n) {
        if (i == 0) out[i] = u[i];
        else if (i == n - 1) out[i] = u[i] * k;
        else out[i] = u[i] + k * (u[i - 1] - 2.0f * u[i] + u[i + 1]);
    }
}
kernel void histogram(global const int *a, global int *out, int n) {
    local int bins[256];
    int t = get_local_id(0);
    bins[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&bins[a[i] & 255], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[t], bins[t]);
}
"""


def main() -> None:
    """Writes the table."""
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    kernels = {k.function_name: k for k in cl.Program(context, SOURCE).build().all_kernels()}

    def buffer(a):
        return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=a)

    def measure(title, name, units, size, block, *args):
        given = [buffer(a) if isinstance(a, np.ndarray) else a for a in args]
        row(title, lambda: (kernels[name](queue, size, block, *given), queue.finish()), units, True)

    n, i32, f = 1 << 16, np.int32, np.float32
    a, b, out = f32(n), f32(n), np.zeros(n, f)
    measure("vector add, 65536", "add", n, (n,), (256,), a, b, out, i32(n))
    measure("matmul 256, shared", "matmul", 256**3, (256, 256), (16, 16), a, b, out, i32(256))
    long = f32(1 << 18)
    measure("block reduction", "block_sum", 1 << 18, (1 << 18,), (256,), long, np.zeros(1024, f))
    steps = buffer(np.zeros(n, i32))
    kernels["mandelbrot"](queue, (n,), (256,), steps, i32(256), i32(100))
    counts = np.zeros(n, i32)
    cl.enqueue_copy(queue, counts, steps)
    row("mandelbrot, per step", lambda: (kernels["mandelbrot"](queue, (n,), (256,), steps, i32(256), i32(100)),
                                         queue.finish()), int(counts.sum()), True)  # fmt: skip
    x, y, z, m = f32(4096).reshape(4, 1024)
    measure("n-body, per pair", "n_body", 1024 * 1024, (1024,), (128,), x, y, z, m, np.zeros(1024, f), i32(1024))
    measure("heat, three-way branch", "heat", n, (n,), (256,), a, out, f(0.25), i32(n))
    values = np.random.default_rng(1).integers(0, 256, 1 << 18).astype(i32)
    measure("shared histogram", "histogram", 1 << 18, (4096,), (256,), values, np.zeros(256, i32), i32(1 << 18))


main()
