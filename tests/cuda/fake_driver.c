/* NVIDIA's driver without a GPU, for tests. Memory of the "GPU" is the computer's, at addresses of its own, so that nobody
   reads it as the host's by accident; a launch calls back into the test. It counts what is alive.

   It is as lazy as a driver may be: what is put into a stream is done when somebody waits for it, and of other streams only
   what that must wait for. So whatever is used too early, or freed too early, is found. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500,
       NOT_READY = 600, ILLEGAL_ADDRESS = 700 };
enum { BLOCKS = 4096, SHARED = 48 << 10, STATIC_SHARED = 11, LIMIT = 64 << 20, WORDS = 512, DEVICES = 4, PEERS_ALREADY = 704, HOST = -0x10 };
#define CUBIN "\x7f" "FAKE"

struct block { char *at; size_t size; int device, is_there; };
static struct block blocks[BLOCKS];
static size_t used, leaving;
static int devices = 1;
static char contexts[DEVICES], pools[DEVICES], peers[DEVICES][DEVICES], pool_peers[DEVICES][DEVICES];
static _Thread_local int current = -1;
/* What NVIDIA's documentation says of most functions: a thread without a context is refused. */
#define IN_CONTEXT if (current < 0) return INVALID_CONTEXT
struct module { char *text; uint64_t variable; };
struct function { struct module *module; char name[256]; unsigned allowed; };
struct stream { int is_alive; unsigned flags; int device; };
struct event { int is_alive; long at; };

typedef Result (*Launch)(const char *text, const char *name, const unsigned *dims, unsigned shared, int cooperative, void **words,
                         void *error);
typedef void (*Callback)(void *stream, Result status, void *data);
static Launch launch;
static struct stream nulls[DEVICES] = {{1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {1, 0, 3}};
static struct stream per_threads[DEVICES] = {{1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {1, 0, 3}};

enum kind { LAUNCH, IN, OUT, WITHIN, ALLOC, FREE, RECORD, WAIT, CALL };
struct op {
    enum kind kind;
    struct stream *stream;
    int is_done, is_needed;
    struct block *block;            /* ALLOC, FREE */
    uint64_t to, from;              /* copies */
    void *host, *staged;
    size_t size;
    struct function *function;      /* LAUNCH */
    unsigned dims[6], shared;
    int is_cooperative;
    uint64_t *words;
    struct event *event;            /* RECORD; of a WAIT, what is waited for is `at` */
    long at;
    Callback callback;
    void *data;
};
static struct op *ops;
static long begin, end, room;

/* What tests set, and read. */
static int is_pinned, has_pools = 1, is_idle, sticky;
static long assembled, launched, unordered;
void fake_on_launch(Launch f) { launch = f; }
void fake_set(int pinned, int pools, int idle) { is_pinned = pinned; has_pools = pools; is_idle = idle; }
size_t fake_used(void) { return used; }
long fake_assembled(void) { return assembled; }
long fake_launched(void) { return launched; }
long fake_pending(void) {
    long n = 0;
    for (long i = begin; i < end; i++) n += !ops[i - begin].is_done;
    return n;
}

void fake_have(int n) {
    devices = n;
    memset(peers, 0, sizeof peers);
    memset(pool_peers, 0, sizeof pool_peers);
}

/* The first byte of an address says whose it is. */
static uint64_t told(const struct block *b) { return (uint64_t)(uintptr_t)b->at | (uint64_t)(0x10 + b->device) << 56; }
static int device_of(uint64_t address) { return (int)(address >> 56) - 0x10; }
static char *plain(uint64_t address) { return (char *)(uintptr_t)(address & ~((uint64_t)0xFF << 56)); }
static struct block *block_of(uint64_t address, size_t size) {
    char *at = plain(address);
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at && blocks[i].device == device_of(address) && at >= blocks[i].at && at + size <= blocks[i].at + blocks[i].size)
            return &blocks[i];
    return NULL;
}
static char *inside(uint64_t address, size_t size) {
    struct block *b = block_of(address, size);
    return b && b->is_there ? plain(address) : NULL;
}
/* Whether a kernel of the current device can use what is there. */
int fake_reaches(uint64_t address) {
    int d = device_of(address);
    return d < 0 || d >= DEVICES || d == current || (peers[current][d] && pool_peers[current][d]);
}

static int is_null(const struct stream *s) { return s >= nulls && s < nulls + DEVICES; }
static struct stream *stream_of(void *handle) {
    if (handle == NULL || handle == (void *)1) return &nulls[current];
    return handle == (void *)2 ? &per_threads[current] : handle;
}

Result cuModuleGetGlobal_v2(uint64_t *at, size_t *size, void *module, const char *name);

static Result run_there(struct op *o) {
    char *a, *b;
    switch (o->kind) {
    case LAUNCH: {
        for (int i = 0; o->words && i < WORDS; i++)
            if (device_of(o->words[i]) >= 0 && device_of(o->words[i]) < DEVICES && !inside(o->words[i], 1)) return ILLEGAL_ADDRESS;
        uint64_t at;
        size_t size;
        char *error = cuModuleGetGlobal_v2(&at, &size, o->function->module, "lh_error") == OK ? inside(at, size) : NULL;
        void *words[WORDS];
        for (int i = 0; i < WORDS; i++) words[i] = &o->words[i];
        return launch ? launch(o->function->module->text, o->function->name, o->dims, o->shared, o->is_cooperative, words, error)
                      : INVALID_HANDLE;
    }
    case IN:
        if (!(a = inside(o->to, o->size))) return ILLEGAL_ADDRESS;
        memcpy(a, o->staged ? o->staged : o->host, o->size);
        return OK;
    case OUT:
        if (!(a = inside(o->from, o->size))) return ILLEGAL_ADDRESS;
        memcpy(o->host, a, o->size);
        return OK;
    case WITHIN:
        a = inside(o->to, o->size), b = inside(o->from, o->size);
        if (!a || !b) return ILLEGAL_ADDRESS;
        memmove(a, b, o->size);
        return OK;
    case ALLOC: o->block->is_there = 1; return OK;
    case FREE:
        leaving -= o->block->size;
        memset(o->block->at, 0xDE, o->block->size);
        free(o->block->at);
        o->block->at = NULL;
        o->block->is_there = 0;
        return OK;
    case CALL: o->callback(is_null(o->stream) ? NULL : o->stream, sticky, o->data); return OK;
    default: return OK;
    }
}

static Result run(struct op *o) {
    int before = current;
    current = o->stream->device;
    Result r = run_there(o);
    current = before;
    return r;
}

static int is_before(struct op *j, long at, struct op *k) {
    if (j->stream == k->stream) return 1;
    if (k->kind == WAIT && k->at == at) return 1;
    if (j->stream->device != k->stream->device) return 0;
    if (is_null(k->stream)) return !(j->stream->flags & 1);
    return is_null(j->stream) && !(k->stream->flags & 1);
}

/* Does what must be done before the operation of a number is; with a number beyond all, everything. */
static Result finish(long number) {
    for (long i = begin; i < end; i++) ops[i - begin].is_needed = number >= end || i == number;
    for (long k = number < end ? number : begin - 1; k > begin; k--)
        if (ops[k - begin].is_needed)
            for (long j = begin; j < k; j++)
                if (is_before(&ops[j - begin], j, &ops[k - begin])) ops[j - begin].is_needed = 1;
    for (long i = begin; i < end && !sticky; i++) {
        struct op *o = &ops[i - begin];
        if (!o->is_needed || o->is_done) continue;
        o->is_done = 1;
        /* The callback of a launch or of a stream may put nothing into streams, so the operations stay where they are. */
        sticky = run(o);
        free(o->words);
        free(o->staged);
        o->words = NULL;
        o->staged = NULL;
    }
    while (begin < end && ops[0].is_done) {
        begin++;
        memmove(ops, ops + 1, (size_t)(end - begin) * sizeof *ops);
    }
    return sticky;
}

static struct op *put(enum kind kind, void *handle, Result *result) {
    struct stream *s = stream_of(handle);
    *result = sticky ? sticky : s->is_alive ? OK : INVALID_HANDLE;
    if (*result) return NULL;
    if (end - begin == room) ops = realloc(ops, (size_t)(room = 2 * room + 64) * sizeof *ops);
    struct op *o = &ops[end++ - begin];
    memset(o, 0, sizeof *o);
    o->kind = kind;
    o->stream = s;
    return o;
}

Result cuInit(unsigned flags) { return OK; }
Result cuDriverGetVersion(int *out) {
    const char *version = getenv("FAKE_CUDA_VERSION");
    *out = version ? atoi(version) : 12040;
    return OK;
}
Result cuDeviceGetCount(int *out) { *out = devices; return OK; }
Result cuDeviceGet(int *out, int n) { *out = n; return n < devices ? OK : INVALID_DEVICE; }
Result cuDeviceGetName(char *out, int n, int device) { strncpy(out, "a fake", (size_t)n); return OK; }
Result cuDeviceGetAttribute(int *out, int what, int device) {
    switch (what) {
    case 1: case 2: case 3: *out = 1024; break;
    case 10: *out = 32; break;
    case 75: *out = 9; break;
    case 115: *out = has_pools; break;
    default: *out = what == 76 ? 0 : what;
    }
    return OK;
}
Result cuDevicePrimaryCtxRetain(void **out, int device) { *out = &contexts[device]; return OK; }
Result cuDevicePrimaryCtxRelease_v2(int device) { return OK; }
Result cuCtxSetCurrent(void *context) {
    current = !context ? -1 : (int)((char *)context - contexts);
    return current >= -1 && current < devices ? OK : INVALID_HANDLE;
}
Result cuCtxSynchronize(void) { return finish(end); }
Result cuMemGetInfo_v2(size_t *free, size_t *total) { IN_CONTEXT; *free = LIMIT - used; *total = LIMIT; return OK; }
Result cuDeviceGetDefaultMemPool(void **out, int device) { *out = &pools[device]; return OK; }
Result cuMemPoolSetAccess(void *pool, const int *access, size_t n) {
    if (n != 1 || access[0] != 1 || access[2] != 3) return INVALID_VALUE;
    pool_peers[access[1]][(char *)pool - pools] = 1;
    return OK;
}
Result cuDeviceCanAccessPeer(int *out, int device, int other) { *out = device != other; return OK; }
Result cuCtxEnablePeerAccess(void *context, unsigned flags) {
    IN_CONTEXT;
    char *known = &peers[current][(char *)context - contexts];
    return *known ? PEERS_ALREADY : (*known = 1, OK);
}
Result cuMemPoolSetAttribute(void *pool, int what, void *value) { return what == 4 && *(uint64_t *)value == UINT64_MAX ? OK : INVALID_VALUE; }
Result cuMemPoolTrimTo(void *pool, size_t keep) { return pool == &pools[current] && !keep ? OK : INVALID_VALUE; }

static Result take(uint64_t *out, size_t size, int device, struct block **block) {
    if (size == 0) return INVALID_VALUE;
    if (size > LIMIT - used - leaving) return OUT_OF_MEMORY;
    for (int i = 0; i < BLOCKS; i++)
        if (!blocks[i].at) {
            blocks[i] = (struct block){aligned_alloc(256, (size + 255) / 256 * 256), size, device, 0};
            memset(blocks[i].at, 0xA5, size);
            used += size;
            *out = told(&blocks[i]);
            *block = &blocks[i];
            return OK;
        }
    return OUT_OF_MEMORY;
}
static Result leave(uint64_t address, void *stream) {
    struct block *b = block_of(address, 1);
    Result r;
    if (!b || told(b) != address) return INVALID_VALUE;
    struct op *o = put(FREE, stream, &r);
    if (!o) return r;
    o->block = b;
    used -= b->size;
    leaving += b->size;
    return OK;
}
Result cuMemAllocAsync(uint64_t *out, size_t size, void *stream) {
    IN_CONTEXT;
    struct block *b;
    Result r = has_pools ? take(out, size, current, &b) : NOT_FOUND;
    struct op *o = r ? NULL : put(ALLOC, stream, &r);
    if (o) o->block = b;
    return r;
}
Result cuMemFreeAsync(uint64_t address, void *stream) { IN_CONTEXT; return has_pools ? leave(address, stream) : NOT_FOUND; }
Result cuMemAlloc_v2(uint64_t *out, size_t size) {
    IN_CONTEXT;
    struct block *b;
    Result r = sticky ? sticky : take(out, size, current, &b);
    if (!r) b->is_there = 1;
    return r;
}
/* As the driver's, it waits for everything. */
Result cuMemFree_v2(uint64_t address) {
    IN_CONTEXT;
    Result r = leave(address, NULL);
    return r ? r : finish(end);
}

/* What the host has as well is at the host's addresses: as if of a device before the first. */
Result cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    IN_CONTEXT;
    uint64_t at;
    struct block *b;
    Result r = flags == 3 ? take(&at, size, HOST, &b) : INVALID_VALUE;
    if (!r) b->is_there = 1, *out = (void *)(uintptr_t)at;
    return r;
}
Result cuMemFreeHost(void *at) { IN_CONTEXT; return cuMemFree_v2((uint64_t)(uintptr_t)at); }
static long registered, profiled;
long fake_registered(void) { return registered; }
long fake_profiled(void) { return profiled; }
Result cuMemHostRegister_v2(void *at, size_t size, unsigned flags) {
    IN_CONTEXT;
    return at && size && flags == 1 ? registered++, OK : INVALID_VALUE;
}
Result cuMemHostUnregister(void *at) { IN_CONTEXT; return at ? registered--, OK : INVALID_VALUE; }
Result cuProfilerStart(void) { IN_CONTEXT; return profiled++, OK; }
Result cuProfilerStop(void) { IN_CONTEXT; return OK; }
Result cuPointerGetAttribute(void *out, int what, uint64_t address) {
    IN_CONTEXT;
    if (what != 9 || !block_of(address, 1)) return INVALID_VALUE;
    *(int *)out = device_of(address);
    return OK;
}
Result cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size) {
    Result r = finish(end);
    char *a = inside(to, size), *b = inside(from, size);
    if (r || !a || !b || &contexts[device_of(to)] != to_context || &contexts[device_of(from)] != from_context) return r ? r : INVALID_VALUE;
    memmove(a, b, size);
    return OK;
}

Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
    IN_CONTEXT;
    Result r;
    if (!block_of(to, size)) return INVALID_VALUE;
    struct op *o = put(IN, stream, &r);
    if (!o) return r;
    o->to = to, o->host = (void *)from, o->size = size;
    /* Memory that may be paged is copied aside at once. */
    if (!is_pinned) o->staged = memcpy(malloc(size + 1), from, size);
    return OK;
}
Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
    IN_CONTEXT;
    Result r;
    if (!block_of(from, size)) return INVALID_VALUE;
    struct op *o = put(OUT, stream, &r);
    if (!o) return r;
    o->from = from, o->host = to, o->size = size;
    return is_pinned ? OK : finish(end - 1);
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
    IN_CONTEXT;
    Result r;
    if (!block_of(to, size) || !block_of(from, size)) return INVALID_VALUE;
    struct op *o = put(WITHIN, stream, &r);
    if (o) o->to = to, o->from = from, o->size = size;
    return r;
}

/* "Machine code" is PTX after a mark. */
struct link { char *code; };
Result cuLinkCreate_v2(unsigned n, int *names, void **values, void **state) { IN_CONTEXT; *state = calloc(1, sizeof(struct link)); return OK; }
Result cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned n, int *names, void **values) {
    IN_CONTEXT;
    struct link *l = state;
    if (type != 1 || !strstr(data, ".entry")) return INVALID_PTX;
    l->code = malloc(size + sizeof CUBIN);
    strcpy(l->code, CUBIN);
    strcat(l->code, data);
    return OK;
}
Result cuLinkComplete(void *state, void **code, size_t *size) {
    IN_CONTEXT;
    struct link *l = state;
    assembled++;
    *code = l->code;
    *size = strlen(l->code);
    return OK;
}
Result cuLinkDestroy(void *state) { free(((struct link *)state)->code); free(state); return OK; }

Result cuModuleLoadDataEx(void **out, const void *code, unsigned n, int *names, void **values) {
    IN_CONTEXT;
    const char *text = code;
    if (!strncmp(text, CUBIN, strlen(CUBIN))) text += strlen(CUBIN);
    else assembled++;
    if (!strstr(text, ".entry")) return INVALID_PTX;
    struct module *m = calloc(1, sizeof *m);
    m->text = strdup(text);
    *out = m;
    return OK;
}
Result cuModuleUnload(void *module) { IN_CONTEXT; return finish(end); }
Result cuModuleGetFunction(void **out, void *module, const char *name) {
    IN_CONTEXT;
    struct function *f = calloc(1, sizeof *f);
    f->module = module;
    f->allowed = SHARED - STATIC_SHARED;
    strncpy(f->name, name, sizeof f->name - 1);
    *out = f;
    return strstr(f->module->text, name) ? OK : NOT_FOUND;
}
Result cuModuleGetGlobal_v2(uint64_t *at, size_t *size, void *module, const char *name) {
    struct module *m = module;
    struct block *b;
    if (!strstr(m->text, name)) return NOT_FOUND;
    if (!m->variable) {
        Result r = take(&m->variable, 32, current, &b);
        if (r) return r;
        b->is_there = 1;
        memset(inside(m->variable, 32), 0, 32);
        used -= 32;
    }
    *at = m->variable;
    *size = 32;
    return OK;
}
Result cuFuncGetAttribute(int *out, int what, void *function) { IN_CONTEXT; *out = 10 + what; return OK; }
Result cuFuncSetAttribute(void *function, int what, int value) { IN_CONTEXT; return what == 8 ? ((struct function *)function)->allowed = value, OK : INVALID_VALUE; }
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, void *function, int threads, size_t shared) { IN_CONTEXT; *out = 2048 / threads; return OK; }

static int parameters(struct function *f) {
    char *at = strstr(f->module->text, ".entry"), *close = strchr(at, ')');
    int n = 0;
    while ((at = strstr(at, ".param")) && at < close) n++, at++;
    return n;
}
static Result start(struct function *f, const unsigned *dims, unsigned shared, int cooperative, void *stream, void **words) {
    Result r;
    launched++;
    if (is_idle) return OK;
    if (dims[3] * dims[4] * dims[5] > 1024 || shared > f->allowed) return INVALID_VALUE;
    int n = parameters(f);
    struct op *o = put(LAUNCH, stream, &r);
    if (!o) return r;
    o->function = f, o->shared = shared, o->is_cooperative = cooperative;
    memcpy(o->dims, dims, sizeof o->dims);
    o->words = calloc(WORDS, sizeof *o->words);
    for (int i = 0; i < n; i++) o->words[i] = *(uint64_t *)words[i];
    return OK;
}
Result cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                      void **words, void **extra) {
    IN_CONTEXT;
    return start(f, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, 0, stream, words);
}
Result cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 void *stream, void **words) {
    IN_CONTEXT;
    return start(f, (unsigned[]){gx, gy, gz, bx, by, bz}, shared, 1, stream, words);
}

/* Streams and events that were ended stay where they are, so that their use is found. */
Result cuStreamCreate(void **out, unsigned flags) {
    IN_CONTEXT;
    struct stream *s = calloc(1, sizeof *s);
    *s = (struct stream){1, flags, current};
    *out = s;
    return flags > 1 ? INVALID_VALUE : OK;
}
Result cuStreamDestroy_v2(void *stream) {
    IN_CONTEXT;
    if (!stream_of(stream)->is_alive) return INVALID_HANDLE;
    stream_of(stream)->is_alive = 0;
    return OK;
}
Result cuStreamGetFlags(void *stream, unsigned *flags) {
    IN_CONTEXT;
    *flags = stream_of(stream)->flags;
    return stream_of(stream)->is_alive ? OK : INVALID_HANDLE;
}
Result cuStreamSynchronize(void *stream) {
    IN_CONTEXT;
    Result r;
    return put(RECORD, stream, &r) ? finish(end - 1) : r;
}
Result cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    IN_CONTEXT;
    struct event *e = event;
    Result r;
    if (!e->is_alive) return INVALID_HANDLE;
    struct op *o = put(WAIT, stream, &r);
    if (o) o->at = e->at;
    return r;
}
Result cuStreamAddCallback(void *stream, Callback f, void *data, unsigned flags) {
    IN_CONTEXT;
    Result r;
    struct op *o = put(CALL, stream, &r);
    if (o) o->callback = f, o->data = data;
    return r;
}
Result cuEventCreate(void **out, unsigned flags) {
    IN_CONTEXT;
    struct event *e = calloc(1, sizeof *e);
    *e = (struct event){1, -1};
    *out = e;
    return OK;
}
Result cuEventRecord(void *event, void *stream) {
    IN_CONTEXT;
    struct event *e = event;
    Result r;
    if (!e->is_alive) return INVALID_HANDLE;
    if (put(RECORD, stream, &r)) e->at = end - 1;
    return r;
}
static int has_passed(struct event *e) { return e->at < begin || ops[e->at - begin].is_done; }
Result cuEventSynchronize(void *event) {
    IN_CONTEXT;
    struct event *e = event;
    if (!e->is_alive) return INVALID_HANDLE;
    return has_passed(e) ? sticky : finish(e->at);
}
/* Whoever asks again finds that it has passed. */
Result cuEventQuery(void *event) {
    IN_CONTEXT;
    struct event *e = event;
    if (!e->is_alive) return INVALID_HANDLE;
    if (has_passed(e)) return sticky;
    finish(e->at);
    return NOT_READY;
}
Result cuEventElapsedTime(float *out, void *a, void *b) {
    IN_CONTEXT;
    struct event *first = a, *second = b;
    if (!first->is_alive || !second->is_alive || first->at < 0 || second->at < 0) return INVALID_HANDLE;
    *out = 1.5f;
    return has_passed(first) && has_passed(second) ? OK : NOT_READY;
}
Result cuEventDestroy_v2(void *event) {
    IN_CONTEXT;
    struct event *e = event;
    if (!e->is_alive) return INVALID_HANDLE;
    e->is_alive = 0;
    return OK;
}
Result cuGetErrorName(int code, const char **out) {
    *out = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX"
         : code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : code == INVALID_HANDLE ? "CUDA_ERROR_INVALID_HANDLE"
         : code == NOT_READY ? "CUDA_ERROR_NOT_READY" : code == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_UNKNOWN";
    return OK;
}
Result cuGetErrorString(int code, const char **out) { *out = "as the fake says"; return OK; }
/* Ends what is pending, well or not. */
void fake_reset(void) {
    finish(end);
    sticky = 0;
    finish(end);
    is_pinned = is_idle = 0;
    has_pools = 1;
}
