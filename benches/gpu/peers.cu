// The kernels of cases.py in CUDA C, for CuPy's RawModule: the same arguments, then the size.
#ifdef COOPERATIVE
#include <cooperative_groups.h>
#endif
typedef long long size;
typedef unsigned long long word;
#define INDEX ((size)blockIdx.x * blockDim.x + threadIdx.x)

template <class T> __device__ void copied(const T *a, T *out, size n) { size i = INDEX; if (i < n) out[i] = a[i]; }
template <class T> __device__ void added(const T *a, const T *b, T *out, size n) { size i = INDEX; if (i < n) out[i] = a[i] + b[i]; }
template <class T> __device__ void triple(const T *a, const T *b, T *out, T f, size n) { size i = INDEX; if (i < n) out[i] = a[i] + f * b[i]; }

extern "C" {
__global__ void copy_float32(const float *a, float *out, size n) { copied(a, out, n); }
__global__ void copy_float64(const double *a, double *out, size n) { copied(a, out, n); }
__global__ void add_float32(const float *a, const float *b, float *out, size n) { added(a, b, out, n); }
__global__ void add_float64(const double *a, const double *b, double *out, size n) { added(a, b, out, n); }
__global__ void triad_float32(const float *a, const float *b, float *out, float f, size n) { triple(a, b, out, f, n); }
__global__ void triad_float64(const double *a, const double *b, double *out, double f, size n) { triple(a, b, out, f, n); }

__global__ void transpose(const float *a, float *out, size n) {
    __shared__ float tile[16][17];
    size x = INDEX, y = (size)blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    x = (size)blockIdx.y * 16 + threadIdx.x, y = (size)blockIdx.x * 16 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void heat_2_D(const float *u, float *out, size n) {
    size j = INDEX, i = (size)blockIdx.y * blockDim.y + threadIdx.y;
    if (0 < i && i < n - 1 && 0 < j && j < n - 1) {
        const float *p = u + i * n + j;
        out[i * n + j] = *p + 0.2f * (p[-n] + p[n] + p[-1] + p[1] - 4.0f * *p);
    }
}

__global__ void matmul_shared(const float *a, const float *b, float *c, size n) {
    __shared__ float sa[16][16], sb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    size x = INDEX, y = (size)blockIdx.y * 16 + ty;
    float total = 0;
    for (size i = 0; i < n / 16; i++) {
        sa[ty][tx] = a[y * n + tx + i * 16];
        sb[ty][tx] = b[(ty + i * 16) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) total += sa[ty][k] * sb[k][tx];
        __syncthreads();
    }
    c[y * n + x] = total;
}

__global__ void n_body(const float *x, const float *y, const float *z, const float *m, float *ax, size n) {
    size i = INDEX;
    if (i >= n) return;
    float total = 0;
    for (size j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i], r2 = dx * dx + dy * dy + dz * dz + 0.01f;
        total += m[j] * dx / (r2 * sqrtf(r2));
    }
    ax[i] = total;
}

__global__ void mandelbrot(int *out, int width, int most, size n) {
    size i = INDEX;
    if (i >= n) return;
    float cr = (float)(i % width) * 3.0f / width - 2.0f, ci = (float)(i / width) * 2.0f / width - 1.0f, zr = 0, zi = 0;
    int k = 0;
    for (; k < most && zr * zr + zi * zi < 4.0f; k++) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
    }
    out[i] = k;
}

__global__ void black_scholes(const float *s, const float *k, const float *t, float *call, size n) {
    size i = INDEX;
    if (i >= n) return;
    float r = 0.02f, v = 0.3f, root = v * sqrtf(t[i]), inv = 0.70710678f;
    float d1 = (logf(s[i] / k[i]) + (r + 0.5f * v * v) * t[i]) / root, d2 = d1 - root;
    call[i] = s[i] * 0.5f * erfcf(-d1 * inv) - k[i] * expf(-r * t[i]) * 0.5f * erfcf(-d2 * inv);
}

#ifdef COOPERATIVE
__global__ void heat_steps(float *u, float *v, int steps, float k, size n) {
    size i = INDEX;
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int s = 0; s < steps; s++) {
        float *from = s % 2 ? v : u, *to = s % 2 ? u : v;
        if (i > 0 && i < n - 1) to[i] = from[i] + k * (from[i - 1] - 2.0f * from[i] + from[i + 1]);
        grid.sync();
    }
}
#endif

__device__ static float drawn(word *s) {
    word a = s[0], b = s[1], sum = a + b;
    b ^= a;
    s[0] = (a << 55 | a >> 9) ^ b ^ b << 14;
    s[1] = b << 36 | b >> 28;
    return (float)((double)(sum >> 11) * (1.0 / 9007199254740992.0));
}
__global__ void Monte_Carlo_pi(word *states, int samples, int *out, size n) {
    size i = INDEX;
    int inside = 0;
    for (int k = 0; k < samples; k++) {
        float x = drawn(states + 2 * i), y = drawn(states + 2 * i);
        if (x * x + y * y <= 1.0f) inside++;
    }
    out[i] = inside;
}
}
