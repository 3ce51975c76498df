/* Streams, events, and the order in which what is put into streams runs.

   An operation may run when all that CUDA orders before it is done. By default it runs when somebody waits for it, in the
   waiting thread, or when somebody asks for it, in a thread of the library. With an order (a seed) a waiting thread also picks operations that nobody has asked for, at random; and
   an eager stand-in has a thread that runs everything as soon as it may run. Stream callbacks always run in a thread of
   the library. */
#include "fake_driver.h"

typedef Result (*Launch)(struct module *module, const char *text, const char *name, const unsigned *dims, unsigned shared,
                         int cooperative, void **words);
typedef void (*Callback)(void *stream, Result status, void *data);

enum kind { LAUNCH, IN, OUT, WITHIN, ALLOC, FREE, RECORD, WAIT, CALL };
struct op {
    enum kind kind;
    struct stream *stream;
    void *handle;                       /* CALL: the stream as it was named */
    long number, before;                /* `before` counts what must be done first */
    int is_running, is_needed, is_asked_for;
    struct block *block;                /* ALLOC, FREE */
    uint64_t to, from;                  /* copies */
    void *host, *staged;
    size_t size;
    struct function *function;          /* LAUNCH */
    unsigned dims[6], shared;
    int is_cooperative, n_words;
    uint64_t *words;
    long at;                            /* WAIT: the operation that is waited for */
    Callback callback;
    void *data;
};

static Launch launch;
static struct stream nulls[DEVICES] = {{1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {1, 0, 3}};
static _Thread_local struct stream *per_thread[DEVICES];
/* Operations by number, from `base`; those that are done are NULL. All before `begin` are done. */
static struct op **ops;
static long base, begin, end, room, calls_left;
static long streams_alive, events_alive;
long fake_streams_alive(void) { return streams_alive; }
long fake_events_alive(void) { return events_alive; }

static struct op *op_at(long number) { return number < begin || number >= end ? NULL : ops[number - base]; }
static int is_null(const struct stream *s) { return s >= nulls && s < nulls + DEVICES; }
static struct stream *stream_of(void *handle) {
    if (handle == NULL || handle == (void *)1) return &nulls[current];
    if (handle != (void *)2) return handle;
    struct stream **mine = &per_thread[current];
    if (!*mine) *mine = malloc(sizeof **mine), **mine = (struct stream){1, 0, current};
    return *mine;
}

static int is_before(const struct op *j, const struct op *k) {
    if (j->stream == k->stream) return 1;
    if (k->kind == WAIT && k->at == j->number) return 1;
    if (j->stream->device != k->stream->device) return 0;
    if (is_null(k->stream)) return !(j->stream->flags & 1);
    return is_null(j->stream) && !(k->stream->flags & 1);
}

static void finished(struct op *o) {
    for (long k = o->number + 1; k < end; k++) {
        struct op *later = op_at(k);
        if (later && is_before(o, later)) later->before--;
    }
    ops[o->number - base] = NULL;
    if (o->kind == CALL) calls_left--;
    free(o->words);
    free(o->staged);
    free(o);
    while (begin < end && !ops[begin - base]) begin++;
    if (begin - base > 4096) {
        memmove(ops, ops + (begin - base), (size_t)(end - begin) * sizeof *ops);
        base = begin;
    }
    pthread_cond_broadcast(&changed);
}

/* Stream callbacks wait in a queue for the library's own thread. */
static long callbacks_waiting[1 << 16], first_callback, last_callback;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static void *call_back(void *unused) {
    is_in_callback = 1;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (first_callback == last_callback) pthread_cond_wait(&called, &lock);
        struct op *o = op_at(callbacks_waiting[first_callback++ & 0xFFFF]);
        Result status = sticky;
        pthread_mutex_unlock(&lock);
        o->callback(is_null(o->stream) ? NULL : o->handle, status, o->data);
        pthread_mutex_lock(&lock);
        finished(o);
    }
    return NULL;
}
static void hand_over(struct op *o) {
    static int has_thread;
    pthread_t thread;
    o->is_running = 1;
    callbacks_waiting[last_callback++ & 0xFFFF] = o->number;
    if (!has_thread) has_thread = !pthread_create(&thread, NULL, call_back, NULL);
    pthread_cond_signal(&called);
}

/* After an error nothing runs any more: callbacks are told of it, memory that was on its way back is gone. */
static void spoil(Result r) {
    if (sticky || !r) return;
    sticky = r;
    for (long i = begin; i < end; i++) {
        struct op *o = op_at(i);
        if (!o || o->is_running) continue;
        if (o->kind == CALL) {
            hand_over(o);
            continue;
        }
        if (o->kind == FREE) give_back(o->block);
        if (o->kind == ALLOC) o->block->is_there = 1;
        finished(o);
    }
    pthread_cond_broadcast(&changed);
}

/* An address of running work, or NULL: its memory is freed, or its allocation has not come to its turn. */
static char *reached(uint64_t address, size_t size, const char *by) {
    char *at = inside(address, size);
    if (!at) fprintf(stderr, "fake driver: %s uses memory that is %s\n", by, block_of(address, size) ? "not there yet" : "gone");
    return at;
}

static Result run_launch(struct op *o) {
    struct block *pointed[o->n_words + 1];
    void *words[o->n_words + 1];
    int n = 0;
    if (!o->function->module->is_alive) return ILLEGAL_ADDRESS;
    for (int i = 0; i < o->n_words; i++) {
        words[i] = &o->words[i];
        if (device_of(o->words[i]) < 0 || device_of(o->words[i]) >= DEVICES) continue;
        if (!reached(o->words[i], 1, o->function->name)) return ILLEGAL_ADDRESS;
        pointed[n++] = block_of(o->words[i], 1);
    }
    if (!launch) return OK;
    for (int i = 0; i < n; i++) pointed[i]->users++;
    is_in_launch++;
    pthread_mutex_unlock(&lock);
    Result r = launch(o->function->module, o->function->module->text, o->function->name, o->dims, o->shared, o->is_cooperative, words);
    pthread_mutex_lock(&lock);
    is_in_launch--;
    for (int i = 0; i < n; i++) pointed[i]->users--;
    return r;
}

static Result run_there(struct op *o) {
    char *a, *b;
    switch (o->kind) {
    case LAUNCH: return run_launch(o);
    case IN:
        if (!(a = reached(o->to, o->size, "a copy there"))) return ILLEGAL_ADDRESS;
        memcpy(a, o->staged ? o->staged : o->host, o->size);
        return OK;
    case OUT:
        if (!(a = reached(o->from, o->size, "a copy back"))) return ILLEGAL_ADDRESS;
        memcpy(o->host, a, o->size);
        return OK;
    case WITHIN:
        a = reached(o->to, o->size, "a copy"), b = reached(o->from, o->size, "a copy");
        if (!a || !b) return ILLEGAL_ADDRESS;
        memmove(a, b, o->size);
        return OK;
    case ALLOC: o->block->is_there = 1; return OK;
    case FREE:
        if (o->block->users) {
            fprintf(stderr, "fake driver: memory is freed while a kernel uses it\n");
            return ILLEGAL_ADDRESS;
        }
        give_back(o->block);
        return OK;
    default: return OK;
    }
}

static void run(struct op *o) {
    if (o->kind == CALL) {
        hand_over(o);
        return;
    }
    int before = current;
    o->is_running = 1;
    current = o->stream->device;
    Result r = run_there(o);
    current = before;
    finished(o);
    spoil(r);
}

enum wanted { ANY, NEEDED, ASKED_FOR };
static struct op *ready_one(enum wanted which) {
    struct op *found = NULL;
    int n = 0;
    for (long i = begin; i < end; i++) {
        struct op *o = op_at(i);
        if (!o || o->is_running || o->before || (which == NEEDED && !o->is_needed) || (which == ASKED_FOR && !o->is_asked_for)) continue;
        if (!order) return o;
        if (!random_below(++n)) found = o;
    }
    return found;
}

/* Marks an operation and all that must be done before it. */
static void need(long number, int is_asked_for) {
    op_at(number)->is_needed = 1;
    op_at(number)->is_asked_for |= is_asked_for;
    for (long k = number; k > begin; k--) {
        struct op *later = op_at(k);
        if (!later || !later->is_needed || !later->before) continue;
        for (long j = begin; j < k; j++) {
            struct op *earlier = op_at(j);
            if (!earlier || !is_before(earlier, later)) continue;
            earlier->is_needed = 1;
            earlier->is_asked_for |= later->is_asked_for;
        }
    }
}

/* Runs or awaits what must be done before the operation of a number, and that. A launch that waits, because Python frees
   something in it, would wait for itself. */
static Result finish_to(long number) {
    if (is_in_launch) return OK;
    if (op_at(number)) need(number, 0);
    while (!sticky && op_at(number)) {
        struct op *o = is_eager ? NULL : ready_one(order ? ANY : NEEDED);
        if (o) run(o);
        else pthread_cond_wait(&changed, &lock);
    }
    return sticky;
}
/* The same of all that was put into streams of a device so far, or with -1 of all devices. */
static Result finish(int device) {
    for (long i = begin, last = end; i < last && !sticky; i++) {
        struct op *o = op_at(i);
        if (o && (device < 0 || o->stream->device == device)) finish_to(i);
    }
    return sticky;
}
static void await_callbacks(void) {
    for (long i = begin, last = end; i < last && calls_left && !is_in_launch; i++)
        if (op_at(i) && op_at(i)->kind == CALL) finish_to(i);
}

static void *run_apart(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        struct op *o = sticky ? NULL : ready_one(is_eager ? ANY : ASKED_FOR);
        if (!o) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        if (delay > 0) {
            o->is_running = 1;
            pthread_mutex_unlock(&lock);
            nanosleep(&(struct timespec){(time_t)delay, (long)((delay - (time_t)delay) * 1e9)}, NULL);
            pthread_mutex_lock(&lock);
        }
        run(o);
    }
    return NULL;
}
static void begin_thread(void) {
    static int has_thread;
    pthread_t thread;
    if (!has_thread) has_thread = !pthread_create(&thread, NULL, run_apart, NULL);
    pthread_cond_broadcast(&changed);
}
static void be_eager(int on) {
    is_eager = on;
    if (on) begin_thread();
    pthread_cond_broadcast(&changed);
}

static struct op *put(struct op given, void *handle, Result *result) {
    struct stream *s = stream_of(handle);
    *result = sticky ? sticky : s->is_alive ? OK : INVALID_HANDLE;
    if (*result) return NULL;
    if (end - base == room) ops = realloc(ops, (size_t)(room = 2 * room + 64) * sizeof *ops);
    struct op *o = malloc(sizeof *o);
    *o = given;
    o->stream = s, o->handle = handle, o->number = end;
    for (long j = begin; j < end; j++)
        if (op_at(j) && is_before(op_at(j), o)) o->before++;
    ops[end++ - base] = o;
    if (o->kind == CALL) calls_left++;
    if (is_eager) pthread_cond_broadcast(&changed);
    return o;
}

/* Streams and events that were ended stay where they are, so that their use is found. */
Result cuStreamCreate(void **out, unsigned flags) {
    IN_CONTEXT;
    if (flags > 1) return INVALID_VALUE;
    struct stream *s = calloc(1, sizeof *s);
    *s = (struct stream){1, flags, current};
    *out = s;
    streams_alive++;
    return OK;
}
Result cuStreamDestroy_v2(void *stream) {
    IN_CONTEXT;
    if ((uintptr_t)stream <= 2 || !stream_of(stream)->is_alive) return INVALID_HANDLE;
    stream_of(stream)->is_alive = 0;
    streams_alive--;
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
    struct op *o = put((struct op){RECORD}, stream, &r);
    return o ? finish_to(o->number) : r;
}
Result cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    IN_CONTEXT;
    struct event *e = event;
    Result r;
    if (!e->is_alive) return INVALID_HANDLE;
    put((struct op){WAIT, .at = e->at}, stream, &r);
    return r;
}
Result cuStreamAddCallback(void *stream, Callback f, void *data, unsigned flags) {
    IN_CONTEXT;
    Result r;
    if (flags) return INVALID_VALUE;
    put((struct op){CALL, .callback = f, .data = data}, stream, &r);
    return r;
}
Result cuEventCreate(void **out, unsigned flags) {
    IN_CONTEXT;
    if (flags > 3) return INVALID_VALUE;
    struct event *e = calloc(1, sizeof *e);
    *e = (struct event){1, flags, -1};
    *out = e;
    events_alive++;
    return OK;
}
Result cuEventRecord(void *event, void *stream) {
    IN_CONTEXT;
    struct event *e = event;
    Result r;
    if (!e->is_alive) return INVALID_HANDLE;
    struct op *o = put((struct op){RECORD}, stream, &r);
    if (o) e->at = o->number;
    return r;
}
Result cuEventSynchronize(void *event) {
    IN_CONTEXT;
    struct event *e = event;
    return e->is_alive ? finish_to(e->at) : INVALID_HANDLE;
}
/* It neither waits nor runs anything, but the event passes some time after. */
Result cuEventQuery(void *event) {
    ENTER_AS(NEEDS_CONTEXT | NEVER_BLOCKS);
    struct event *e = event;
    if (!e->is_alive) return INVALID_HANDLE;
    if (!op_at(e->at)) return OK;
    need(e->at, 1);
    begin_thread();
    return NOT_READY;
}
Result cuEventElapsedTime(float *out, void *a, void *b) {
    IN_CONTEXT;
    struct event *first = a, *second = b;
    if (!first->is_alive || !second->is_alive || first->at < 0 || second->at < 0) return INVALID_HANDLE;
    if ((first->flags | second->flags) & 2) return INVALID_HANDLE;
    if (op_at(first->at) || op_at(second->at)) return NOT_READY;
    *out = 1.5f;
    return OK;
}
Result cuEventDestroy_v2(void *event) {
    IN_CONTEXT;
    struct event *e = event;
    if (!e->is_alive) return INVALID_HANDLE;
    e->is_alive = 0;
    events_alive--;
    return OK;
}
Result cuCtxSynchronize(void) { IN_CONTEXT; return finish(current); }
