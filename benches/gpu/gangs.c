// The kernels of cpu_device.py as one would write them by hand: the 32 threads of a warp as vectors with masks, barriers as ends
// of loops over the warps of a block, blocks one after the other. Sizes are those of the launch, known when it runs; the
// arithmetic is that of the kernels: products are joined with their sums, divisions and roots are exact.
//
// A warp is as many vectors of this machine as 32 lanes need. Lanes are together, so that masks are vectors, too, of 0 and -1.

#include <stdint.h>
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

#if defined __AVX512F__
enum { W = 16 };
#elif defined __AVX__
enum { W = 8 };
#else
enum { W = 4 };
#endif
enum { LANES = 32, PARTS = LANES / W, TILE = 16, BINS = 256, BODIES = 128 };

typedef float vf __attribute__((vector_size(4 * W)));
typedef int32_t vi __attribute__((vector_size(4 * W)));
typedef vf vf_at __attribute__((aligned(4), may_alias));
typedef vi vi_at __attribute__((aligned(4), may_alias));
typedef union {
    float *f;
    int32_t *i;
    long n;
} Arg;

#define EACH(p) for (int p = 0; p < PARTS; p++)
#define LOAD(at) (*(const vf_at *)(at))
#define STORE(at, v) (*(vf_at *)(at) = (v))

static inline vi lane(int p) {
    vi l;
    for (int i = 0; i < W; i++)
        l[i] = p * W + i;
    return l;
}
static inline vf pick(vi mask, vf yes, vf no) { return (vf)(((vi)yes & mask) | ((vi)no & ~mask)); }
static inline int any(vi mask) {
#if defined __AVX512F__
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined __AVX__
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    int64_t words[sizeof mask / 8], all = 0;
    memcpy(words, &mask, sizeof mask);
    for (unsigned i = 0; i < sizeof mask / 8; i++)
        all |= words[i];
    return all != 0;
#endif
}
static inline vf root(vf v) {
#if defined __AVX512F__
    return (vf)_mm512_sqrt_ps((__m512)v);
#elif defined __AVX__
    return (vf)_mm256_sqrt_ps((__m256)v);
#else
    for (int i = 0; i < W; i++)
        v[i] = __builtin_sqrtf(v[i]);
    return v;
#endif
}

// a, b, out, items, threads of a block.
void add(const Arg *x) {
    const float *a = x[0].f, *b = x[1].f;
    float *out = x[2].f;
    long n = x[3].n, threads = x[4].n, blocks = (n + threads - 1) / threads;
    for (long block = 0; block < blocks; block++) {
        long i = block * threads, end = i + threads < n ? i + threads : n;
        for (; i + LANES <= end; i += LANES)
            EACH(p) STORE(out + i + p * W, LOAD(a + i + p * W) + LOAD(b + i + p * W));
        for (; i < end; i++)
            out[i] = a[i] + b[i];
    }
}

// a, b, out, items, blocks, threads of a block. The warps of a block go through each round one after the other.
void stride(const Arg *x) {
    const float *a = x[0].f, *b = x[1].f;
    float *out = x[2].f;
    long n = x[3].n, blocks = x[4].n, threads = x[5].n, step = blocks * threads;
    for (long block = 0; block < blocks; block++)
        for (long start = block * threads; start < n; start += step) {
            long end = start + threads < n ? start + threads : n, i = start;
            for (; i + LANES <= end; i += LANES)
                EACH(p) STORE(out + i + p * W, LOAD(a + i + p * W) + LOAD(b + i + p * W));
            for (; i < end; i++)
                out[i] = a[i] + b[i];
        }
}

// a, b, c, rows. A warp is two rows of a tile; what its threads add up stays in registers from tile to tile.
void matmul(const Arg *x) {
    const float *a = x[0].f, *b = x[1].f;
    float *c = x[2].f;
    long n = x[3].n;
    enum { PER_ROW = TILE / W };
    for (long by = 0; by < n; by += TILE)
        for (long bx = 0; bx < n; bx += TILE) {
            float sa[TILE][TILE] __attribute__((aligned(64))), sb[TILE][TILE] __attribute__((aligned(64)));
            vf total[TILE][PER_ROW];
            memset(total, 0, sizeof total);
            for (long i = 0; i < n / TILE; i++) {
                for (int y = 0; y < TILE; y++)
                    for (int p = 0; p < PER_ROW; p++) {
                        STORE(&sa[y][p * W], LOAD(a + (by + y) * n + i * TILE + p * W));
                        STORE(&sb[y][p * W], LOAD(b + (i * TILE + y) * n + bx + p * W));
                    }
                for (int y = 0; y < TILE; y += 2)
                    for (int k = 0; k < TILE; k++)
                        for (int p = 0; p < PER_ROW; p++) {
                            total[y][p] += sa[y][k] * LOAD(&sb[k][p * W]);
                            total[y + 1][p] += sa[y + 1][k] * LOAD(&sb[k][p * W]);
                        }
            }
            for (int y = 0; y < TILE; y++)
                for (int p = 0; p < PER_ROW; p++)
                    STORE(c + (by + y) * n + bx + p * W, total[y][p]);
        }
}

// a, out, blocks of 256.
void block_sum(const Arg *x) {
    const float *a = x[0].f;
    float *out = x[1].f;
    long blocks = x[2].n;
    for (long block = 0; block < blocks; block++) {
        float shared[256 + LANES] __attribute__((aligned(64)));
        for (int t = 0; t < 256; t += W)
            STORE(shared + t, LOAD(a + block * 256 + t));
        int k = 128;
        for (; k >= LANES; k /= 2)
            for (int t = 0; t < k; t += W)
                STORE(shared + t, LOAD(shared + t) + LOAD(shared + t + k));
        for (; k > 0; k /= 2) {
            vf sum[PARTS];
            EACH(p) sum[p] = LOAD(shared + p * W) + LOAD(shared + p * W + k);
            EACH(p) STORE(shared + p * W, pick(lane(p) < k, sum[p], LOAD(shared + p * W)));
        }
        out[block] = shared[0];
    }
}

#if defined __clang__ || __GNUC__ >= 12
#define LANE(k, i) ((i) + (k) < W ? (i) + (k) : (i))
#define DOWN4(k, i) LANE(k, i), LANE(k, i + 1), LANE(k, i + 2), LANE(k, i + 3)
#if defined __AVX512F__
#define DOWN(v, k) __builtin_shufflevector(v, v, DOWN4(k, 0), DOWN4(k, 4), DOWN4(k, 8), DOWN4(k, 12))
#elif defined __AVX__
#define DOWN(v, k) __builtin_shufflevector(v, v, DOWN4(k, 0), DOWN4(k, 4))
#else
#define DOWN(v, k) __builtin_shufflevector(v, v, DOWN4(k, 0))
#endif
#endif

// a, out, warps.
void warp_sum(const Arg *x) {
    const float *a = x[0].f;
    float *out = x[1].f;
    long warps = x[2].n;
    for (long w = 0; w < warps; w++) {
        vf v[PARTS];
        EACH(p) v[p] = LOAD(a + w * LANES + p * W);
        for (int k = PARTS / 2; k > 0; k /= 2)
            for (int p = 0; p < k; p++)
                v[p] += v[p + k];
        if (W > 8)
            v[0] += DOWN(v[0], 8);
        if (W > 4)
            v[0] += DOWN(v[0], 4);
        v[0] += DOWN(v[0], 2);
        v[0] += DOWN(v[0], 1);
        out[w] = v[0][0];
    }
}

// out, width, most, threads of a block. Lanes that have left the loop may compute on: only their counts stand still.
void mandelbrot(const Arg *x) {
    int32_t *out = x[0].i, width = (int32_t)x[1].n, most = (int32_t)x[2].n;
    long size = (long)width * width;
    for (long i = 0; i < size; i += LANES) {
        int32_t first = (int32_t)i / width;
        vf cr[PARTS], ci[PARTS], zr[PARTS], zi[PARTS];
        vi live[PARTS], count[PARTS];
        EACH(p) {
            vi at = (int32_t)i + lane(p), row = first + (vi){0}, column = at - row * width;
            for (vi over; any(over = column >= width); row -= over)
                column -= width & over;
            cr[p] = __builtin_convertvector(column, vf) * 3.0f / (float)width - 2.0f;
            ci[p] = __builtin_convertvector(row, vf) * 2.0f / (float)width - 1.0f;
            zr[p] = zi[p] = (vf){0};
            live[p] = at < (int32_t)size;
            count[p] = (vi){0};
        }
        for (int32_t n = 0; n < most; n++) {
            vi some = {0};
            EACH(p) {
                live[p] &= zr[p] * zr[p] + zi[p] * zi[p] < 4.0f;
                some |= live[p];
            }
            if (!any(some))
                break;
            EACH(p) {
                count[p] -= live[p];
                vf r = zr[p] * zr[p] - zi[p] * zi[p] + cr[p];
                zi[p] = 2.0f * zr[p] * zi[p] + ci[p];
                zr[p] = r;
            }
        }
        if (i + LANES <= size)
            EACH(p) *(vi_at *)(out + i + p * W) = count[p];
        else
            for (long l = i; l < size; l++)
                out[l] = count[(l - i) / W][(l - i) % W];
    }
}

// x, y, z, m, ax, bodies, in blocks of 128.
void n_body(const Arg *a) {
    const float *x = a[0].f, *y = a[1].f, *z = a[2].f, *m = a[3].f;
    float *ax = a[4].f;
    long n = a[5].n;
    for (long block = 0; block < n; block += BODIES) {
        float s[4][BODIES] __attribute__((aligned(64)));
        vf total[BODIES / LANES][PARTS];
        memset(total, 0, sizeof total);
        for (long tile = 0; tile < n; tile += BODIES) {
            for (int t = 0; t < BODIES; t += W) {
                STORE(&s[0][t], LOAD(x + tile + t));
                STORE(&s[1][t], LOAD(y + tile + t));
                STORE(&s[2][t], LOAD(z + tile + t));
                STORE(&s[3][t], LOAD(m + tile + t));
            }
            for (int g = 0; g < BODIES / LANES; g++) {
                vf px[PARTS], py[PARTS], pz[PARTS], sum[PARTS];
                EACH(p) {
                    long i = block + g * LANES + p * W;
                    px[p] = LOAD(x + i), py[p] = LOAD(y + i), pz[p] = LOAD(z + i), sum[p] = total[g][p];
                }
                for (int k = 0; k < BODIES; k++)
                    EACH(p) {
                        vf dx = s[0][k] - px[p], dy = s[1][k] - py[p], dz = s[2][k] - pz[p];
                        vf r2 = dx * dx + dy * dy + dz * dz + 0.01f;
                        sum[p] += s[3][k] * dx / (r2 * root(r2));
                    }
                EACH(p) total[g][p] = sum[p];
            }
        }
        for (int g = 0; g < BODIES / LANES; g++)
            EACH(p) STORE(ax + block + g * LANES + p * W, total[g][p]);
    }
}

static inline float bent(const float *u, long i, float k) { return u[i] + k * (u[i - 1] - 2.0f * u[i] + u[i + 1]); }
static inline vf bent_lanes(const float *u, float k) { return LOAD(u) + k * (LOAD(u - 1) - 2.0f * LOAD(u) + LOAD(u + 1)); }

// u, out, k, points. A warp in which no lane is at the border needs no masks.
void heat(const Arg *x) {
    const float *u = x[0].f, k = *x[2].f;
    float *out = x[1].f;
    long n = x[3].n;
    for (long i = 0; i < n; i += LANES)
        if (i > 0 && i + LANES < n)
            EACH(p) STORE(out + i + p * W, bent_lanes(u + i + p * W, k));
        else
            for (long l = i; l < i + LANES && l < n; l++)
                out[l] = l == 0 ? u[l] : l == n - 1 ? u[l] * k : bent(u, l, k);
}

// u, v, k, points, steps.
void heat_steps(const Arg *x) {
    float k = *x[2].f;
    long n = x[3].n, steps = x[4].n;
    for (long s = 0; s < steps; s++) {
        const float *a = s % 2 == 0 ? x[0].f : x[1].f;
        float *b = s % 2 == 0 ? x[1].f : x[0].f;
        for (long i = 0; i < n; i += LANES)
            if (i > 0 && i + LANES < n)
                EACH(p) STORE(b + i + p * W, bent_lanes(a + i + p * W, k));
            else
                for (long l = i; l < i + LANES && l < n; l++)
                    b[l] = l == 0 || l == n - 1 ? a[l] : bent(a, l, k);
    }
}

// a, out, items, blocks of 256 threads. Blocks may run beside each other, so that what they add to all counts is atomic.
void histogram(const Arg *x) {
    const int32_t *a = x[0].i;
    int32_t *out = x[1].i;
    long n = x[2].n, blocks = x[3].n, step = blocks * BINS;
    for (long block = 0; block < blocks; block++) {
        int32_t bins[BINS] = {0};
        for (long start = block * BINS; start < n; start += step)
            for (long l = start; l < start + BINS && l < n; l++)
                bins[a[l] & 255]++;
        for (int t = 0; t < BINS; t++)
            __atomic_fetch_add(out + t, bins[t], __ATOMIC_RELAXED);
    }
}

// A kernel so many times.
void repeat(void (*kernel)(const Arg *), const Arg *args, long times) {
    for (long i = 0; i < times; i++)
        kernel(args);
}
