/* measure LIBRARY PEER MODE FUNCTION TYPE LOW HIGH: of loop_lh_FUNCTION in LIBRARY
   time   nanoseconds per element, and those of loop_FUNCTION in PEER (0 if it has none), over arguments drawn from a range;
   error  the largest error in ulp against long doubles, over such arguments;
   all    for float: the largest error over all floats, against loop_lh_FUNCTION of doubles, and where it is;
   some   the same over a part of them. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 2048 };
typedef void loop(long, const void *, const void *, void *);
typedef long double one(long double);
typedef long double two(long double, long double);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static unsigned long state = 1;
static double draw(double low, double high) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return low + (high - low) * ((state >> 11) * 0x1p-53);
}

static double x[N] __attribute__((aligned(64))), y[N] __attribute__((aligned(64))), out[N] __attribute__((aligned(64)));
static double wide[N], exact[N];
static int single;

static void fill(double low, double high) {
    for (int i = 0; i < N; i++) {
        double a = draw(low, high), b = draw(-4, 4);
        if (single) ((float *)x)[i] = a, ((float *)y)[i] = b;
        else x[i] = a, y[i] = b;
    }
}

static double item(const double *array, int i) { return single ? ((const float *)array)[i] : array[i]; }

/* Units of the last place of a result, of the smallest normal number at least. */
static double ulps(double got, long double want, int digits) {
    int exponent, least = digits == 24 ? -125 : -1021;
    if (want == 0) exponent = least; else frexpl(want, &exponent);
    return fabsl(got - want) / ldexpl(1, (exponent < least ? least : exponent) - digits);
}

static void error(loop *f, const char *name, double low, double high) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%sl", name);
    void *want = dlsym(RTLD_DEFAULT, symbol);
    int binary = !strcmp(name, "pow") || !strcmp(name, "atan2") || !strcmp(name, "hypot");
    double worst = 0, at = 0;
    for (int round = 0; round < 3000; round++) {
        fill(low, high);
        f(N, x, y, out);
        for (int i = 0; i < N; i++) {
            long double r = binary ? ((two *)want)(item(x, i), item(y, i)) : ((one *)want)(item(x, i));
            double e = isinf(r) || isnan(r) ? 0 : ulps(item(out, i), r, single ? 24 : 53);
            if (!(e <= worst)) worst = e, at = item(x, i);
        }
    }
    printf("%f %.17g\n", worst, at);
}

static void all(loop *f, loop *g, uint64_t step) {
    double worst = 0, at = 0;
    for (uint64_t block = 0; block < 1ull << 32; block += N * step) {
        float *v = (float *)x;
        for (int i = 0; i < N; i++) {
            uint32_t bits = block + i;
            memcpy(v + i, &bits, 4);
            wide[i] = v[i];
        }
        f(N, x, x, out);
        g(N, wide, wide, exact);
        for (int i = 0; i < N; i++) {
            double got = ((float *)out)[i], want = exact[i];
            float rounded = want;
            if (isnan(rounded) || isnan(got)) {
                if (!isnan(rounded) || !isnan(got)) worst = INFINITY, at = v[i];
                continue;
            }
            if (isinf(rounded) || isinf(got)) {
                /* A result beyond the largest float may be rounded to it, and the other way around. */
                if (rounded != got && (fmax(fabs(rounded), fabs(got)) < 0x1.fffffep127 || fmin(fabs(rounded), fabs(got)) < 0x1.fffffep127)) worst = INFINITY, at = v[i];
                continue;
            }
            if (want == 0 && (got != 0 || signbit(got) != signbit(want))) worst = INFINITY, at = v[i];
            uint64_t word;
            memcpy(&word, &want, 8);
            int64_t place = (word >> 52 & 2047) - 23;
            if (place < 1023 - 149) place = 1023 - 149;
            word = (uint64_t)(2046 - place) << 52;
            double unit;
            memcpy(&unit, &word, 8);
            double e = fabs(got - want) * unit;
            if (e > worst) worst = e, at = v[i];
        }
    }
    printf("%f %.9g\n", worst, at);
}

int main(int count, char **words) {
    if (count != 8) return 2;
    void *library = dlopen(words[1], RTLD_NOW), *peer = dlopen(words[2], RTLD_NOW);
    if (!library || !peer) return fprintf(stderr, "%s\n", dlerror()), 1;
    single = !strcmp(words[5], "float");
    char base[64], symbol[64];
    snprintf(base, sizeof base, "%s", words[4]);
    char *fast = strstr(base, "_fast");
    if (fast) *fast = 0;
    snprintf(symbol, sizeof symbol, "loop_lh_%s%s%s", base, single ? "f" : "", fast ? "_fast" : "");
    loop *f = (loop *)dlsym(library, symbol);
    if (!f) return fprintf(stderr, "%s: no %s\n", words[1], symbol), 1;
    double low = atof(words[6]), high = atof(words[7]);
    if (!strcmp(words[3], "error")) return error(f, base, low, high), 0;
    snprintf(symbol, sizeof symbol, "loop_lh_%s", base);
    if (!strcmp(words[3], "all") || !strcmp(words[3], "some")) return all(f, (loop *)dlsym(library, symbol), words[3][0] == 'a' ? 1 : 61), 0;
    snprintf(symbol, sizeof symbol, "loop_%s%s", base, single ? "f" : "");
    loop *loops[2] = {f, (loop *)dlsym(peer, symbol)};
    double best[2] = {1e9, 1e9};
    fill(low, high);
    for (int round = 0; round < 1000; round++)
        for (int i = 0; i < 2; i++) {
            if (!loops[i]) continue;
            double t = now();
            for (int k = 0; k < 10; k++) loops[i](N, x, y, out);
            t = (now() - t) / (10.0 * N);
            if (t < best[i]) best[i] = t;
        }
    printf("%f %f\n", best[0], loops[1] ? best[1] : 0);
}
