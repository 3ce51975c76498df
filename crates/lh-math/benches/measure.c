/* measure lib.so time|error function double|float low high: nanoseconds per element, or the largest error in ulp
   against long doubles, of loop_lh_<function> over arguments spread evenly. */
#include <dlfcn.h>
#include <math.h>
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

static double x[N], y[N], out[N];
static int single;

static void fill(double low, double high) {
    for (int i = 0; i < N; i++) {
        double a = draw(low, high), b = draw(-4, 4);
        if (single) ((float *)x)[i] = a, ((float *)y)[i] = b;
        else x[i] = a, y[i] = b;
    }
}

static double item(const double *array, int i) { return single ? ((const float *)array)[i] : array[i]; }

static double error(loop *f, const char *name, double low, double high) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%sl", name);
    void *exact = dlsym(RTLD_DEFAULT, symbol);
    int binary = !strcmp(name, "pow") || !strcmp(name, "atan2") || !strcmp(name, "hypot");
    double worst = 0;
    for (int round = 0; round < 500; round++) {
        fill(low, high);
        f(N, x, y, out);
        for (int i = 0; i < N; i++) {
            long double r = binary ? ((two *)exact)(item(x, i), item(y, i)) : ((one *)exact)(item(x, i));
            int exponent;
            frexpl(r, &exponent);
            double e = fabsl(item(out, i) - r) / ldexpl(1, exponent - (single ? 24 : 53));
            if (e > worst) worst = e;
        }
    }
    return worst;
}

int main(int count, char **words) {
    if (count != 7) return 2;
    void *library = dlopen(words[1], RTLD_NOW);
    single = !strcmp(words[4], "float");
    char symbol[64];
    snprintf(symbol, sizeof symbol, "loop_lh_%s%s", words[3], single ? "f" : "");
    loop *f = library ? (loop *)dlsym(library, symbol) : 0;
    if (!f) return fprintf(stderr, "%s: no %s\n", words[1], symbol), 1;
    double low = atof(words[5]), high = atof(words[6]), best = 1e9;
    if (!strcmp(words[2], "error")) return printf("%f\n", error(f, words[3], low, high)), 0;
    fill(low, high);
    for (int round = 0; round < 500; round++) {
        double t = now();
        for (int k = 0; k < 20; k++) f(N, x, y, out);
        t = (now() - t) / (20.0 * N);
        if (t < best) best = t;
    }
    printf("%f\n", best);
}
