/* State, locking and error handling that all parts of the stand-in share. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int Result;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201,
       NO_BINARY = 209, INVALID_PTX = 218, UNSUPPORTED_PTX = 222, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600,
       ILLEGAL_ADDRESS = 700, PEERS_ALREADY = 704, ALREADY_REGISTERED = 712, NOT_REGISTERED = 713,
       COOPERATIVE_TOO_LARGE = 720, NOT_PERMITTED = 800 };

/* The card: an H200, but for its memory. */
enum { DEVICES = 4, BLOCKS = 16384, LIMIT = 64 << 20, MULTIPROCESSORS = 132, SHARED_DEFAULT = 49152, SHARED_MOST = 232448,
       SHARED_OF_SM = 233472, SHARED_RESERVED = 1024, REGISTERS_OF_SM = 65536, REGISTERS = 32, WARPS_OF_SM = 64,
       BLOCKS_OF_SM = 32, HOST = -0x10, PAGE = 4096 };

struct pool { int is_alive, device, is_default; uint64_t threshold; char peers[DEVICES]; };
/* `users` counts running launches with a parameter that points into the block. `is_orphan`: freeing it was refused. */
struct block { char *at; size_t size; int device, is_there, users, is_leaving, is_orphan; struct pool *pool; };
struct variable { char name[128]; size_t size; uint64_t address; struct variable *next; };
struct module { char *text; int is_alive, device; struct variable *variables; };
struct function { struct module *module; char name[256]; int registers, shared, constant, local, threads, allowed; };
struct stream { int is_alive; unsigned flags; int device; };
struct event { int is_alive; unsigned flags; long at; };

/* One lock guards everything below. It is let go while a launch or a stream callback runs, and while a thread waits. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct block blocks[BLOCKS];
static size_t used, leaving;
/* `sticky` is an error of running work, after which the context is unusable until the process ends. */
static int top, devices = 1, sticky;
static char contexts[DEVICES], peers[DEVICES][DEVICES];
static struct pool defaults[DEVICES] = {{1, 0, 1}, {1, 1, 1}, {1, 2, 1}, {1, 3, 1}};
/* The process that has called cuInit; a child that was forked has no driver. */
static pid_t owner;
static _Thread_local int current = -1, is_in_callback, is_in_launch;

/* How the stand-in behaves, as tests set it. */
static int is_pinned, has_pools = 1, is_idle, is_eager, blocks_while_callbacks;
static uint64_t order;
static double delay;

static int random_below(int n) {
    order ^= order << 13, order ^= order >> 7, order ^= order << 17;
    return (int)(order % (uint64_t)n);
}

static struct { const char *name; long n; } calls[128];
/* Called without the lock: cuInit and forked children count as well. */
static void count(const char *name) {
    for (int i = 0; i < 128; i++) {
        const char *none = NULL;
        if (calls[i].name == name || __atomic_compare_exchange_n(&calls[i].name, &none, name, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
            none == name) {
            __atomic_add_fetch(&calls[i].n, 1, __ATOMIC_SEQ_CST);
            return;
        }
    }
}
long fake_calls(const char *name) {
    long n = 0;
    for (int i = 0; i < 128 && calls[i].name; i++)
        if (!strcmp(calls[i].name, name)) n += calls[i].n;
    return n;
}

static void await_callbacks(void);

enum { NEEDS_CONTEXT = 1, NEVER_BLOCKS = 2 };
/* Takes the lock if the call may go on. */
static Result entered(const char *name, int needs) {
    count(name);
    /* NVIDIA: a stream callback may call nothing of CUDA. */
    if (is_in_callback) return NOT_PERMITTED;
    if (!owner || getpid() != owner) return NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    if (blocks_while_callbacks && !(needs & NEVER_BLOCKS)) await_callbacks();
    Result r = !(needs & NEEDS_CONTEXT) ? OK : current < 0 ? INVALID_CONTEXT : sticky;
    if (r) pthread_mutex_unlock(&lock);
    return r;
}
static void leave_call(int *is_locked) { if (*is_locked) pthread_mutex_unlock(&lock); }
#define ENTER_AS(needs)                                                                                                 \
    Result refused = entered(__func__, needs);                                                                          \
    if (refused) return refused;                                                                                        \
    __attribute__((cleanup(leave_call), unused)) int is_locked = 1
/* Most functions need a current context, and none works after an error that has spoilt it. */
#define IN_CONTEXT ENTER_AS(NEEDS_CONTEXT)
#define LOCKED __attribute__((cleanup(leave_call), unused)) int is_locked = (pthread_mutex_lock(&lock), 1)

/* The first byte of an address says whose it is. */
static uint64_t told(const struct block *b) { return (uint64_t)(uintptr_t)b->at | (uint64_t)(0x10 + b->device) << 56; }
static int device_of(uint64_t address) { return (int)(address >> 56) - 0x10; }
static char *plain(uint64_t address) { return (char *)(uintptr_t)(address & ~((uint64_t)0xFF << 56)); }
static struct block *block_of(uint64_t address, size_t size) {
    char *at = plain(address);
    for (int i = 0; i < top; i++)
        if (blocks[i].at && blocks[i].device == device_of(address) && at >= blocks[i].at && at + size <= blocks[i].at + blocks[i].size)
            return &blocks[i];
    return NULL;
}
static char *inside(uint64_t address, size_t size) {
    struct block *b = block_of(address, size);
    return b && b->is_there ? plain(address) : NULL;
}
static Result take(uint64_t *out, size_t size, int device, struct pool *pool, struct block **block) {
    if (size == 0) return INVALID_VALUE;
    if (size > LIMIT - used - leaving) return OUT_OF_MEMORY;
    int i = 0;
    while (i < top && blocks[i].at) i++;
    if (i == BLOCKS) return OUT_OF_MEMORY;
    if (i == top) top++;
    blocks[i] = (struct block){.at = aligned_alloc(256, (size + 255) / 256 * 256), .size = size, .device = device, .pool = pool};
    memset(blocks[i].at, 0xA5, size);
    used += size;
    *out = told(&blocks[i]);
    *block = &blocks[i];
    return OK;
}
static void give_back(struct block *b) {
    leaving -= b->size;
    memset(b->at, 0xDE, b->size);
    free(b->at);
    b->at = NULL;
    b->is_there = 0;
}
#endif
