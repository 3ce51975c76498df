/* Modules, kernels and launches: facts of a kernel come from its PTX, limits are those of compute capability 9.0. */
#include "fake_streams.h"

static const char CUBIN[] = "\x7f" "FAKE";
static long assembled, launched;
/* Microseconds that a new attribute of a kernel takes, in which other threads come in between. */
static int slow_attributes;
void fake_slow_attributes(int microseconds) { slow_attributes = microseconds; }

static int version(void) {
    const char *given = getenv("FAKE_CUDA_VERSION");
    return given ? atoi(given) : 12040;
}
/* Major times ten plus minor. */
static int capability(void) {
    const char *given = getenv("FAKE_CUDA_CC");
    return given ? atoi(given) : 90;
}
/* The newest PTX that comes with a version of CUDA, as in NVIDIA's table. */
static int isa(void) {
    int major = version() / 1000, minor = version() % 1000 / 10;
    return major < 12 ? 70 + minor : major > 12 ? 90 + minor : 80 + minor - (minor > 5);
}
static int target_of(const char *text) {
    const char *at = strstr(text, ".target sm_");
    return at ? atoi(at + 11) : 0;
}
static int isa_of(const char *text) {
    const char *at = strstr(text, ".version ");
    int major = 0, minor = 0;
    if (at) sscanf(at, ".version %d.%d", &major, &minor);
    return 10 * major + minor;
}

/* Size and alignment of a declaration from after its space: `.align 8 .b8 name[32]`, `.u32 name`. Zero if it has no size. */
static long size_of(const char *at, const char *stop, long *alignment) {
    long unit = 0, n = 1, align = 0;
    char type[16];
    while (at < stop && *at == ' ') at++;
    if (sscanf(at, ".align %ld", &align) == 1) at = strchr(at + 7, '.');
    if (!at || at >= stop) return 0;
    while (sscanf(at, ".%15[a-z]", type) == 1 && !strcmp(type, "ptr")) at = strchr(at + 1, '.');
    if (sscanf(at, ".%*[a-z]%ld", &unit) != 1) return 0;
    const char *bracket = memchr(at, '[', (size_t)(stop - at));
    if (bracket && sscanf(bracket, "[%ld]", &n) != 1) n = 0;
    *alignment = align ? align : unit / 8;
    return n * unit / 8;
}
static long declared(const char *text, const char *space) {
    long sum = 0, align = 1;
    for (const char *at = strstr(text, space); at; at = strstr(at + 1, space)) {
        const char *line = at;
        while (line > text && line[-1] != '\n') line--;
        const char *stop = strchr(at, ';'), *is_extern = strstr(line, ".extern");
        if (!stop || (is_extern && is_extern < at)) continue;
        long size = size_of(at + strlen(space), stop, &align);
        sum = (sum + align - 1) / align * align + size;
    }
    return sum;
}
static const char *entry_of(const char *text, const char *name) {
    for (const char *at = strstr(text, ".entry "); at; at = strstr(at + 1, ".entry ")) {
        size_t n = strlen(name);
        if (!strncmp(at + 7, name, n) && (at[7 + n] == '(' || at[7 + n] == ' ' || at[7 + n] == '\n')) return at;
    }
    return NULL;
}
/* Number and bytes of a kernel's parameters. */
static int parameters(const char *entry, long *bytes) {
    const char *close = strchr(entry, ')'), *at = entry;
    int n = 0;
    *bytes = 0;
    while (close && (at = strstr(at, ".param ")) && at < close) {
        long align = 1;
        const char *stop = at;
        while (stop < close && *stop != ',') stop++;
        long size = size_of(at + 7, stop, &align);
        *bytes = (*bytes + align - 1) / align * align + size;
        n++, at++;
    }
    return n;
}

/* What the assembler refuses, with what it says, by the options for its log. */
static Result assembles(const char *text, unsigned n, int *names, void **values) {
    char said[512] = "";
    const char *entry = strstr(text, ".entry ");
    Result r = OK;
    if (!entry) return INVALID_PTX;
    if (isa_of(text) > isa()) r = UNSUPPORTED_PTX, snprintf(said, sizeof said, "ptxas fatal   : Unsupported .version");
    if (target_of(text) > capability()) r = INVALID_PTX, snprintf(said, sizeof said, "ptxas fatal   : SM version is higher than the device's");
    long bytes = 0, most = isa_of(text) < 81 ? 4352 : 32764, shared = declared(text, ".shared ");
    char name[128] = "";
    sscanf(entry, ".entry %127[^( \n]", name);
    parameters(entry, &bytes);
    if (bytes > most) {
        r = INVALID_PTX;
        snprintf(said, sizeof said, "ptxas error   : Entry function '%s' uses too much parameter space (0x%lx bytes, 0x%lx max)", name, bytes, most);
    }
    if (shared > SHARED_DEFAULT) {
        r = INVALID_PTX;
        snprintf(said, sizeof said, "ptxas error   : Entry function '%s' uses too much shared data (0x%lx bytes, 0xc000 max)", name, shared);
    }
    char *log = NULL;
    size_t room = 0;
    for (unsigned i = 0; r && i < n; i++) {
        if (names[i] == 5) log = values[i];
        if (names[i] == 6) room = (size_t)(uintptr_t)values[i];
    }
    if (log && room) snprintf(log, room, "%s", said);
    return r;
}

/* "Machine code" is PTX after a mark and the architecture that it is for. */
struct link { char *code; unsigned n; int *names; void **values; };
Result cuLinkCreate_v2(unsigned n, int *names, void **values, void **state) {
    IN_CONTEXT;
    struct link *l = calloc(1, sizeof *l);
    *l = (struct link){NULL, n, names, values};
    *state = l;
    return OK;
}
Result cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned n, int *names, void **values) {
    IN_CONTEXT;
    struct link *l = state;
    Result r = type == 1 ? assembles(data, l->n, l->names, l->values) : INVALID_PTX;
    if (r) return r;
    free(l->code);
    l->code = malloc(size + 64);
    sprintf(l->code, "%s@%d\n%s", CUBIN, capability(), (char *)data);
    return OK;
}
Result cuLinkComplete(void *state, void **code, size_t *size) {
    IN_CONTEXT;
    struct link *l = state;
    if (!l->code) return INVALID_VALUE;
    assembled++;
    *code = l->code;
    *size = strlen(l->code);
    return OK;
}
Result cuLinkDestroy(void *state) {
    ENTER_AS(0);
    free(((struct link *)state)->code);
    free(state);
    return OK;
}

Result cuModuleLoadDataEx(void **out, const void *code, unsigned n, int *names, void **values) {
    IN_CONTEXT;
    const char *text = code;
    int arch;
    if (!strncmp(text, CUBIN, strlen(CUBIN))) {
        text += strlen(CUBIN);
        /* Machine code runs on devices of the same major version, and of no smaller minor one. */
        if (sscanf(text, "@%d\n", &arch) == 1 && (arch / 10 != capability() / 10 || arch > capability())) return NO_BINARY;
        if (*text == '@') text = strchr(text, '\n') + 1;
        if (!strstr(text, ".entry")) return INVALID_PTX;
    } else {
        Result r = assembles(text, n, names, values);
        if (r) return r;
        assembled++;
    }
    struct module *m = calloc(1, sizeof *m);
    *m = (struct module){strdup(text), 1, current};
    *out = m;
    return OK;
}
/* As the driver's, it waits for what was started. */
Result cuModuleUnload(void *module) {
    IN_CONTEXT;
    struct module *m = module;
    if (!m->is_alive) return INVALID_HANDLE;
    Result r = finish(current);
    m->is_alive = is_in_launch;
    return r;
}
Result cuModuleGetFunction(void **out, void *module, const char *name) {
    IN_CONTEXT;
    struct module *m = module;
    if (!m->is_alive) return INVALID_HANDLE;
    if (!entry_of(m->text, name)) return NOT_FOUND;
    struct function *f = calloc(1, sizeof *f);
    f->module = m;
    strncpy(f->name, name, sizeof f->name - 1);
    f->shared = (int)declared(m->text, ".shared ");
    f->constant = (int)declared(m->text, ".const ");
    f->local = (int)declared(m->text, ".local ");
    f->allowed = SHARED_DEFAULT - f->shared;
    f->registers = REGISTERS;
    f->threads = 1024;
    const char *at = strstr(m->text, ".maxnreg ");
    if (at && atoi(at + 9) < REGISTERS) f->registers = atoi(at + 9);
    if ((at = strstr(m->text, ".maxntid "))) {
        int x = 1, y = 1, z = 1;
        sscanf(at, ".maxntid %d, %d, %d", &x, &y, &z);
        f->threads = x * y * z;
    }
    *out = f;
    return OK;
}
Result cuModuleGetGlobal_v2(uint64_t *at, size_t *size, void *module, const char *name) {
    IN_CONTEXT;
    struct module *m = module;
    struct variable *v = m->variables;
    if (!m->is_alive) return INVALID_HANDLE;
    while (v && strcmp(v->name, name)) v = v->next;
    for (const char *d = v ? NULL : strstr(m->text, ".global ."); d && !v; d = strstr(d + 1, ".global .")) {
        const char *stop = strpbrk(d, "=;"), *found = strstr(d, name);
        long align;
        char after = found ? found[strlen(name)] : 0;
        if (!stop || !found || found > stop || found[-1] != ' ' || (after != '[' && after != ';' && after != ' ')) continue;
        struct block *b;
        v = calloc(1, sizeof *v);
        strncpy(v->name, name, sizeof v->name - 1);
        v->size = (size_t)size_of(d + 8, stop, &align);
        Result r = take(&v->address, v->size, current, NULL, &b);
        if (r) return free(v), r;
        b->is_there = 1;
        memset(b->at, 0, v->size);
        used -= v->size;
        v->next = m->variables;
        m->variables = v;
    }
    if (!v) return NOT_FOUND;
    if (at) *at = v->address;
    if (size) *size = v->size;
    return OK;
}
/* The variables whose addresses the host has asked for, one after the other. */
int fake_variable(struct module *m, int i, const char **name, void **at, size_t *size) {
    LOCKED;
    struct variable *v = m->variables;
    while (v && i--) v = v->next;
    if (v) *name = v->name, *at = plain(v->address), *size = v->size;
    return v != NULL;
}

Result cuFuncGetAttribute(int *out, int what, void *function) {
    IN_CONTEXT;
    struct function *f = function;
    switch (what) {
    case 0: *out = f->threads; break;
    case 1: *out = f->shared; break;
    case 2: *out = f->constant; break;
    case 3: *out = f->local; break;
    case 4: *out = f->registers; break;
    case 5: *out = isa_of(f->module->text); break;
    case 6: *out = capability(); break;
    case 8: *out = f->allowed; break;
    default: return INVALID_VALUE;
    }
    return OK;
}
/* As in the driver, the last value holds: it may be a smaller one. */
static Result set_attribute(struct function *f, int what, int value) {
    IN_CONTEXT;
    if (what != 8 || value < 0 || value > SHARED_MOST - f->shared) return INVALID_VALUE;
    f->allowed = value;
    return OK;
}
Result cuFuncSetAttribute(void *function, int what, int value) {
    count(__func__);
    Result r = set_attribute(function, what, value);
    if (slow_attributes) usleep((useconds_t)slow_attributes);
    return r;
}
static int least(int a, int b) { return a < b ? a : b; }
static int occupancy(const struct function *f, long threads, size_t shared) {
    if (threads > f->threads || shared > (size_t)f->allowed || f->shared + shared > SHARED_MOST) return 0;
    int warps = (int)(threads + 31) / 32, of_warp = (f->registers * 32 + 255) / 256 * 256;
    int of_block = (int)(f->shared + shared + SHARED_RESERVED + 127) / 128 * 128;
    int by_registers = REGISTERS_OF_SM / 4 / of_warp * 4 / warps;
    return least(least(WARPS_OF_SM / warps, BLOCKS_OF_SM), least(by_registers, SHARED_OF_SM / of_block));
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, void *function, int threads, size_t shared) {
    IN_CONTEXT;
    if (threads <= 0) return INVALID_VALUE;
    *out = occupancy(function, threads, shared);
    return OK;
}

static Result start(struct function *f, const unsigned *dims, unsigned shared, int cooperative, void *stream, void **words) {
    Result r;
    long bytes, threads = (long)dims[3] * dims[4] * dims[5];
    launched++;
    if (is_idle) return OK;
    if (!f->module->is_alive) return INVALID_HANDLE;
    for (int i = 0; i < 6; i++)
        if (!dims[i]) return INVALID_VALUE;
    if (dims[0] > 0x7FFFFFFF || dims[1] > 65535 || dims[2] > 65535 || dims[5] > 64) return INVALID_VALUE;
    if (threads > f->threads || shared > (unsigned)f->allowed) return INVALID_VALUE;
    if (cooperative && (uint64_t)dims[0] * dims[1] * dims[2] > (uint64_t)occupancy(f, threads, shared) * MULTIPROCESSORS)
        return COOPERATIVE_TOO_LARGE;
    struct op given = {LAUNCH, .function = f, .shared = shared, .is_cooperative = cooperative};
    memcpy(given.dims, dims, sizeof given.dims);
    given.n_words = parameters(entry_of(f->module->text, f->name), &bytes);
    given.words = calloc((size_t)given.n_words + 1, sizeof *given.words);
    for (int i = 0; i < given.n_words; i++) given.words[i] = *(uint64_t *)words[i];
    if (!put(given, stream, &r)) free(given.words);
    return r;
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
