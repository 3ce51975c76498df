/* NVIDIA's driver without a GPU, for tests. Memory of the "GPU" is the computer's, at addresses of its own, so that nobody
   reads it as the host's by accident; a launch calls back into the test. It counts what is alive. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500 };
enum { BLOCKS = 4096, LIMIT = 64 << 20, DEVICES = 4, PEERS_ALREADY = 704 };

struct block { char *at; size_t size; int device; };
static struct block blocks[BLOCKS];
static size_t used;
static int devices = 1;
static char contexts[DEVICES], pools[DEVICES], peers[DEVICES][DEVICES], pool_peers[DEVICES][DEVICES];
static _Thread_local int current;
struct module { char *text; uint64_t variable; };
struct function { struct module *module; char name[256]; };

typedef Result (*Launch)(const char *text, const char *name, const unsigned *dims, unsigned shared, int cooperative, void **words,
                         void *error);
static Launch launch;

void fake_on_launch(Launch f) { launch = f; }
size_t fake_used(void) { return used; }
void fake_have(int n) {
    devices = n;
    memset(peers, 0, sizeof peers);
    memset(pool_peers, 0, sizeof pool_peers);
}

/* The first byte of an address says whose it is. */
static uint64_t told(const char *at, int device) { return (uint64_t)(uintptr_t)at | (uint64_t)(0x10 + device) << 56; }
static int device_of(uint64_t address) { return (int)(address >> 56) - 0x10; }
static char *inside(uint64_t address, size_t size) {
    char *at = (char *)(uintptr_t)(address & ~((uint64_t)0xFF << 56));
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at && blocks[i].device == device_of(address) && at >= blocks[i].at && at + size <= blocks[i].at + blocks[i].size) return at;
    return NULL;
}
/* Whether a kernel of the current device can use what is there. */
int fake_reaches(uint64_t address) {
    int d = device_of(address);
    return d < 0 || d >= DEVICES || d == current || (peers[current][d] && pool_peers[current][d]);
}

Result cuInit(unsigned flags) { return OK; }
Result cuDriverGetVersion(int *out) { *out = 12040; return OK; }
Result cuDeviceGetCount(int *out) { *out = devices; return OK; }
Result cuDeviceGet(int *out, int n) { *out = n; return n < devices ? OK : INVALID_DEVICE; }
Result cuDeviceGetName(char *out, int n, int device) { strncpy(out, "a fake", (size_t)n); return OK; }
Result cuDeviceGetAttribute(int *out, int what, int device) {
    switch (what) {
    case 1: case 2: case 3: *out = 1024; break;
    case 10: *out = 32; break;
    case 75: *out = 9; break;
    case 115: *out = 1; break;
    default: *out = what == 76 ? 0 : what;
    }
    return OK;
}
Result cuDevicePrimaryCtxRetain(void **out, int device) { *out = &contexts[device]; return OK; }
Result cuDevicePrimaryCtxRelease_v2(int device) { return OK; }
Result cuCtxSetCurrent(void *context) {
    current = (int)((char *)context - contexts);
    return current >= 0 && current < devices ? OK : INVALID_HANDLE;
}
Result cuCtxSynchronize(void) { return OK; }
Result cuMemGetInfo_v2(size_t *free, size_t *total) { *free = LIMIT - used; *total = LIMIT; return OK; }
Result cuDeviceGetDefaultMemPool(void **out, int device) { *out = &pools[device]; return OK; }
Result cuMemPoolSetAccess(void *pool, const int *access, size_t n) {
    if (n != 1 || access[0] != 1 || access[2] != 3) return INVALID_VALUE;
    pool_peers[access[1]][(char *)pool - pools] = 1;
    return OK;
}
Result cuDeviceCanAccessPeer(int *out, int device, int other) { *out = device != other; return OK; }
Result cuCtxEnablePeerAccess(void *context, unsigned flags) {
    char *known = &peers[current][(char *)context - contexts];
    return *known ? PEERS_ALREADY : (*known = 1, OK);
}
Result cuMemPoolSetAttribute(void *pool, int what, void *value) { return OK; }

Result cuMemAllocAsync(uint64_t *out, size_t size, void *stream) {
    if (size == 0) return INVALID_VALUE;
    if (size > LIMIT - used) return OUT_OF_MEMORY;
    for (int i = 0; i < BLOCKS; i++)
        if (!blocks[i].at) {
            blocks[i].at = aligned_alloc(256, (size + 255) / 256 * 256);
            blocks[i].size = size;
            memset(blocks[i].at, 0xA5, size);
            blocks[i].device = current;
            used += size;
            *out = told(blocks[i].at, current);
            return OK;
        }
    return OUT_OF_MEMORY;
}
Result cuMemFreeAsync(uint64_t address, void *stream) {
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at && told(blocks[i].at, blocks[i].device) == address) {
            used -= blocks[i].size;
            free(blocks[i].at);
            blocks[i].at = NULL;
            return OK;
        }
    return INVALID_VALUE;
}
/* What the host has as well is at the host's addresses: as if of a device before the first. */
Result cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    uint64_t at;
    int before = current;
    current = -0x10;
    Result r = flags == 3 ? cuMemAllocAsync(&at, size, NULL) : INVALID_VALUE;
    current = before;
    *out = (void *)(uintptr_t)at;
    return r;
}
Result cuMemFreeHost(void *at) { return cuMemFreeAsync((uint64_t)(uintptr_t)at, NULL); }
Result cuMemFree_v2(uint64_t at) { return cuMemFreeAsync(at, NULL); }
Result cuPointerGetAttribute(void *out, int what, uint64_t address) {
    if (what != 9 || !inside(address, 1)) return INVALID_VALUE;
    *(int *)out = device_of(address);
    return OK;
}
Result cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size) {
    char *a = inside(to, size), *b = inside(from, size);
    if (!a || !b || &contexts[device_of(to)] != to_context || &contexts[device_of(from)] != from_context) return INVALID_VALUE;
    memmove(a, b, size);
    return OK;
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
    char *at = inside(to, size);
    if (!at) return INVALID_VALUE;
    memcpy(at, from, size);
    return OK;
}
Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
    char *at = inside(from, size);
    if (!at) return INVALID_VALUE;
    memcpy(to, at, size);
    return OK;
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
    char *a = inside(to, size), *b = inside(from, size);
    if (!a || !b) return INVALID_VALUE;
    memmove(a, b, size);
    return OK;
}

Result cuModuleLoadDataEx(void **out, const void *text, unsigned n, int *names, void **values) {
    if (!strstr(text, ".entry")) return INVALID_PTX;
    struct module *m = calloc(1, sizeof *m);
    m->text = strdup(text);
    *out = m;
    return OK;
}
Result cuModuleUnload(void *module) { return OK; }
Result cuModuleGetFunction(void **out, void *module, const char *name) {
    struct function *f = calloc(1, sizeof *f);
    f->module = module;
    strncpy(f->name, name, sizeof f->name - 1);
    *out = f;
    return strstr(f->module->text, name) ? OK : NOT_FOUND;
}
Result cuModuleGetGlobal_v2(uint64_t *at, size_t *size, void *module, const char *name) {
    struct module *m = module;
    if (!strstr(m->text, name)) return NOT_FOUND;
    if (!m->variable) {
        Result r = cuMemAllocAsync(&m->variable, 32, NULL);
        if (r) return r;
        memset(inside(m->variable, 32), 0, 32);
        used -= 32;
    }
    *at = m->variable;
    *size = 32;
    return OK;
}
Result cuFuncGetAttribute(int *out, int what, void *function) { *out = 10 + what; return OK; }
Result cuFuncSetAttribute(void *function, int what, int value) { return what == 8 ? OK : INVALID_VALUE; }

static Result start(struct function *f, const unsigned *dims, unsigned shared, int cooperative, void **words) {
    if (dims[3] * dims[4] * dims[5] > 1024) return INVALID_VALUE;
    uint64_t at;
    size_t size;
    char *error = cuModuleGetGlobal_v2(&at, &size, f->module, "lh_error") == OK ? inside(at, size) : NULL;
    return launch ? launch(f->module->text, f->name, dims, shared, cooperative, words, error) : INVALID_HANDLE;
}
Result cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                      void **words, void **extra) {
    return start(f, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, 0, words);
}
Result cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 void *stream, void **words) {
    return start(f, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, 1, words);
}

Result cuEventCreate(void **out, unsigned flags) { *out = &blocks; return OK; }
Result cuEventRecord(void *event, void *stream) { return OK; }
Result cuEventSynchronize(void *event) { return OK; }
Result cuEventElapsedTime(float *out, void *a, void *b) { *out = 1.5f; return OK; }
Result cuEventDestroy_v2(void *event) { return OK; }
Result cuStreamSynchronize(void *stream) { return OK; }
Result cuGetErrorName(int code, const char **out) {
    *out = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX"
         : code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_UNKNOWN";
    return OK;
}
Result cuGetErrorString(int code, const char **out) { *out = "as the fake says"; return OK; }
