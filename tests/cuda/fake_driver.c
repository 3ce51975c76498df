/* NVIDIA's driver without a GPU, for tests. Memory of the "GPU" is the computer's, at addresses of its own, so that nobody
   reads it as the host's by accident; a launch calls back into the test. It counts what is alive.

   It is as lazy as a driver may be: an operation in a stream runs when somebody waits for it, and of other streams only
   what that must wait for. So an object that is used too early, or freed too early, is found. Errors, limits and
   what may be called where are NVIDIA's. Variables of the environment, for programs that tests start:
   FAKE_CUDA_VERSION, FAKE_CUDA_CC (capability times ten), FAKE_CUDA_SLOW (seconds that cuInit takes), FAKE_CUDA_INIT (what
   it returns), FAKE_CUDA_EAGER (be eager, with so many seconds before each operation),
   FAKE_CUDA_UNLOADED (a file that is made when the library is unloaded before the process ends). */
#include "fake_modules.h"

/* Whether a kernel of the current device can use what is there. */
int fake_reaches(uint64_t address) {
    LOCKED;
    int d = device_of(address);
    if (d < 0 || d >= DEVICES || d == current) return 1;
    struct block *b = block_of(address, 1);
    return peers[current][d] && (!b || !b->pool || b->pool->peers[current]);
}
void fake_on_launch(Launch f) { LOCKED; launch = f; }
void fake_set(int pinned, int pools, int idle) { LOCKED; is_pinned = pinned; has_pools = pools; is_idle = idle; }
/* A seed for the order in which operations run; 0 is the least work, in the order in which it was put. */
void fake_order(uint64_t seed) { LOCKED; order = seed * 0x9E3779B97F4A7C15u; }
void fake_eager(int on) { LOCKED; be_eager(on); }
/* Every call that may block waits until all stream callbacks have run, as calls do when the driver's queue is full. */
void fake_block_while_callbacks(int on) { LOCKED; blocks_while_callbacks = on; }
size_t fake_used(void) { LOCKED; return used; }
long fake_assembled(void) { return assembled; }
long fake_launched(void) { return launched; }
long fake_pending(void) {
    LOCKED;
    long n = 0;
    for (long i = begin; i < end; i++) n += op_at(i) != NULL;
    return n;
}
void fake_finish(void) { LOCKED; finish(-1); }
void fake_have(int n) {
    LOCKED;
    devices = n;
    memset(peers, 0, sizeof peers);
    for (int d = 0; d < DEVICES; d++) memset(defaults[d].peers, 0, sizeof defaults[d].peers);
}

Result cuInit(unsigned flags) {
    count(__func__);
    if (is_in_callback) return NOT_PERMITTED;
    const char *slow = getenv("FAKE_CUDA_SLOW"), *broken = getenv("FAKE_CUDA_INIT");
    const char *eager = getenv("FAKE_CUDA_EAGER");
    if (slow) usleep((useconds_t)(atof(slow) * 1e6));
    if (broken) return atoi(broken);
    LOCKED;
    if (owner && owner != getpid()) return NOT_INITIALIZED;
    if (eager && !is_eager) delay = atof(eager), be_eager(1);
    owner = getpid();
    return OK;
}
Result cuDriverGetVersion(int *out) {
    if (is_in_callback) return NOT_PERMITTED;
    *out = version();
    return OK;
}
Result cuDeviceGetCount(int *out) { ENTER_AS(0); *out = devices; return OK; }
Result cuDeviceGet(int *out, int n) { ENTER_AS(0); *out = n; return n >= 0 && n < devices ? OK : INVALID_DEVICE; }
Result cuDeviceGetName(char *out, int n, int device) { ENTER_AS(0); strncpy(out, "a fake", (size_t)n); return OK; }
Result cuDeviceGetUuid_v2(char *out, int device) {
    ENTER_AS(0);
    for (int i = 0; i < 16; i++) out[i] = (char)(0xA0 + i);
    out[15] = (char)device;
    return OK;
}
Result cuDeviceGetAttribute(int *out, int what, int device) {
    static const struct { int what, value; } card[] = {
        {1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {8, SHARED_DEFAULT}, {9, 65536},
        {10, 32}, {11, 2147483647}, {12, 65536}, {13, 1980000}, {14, 512}, {15, 1}, {16, MULTIPROCESSORS}, {19, 1},
        {31, 1}, {32, 1}, {33, 25}, {36, 3201000}, {37, 6144}, {38, 62914560}, {39, 2048}, {40, 3}, {41, 1}, {78, 1},
        {81, SHARED_OF_SM}, {82, REGISTERS_OF_SM}, {83, 1}, {88, 1}, {89, 1}, {95, 1}, {97, SHARED_MOST}, {106, BLOCKS_OF_SM},
        {111, SHARED_RESERVED},
    };
    ENTER_AS(0);
    if (what < 1 || what > 148) return INVALID_VALUE;
    *out = what == 75 ? capability() / 10 : what == 76 ? capability() % 10 : what == 115 ? has_pools : 0;
    for (size_t i = 0; i < sizeof card / sizeof *card; i++)
        if (card[i].what == what) *out = card[i].value;
    return OK;
}
Result cuDevicePrimaryCtxRetain(void **out, int device) { ENTER_AS(0); *out = &contexts[device]; return OK; }
Result cuDevicePrimaryCtxRelease_v2(int device) { ENTER_AS(0); return OK; }
Result cuCtxSetCurrent(void *context) {
    ENTER_AS(0);
    int wanted = !context ? -1 : (int)((char *)context - contexts);
    if (wanted < -1 || wanted >= devices) return INVALID_CONTEXT;
    current = wanted;
    return OK;
}
Result cuMemGetInfo_v2(size_t *free, size_t *total) { IN_CONTEXT; *free = LIMIT - used; *total = LIMIT; return OK; }

/* Pools. That of the device belongs to all libraries of the process, so that changes of it are counted. */
static long own_pools, default_changes, from_default;
static uint64_t threshold;
long fake_own_pools(void) { return own_pools; }
long fake_default_pool_changes(void) { return default_changes; }
long fake_from_default_pool(void) { return from_default; }
/* What the newest pool keeps of what was freed. */
uint64_t fake_threshold(void) { return threshold; }
Result cuDeviceGetDefaultMemPool(void **out, int device) { ENTER_AS(0); *out = &defaults[device]; return OK; }
Result cuMemPoolCreate(void **out, const void *props) {
    ENTER_AS(0);
    const int *p = props;
    const uint64_t *rest = (const uint64_t *)props + 2;
    if (!has_pools) return NOT_FOUND;
    if (p[0] != 1 || p[1] != 0 || p[2] != 1 || p[3] < 0 || p[3] >= devices) return INVALID_VALUE;
    for (int i = 0; i < 9; i++)
        if (rest[i]) return INVALID_VALUE;
    struct pool *made = calloc(1, sizeof *made);
    *made = (struct pool){1, p[3]};
    *out = made;
    own_pools++;
    threshold = 0;
    return OK;
}
Result cuMemPoolDestroy(void *pool) {
    ENTER_AS(0);
    struct pool *p = pool;
    if (p->is_default || !p->is_alive) return INVALID_VALUE;
    p->is_alive = 0;
    own_pools--;
    return OK;
}
Result cuMemPoolSetAttribute(void *pool, int what, void *value) {
    ENTER_AS(0);
    struct pool *p = pool;
    if (!p->is_alive || what != 4) return INVALID_VALUE;
    default_changes += p->is_default;
    if (p->is_default) return INVALID_VALUE;
    threshold = p->threshold = *(uint64_t *)value;
    return OK;
}
Result cuMemPoolTrimTo(void *pool, size_t keep) {
    ENTER_AS(0);
    struct pool *p = pool;
    default_changes += p->is_default;
    return p->is_alive ? OK : INVALID_VALUE;
}
Result cuMemPoolSetAccess(void *pool, const int *access, size_t n) {
    ENTER_AS(0);
    struct pool *p = pool;
    if (!p->is_alive || n != 1 || access[0] != 1 || access[1] >= devices || access[2] != 3) return INVALID_VALUE;
    p->peers[access[1]] = 1;
    return OK;
}
Result cuDeviceCanAccessPeer(int *out, int device, int other) { ENTER_AS(0); *out = device != other; return OK; }
Result cuCtxEnablePeerAccess(void *context, unsigned flags) {
    IN_CONTEXT;
    char *known = &peers[current][(char *)context - contexts];
    return *known ? PEERS_ALREADY : (*known = 1, OK);
}

static Result allocate(uint64_t *out, size_t size, struct pool *pool, void *stream) {
    struct block *b;
    Result r = !has_pools ? NOT_FOUND : pool->is_alive && pool->device == stream_of(stream)->device ? OK : INVALID_VALUE;
    if (!r && !stream_of(stream)->is_alive) r = INVALID_HANDLE;
    if (!r) r = take(out, size, current, pool, &b);
    if (!r) put((struct op){ALLOC, .block = b}, stream, &r);
    return r;
}
/* A block whose freeing is refused stays until the next reset. */
static Result leave(uint64_t address, void *stream) {
    struct block *b = block_of(address, 1);
    Result r;
    if (!b || told(b) != address || b->is_leaving) return INVALID_VALUE;
    if (!put((struct op){FREE, .block = b}, stream, &r)) return b->is_orphan = 1, r;
    b->is_leaving = 1;
    used -= b->size;
    leaving += b->size;
    return OK;
}
Result cuMemAllocAsync(uint64_t *out, size_t size, void *stream) {
    IN_CONTEXT;
    from_default++;
    return allocate(out, size, &defaults[current], stream);
}
Result cuMemAllocFromPoolAsync(uint64_t *out, size_t size, void *pool, void *stream) {
    IN_CONTEXT;
    return allocate(out, size, pool, stream);
}
static Result refuse_free(uint64_t address, Result r) {
    if (r && r != INVALID_VALUE && r != NOT_INITIALIZED) {
        LOCKED;
        struct block *b = block_of(address, 1);
        if (b && told(b) == address) b->is_orphan = 1;
    }
    return r;
}
static Result free_async(uint64_t address, void *stream) {
    IN_CONTEXT;
    return has_pools ? leave(address, stream) : NOT_FOUND;
}
Result cuMemFreeAsync(uint64_t address, void *stream) { count(__func__); return refuse_free(address, free_async(address, stream)); }
Result cuMemAlloc_v2(uint64_t *out, size_t size) {
    IN_CONTEXT;
    struct block *b;
    Result r = take(out, size, current, NULL, &b);
    if (!r) b->is_there = 1;
    return r;
}
/* As the driver's, it waits for everything. */
static Result free_now(uint64_t address) {
    IN_CONTEXT;
    Result r = leave(address, NULL);
    return r ? r : finish(current);
}
Result cuMemFree_v2(uint64_t address) { count(__func__); return refuse_free(address, free_now(address)); }

/* What the host has as well is at the host's addresses: as if of a device before the first. */
Result cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    IN_CONTEXT;
    uint64_t at;
    struct block *b;
    Result r = flags == 3 ? take(&at, size, HOST, NULL, &b) : INVALID_VALUE;
    if (!r) b->is_there = 1, *out = (void *)(uintptr_t)at;
    return r;
}
Result cuMemFreeHost(void *at) { count(__func__); return refuse_free((uintptr_t)at, free_now((uintptr_t)at)); }

static struct { uintptr_t at; size_t size; } registered[256];
static long profiled;
long fake_registered(void) {
    LOCKED;
    long n = 0;
    for (int i = 0; i < 256; i++) n += registered[i].size != 0;
    return n;
}
long fake_profiled(void) { return profiled; }
/* Memory that is not paged is read and written when a copy's turn comes. */
static int stays(const void *host, size_t size) {
    uintptr_t at = (uintptr_t)host;
    for (int i = 0; i < 256; i++)
        if (registered[i].size && at >= registered[i].at && at + size <= registered[i].at + registered[i].size) return 1;
    return is_pinned || block_of(at, size) != NULL;
}
Result cuMemHostRegister_v2(void *host, size_t size, unsigned flags) {
    IN_CONTEXT;
    uintptr_t at = (uintptr_t)host;
    int empty = -1;
    if (!at || !size || flags != 1) return INVALID_VALUE;
    for (int i = 0; i < 256; i++) {
        uintptr_t other = registered[i].at, last = other + registered[i].size - 1;
        if (!registered[i].size) empty = i;
        else if (at / PAGE <= last / PAGE && other / PAGE <= (at + size - 1) / PAGE) return ALREADY_REGISTERED;
    }
    if (empty < 0) return OUT_OF_MEMORY;
    registered[empty].at = at, registered[empty].size = size;
    return OK;
}
Result cuMemHostUnregister(void *host) {
    IN_CONTEXT;
    for (int i = 0; i < 256; i++)
        if (registered[i].size && registered[i].at == (uintptr_t)host) return registered[i].size = 0, OK;
    return NOT_REGISTERED;
}
Result cuProfilerStart(void) { IN_CONTEXT; return profiled++, OK; }
Result cuProfilerStop(void) { IN_CONTEXT; return OK; }
Result cuPointerGetAttribute(void *out, int what, uint64_t address) {
    IN_CONTEXT;
    if (what != 9 || !block_of(address, 1)) return INVALID_VALUE;
    *(int *)out = device_of(address);
    return OK;
}

Result cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size) {
    IN_CONTEXT;
    Result r = finish(-1);
    char *a = inside(to, size), *b = inside(from, size);
    if (r || !a || !b || &contexts[device_of(to)] != to_context || &contexts[device_of(from)] != from_context) return r ? r : INVALID_VALUE;
    memmove(a, b, size);
    return OK;
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
    IN_CONTEXT;
    Result r;
    if (!block_of(to, size)) return INVALID_VALUE;
    struct op given = {IN, .to = to, .host = (void *)from, .size = size};
    /* Memory that may be paged is copied aside at once. */
    if (!stays(from, size)) given.staged = memcpy(malloc(size + 1), from, size);
    if (!put(given, stream, &r)) free(given.staged);
    return r;
}
Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
    IN_CONTEXT;
    Result r;
    if (!block_of(from, size)) return INVALID_VALUE;
    struct op *o = put((struct op){OUT, .from = from, .host = to, .size = size}, stream, &r);
    return o && !stays(to, size) ? finish_to(o->number) : r;
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
    IN_CONTEXT;
    Result r;
    if (!block_of(to, size) || !block_of(from, size)) return INVALID_VALUE;
    put((struct op){WITHIN, .to = to, .from = from, .size = size}, stream, &r);
    return r;
}

Result cuGetErrorName(int code, const char **out) {
    static const struct { int code; const char *name; } names[] = {
        {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {3, "CUDA_ERROR_NOT_INITIALIZED"}, {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"}, {201, "CUDA_ERROR_INVALID_CONTEXT"}, {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {218, "CUDA_ERROR_INVALID_PTX"}, {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {400, "CUDA_ERROR_INVALID_HANDLE"},
        {500, "CUDA_ERROR_NOT_FOUND"}, {600, "CUDA_ERROR_NOT_READY"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}, {702, "CUDA_ERROR_LAUNCH_TIMEOUT"}, {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
        {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"}, {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
        {716, "CUDA_ERROR_MISALIGNED_ADDRESS"}, {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"}, {718, "CUDA_ERROR_INVALID_PC"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"}, {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"}, {800, "CUDA_ERROR_NOT_PERMITTED"},
    };
    *out = "CUDA_ERROR_UNKNOWN";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) *out = names[i].name;
    return OK;
}
Result cuGetErrorString(int code, const char **out) { *out = "as the fake says"; return OK; }

/* Ends what is pending, well or not, and forgets errors and settings. */
void fake_reset(void) {
    LOCKED;
    blocks_while_callbacks = 0;
    finish(-1);
    while (begin < end && sticky) pthread_cond_wait(&changed, &lock);
    be_eager(0);
    sticky = 0;
    finish(-1);
    for (int i = 0; i < top; i++)
        if (blocks[i].at && blocks[i].is_orphan) used -= blocks[i].size, leaving += blocks[i].size, give_back(&blocks[i]);
    is_pinned = is_idle = 0;
    has_pools = 1;
    order = 0;
    delay = 0;
    slow_attributes = 0;
    default_changes = from_default = 0;
}
/* Nothing of Python runs any more: the interpreter ends. */
void fake_close(void) {
    LOCKED;
    finish(-1);
    launch = NULL;
}

/* A library that is unloaded by `dlclose` leaves a file; at the end of the process the name of it is gone by then. */
__attribute__((constructor)) static void loaded(void) {
    extern int __cxa_atexit(void (*)(void *), void *, void *);
    __cxa_atexit((void (*)(void *))unsetenv, strdup("FAKE_CUDA_UNLOADED"), NULL);
}
__attribute__((destructor)) static void unloaded(void) {
    const char *name = getenv("FAKE_CUDA_UNLOADED");
    if (name) fclose(fopen(name, "w"));
}
