// Stands in for NVIDIA's driver, so that what the package asks of it can be tested without a GPU.
//
// Device memory is memory of this process that only running kernels and copies can touch: whoever else does crashes. Work on a stream is
// kept until somebody asks for it, one piece at each question, so that what is not waited for has not happened. Contexts, streams and
// events are held to be of one device. An error of a kernel stays for as long as the process runs, as on a GPU: no new context is made.
#define _GNU_SOURCE
#include "standin.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    OK, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600
};
enum { MOST_DEVICES = 4, MOST_BLOCKS = 4096, MOST_MODULES = 256 };

typedef int (*Kernel)(char **, const struct at *);
struct context { int device, holders, error; struct stream *own; };
struct event { struct context *context; int pending, destroyed; struct stream *on; };
enum what { LAUNCH, RECORD, WAIT };
struct work {
    struct work *next;
    enum what what;
    struct event *event;
    Kernel kernel;
    struct module *module;
    const char *name;
    struct at at;
    char **params;
};
struct stream { struct context *context; int number, captures, destroyed; struct work *first, *last; struct stream *next; };
struct variable { struct variable *next; char *name, *at; unsigned bytes; };
struct module { struct context *context; char *log; struct variable *variables; };
struct function { struct module *module; Kernel kernel; const unsigned *sizes; const char *name; };
struct block { char *start; size_t bytes; struct context *context; };

static struct context contexts[MOST_DEVICES];
static struct block blocks[MOST_BLOCKS];
static struct stream *streams;
static __thread struct context *current;
static void *kernels;
static int numbers;
static char told[1 << 20];

static void tell(const char *format, ...) {
    size_t at = strlen(told);
    va_list args;
    va_start(args, format);
    vsnprintf(told + at, sizeof(told) - at, format, args);
    va_end(args);
}

const char *standin_calls(void) { return told; }
void standin_clear(void) { told[0] = 0; }

static int count(void) {
    const char *said = getenv("STANDIN_DEVICES");
    return said ? atoi(said) : 2;
}

static struct block *find(const void *address, size_t bytes) {
    for (int i = 0; i < MOST_BLOCKS; ++i) {
        const char *at = address;
        if (blocks[i].start && at >= blocks[i].start && at + bytes <= blocks[i].start + blocks[i].bytes) return &blocks[i];
    }
    return NULL;
}

static size_t pages(size_t bytes) { return (bytes / 4096 + 1) * 4096; }

static void open_memory(int open) {
    for (int i = 0; i < MOST_BLOCKS; ++i)
        if (blocks[i].start) mprotect(blocks[i].start, pages(blocks[i].bytes), open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static struct context *running;
static int reach(const void *address, size_t bytes) {
    struct block *block = bytes ? find(address, bytes) : NULL;
    return !bytes || (block && block->context == running);
}

static char *allocate(struct context *context, size_t bytes) {
    for (int i = 0; i < MOST_BLOCKS; ++i) {
        if (blocks[i].start) continue;
        char *start = mmap(NULL, pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        blocks[i] = (struct block){start, bytes, context};
        return start;
    }
    abort();
}

// While it is stalled no kernel ends, as if each went round and round.
static int stalled;
void standin_stall(int is) { stalled = is; }

static void step(struct stream *stream);
static int settle(struct stream *stream) {
    while (stream->first && !stream->context->error) step(stream);
    return stream->context->error;
}

// The first piece of work of a stream.
static void step(struct stream *stream) {
    struct work *work = stream->first;
    if (stalled && work->what == LAUNCH) return;
    stream->first = work->next;
    if (!work->next) stream->last = NULL;
    if (work->what == RECORD) {
        --work->event->pending;
    } else if (work->what == WAIT) {
        // What was recorded before is on another stream, which has to come so far.
        while (work->event->pending && work->event->on->first && !stream->context->error) step(work->event->on);
    } else {
        running = stream->context;
        open_memory(1);
        if (work->module->log) memcpy(&work->at.log, work->module->log, sizeof(void *));
        stream->context->error = work->kernel(work->params, &work->at);
        open_memory(0);
        tell("run %s device %d stream %d\n", work->name, stream->context->device, stream->number);
    }
    free(work);
}

static void put(struct stream *stream, struct work work) {
    struct work *kept = malloc(sizeof(work));
    *kept = work;
    kept->next = NULL;
    if (stream->last) stream->last->next = kept; else stream->first = kept;
    stream->last = kept;
}

static struct stream *make_stream(struct context *context) {
    struct stream *made = calloc(1, sizeof(*made));
    *made = (struct stream){.context = context, .number = ++numbers, .next = streams};
    return streams = made;
}

// The stream of a handle in the current context; 0 and 1 are the legacy default stream.
static int stream_of(void *handle, struct stream **found) {
    if (!current) return INVALID_CONTEXT;
    if (current->error) return current->error;
    if ((uintptr_t)handle <= 1) {
        if (!current->own) { current->own = make_stream(current); current->own->number = 0; }
        *found = current->own;
        return OK;
    }
    for (struct stream *s = streams; s; s = s->next)
        if (s == handle && !s->destroyed) { *found = s; return s->context == current ? OK : INVALID_HANDLE; }
    return INVALID_HANDLE;
}

#define IN_CONTEXT do { if (!current) return INVALID_CONTEXT; if (current->error) return current->error; } while (0)
#define ON(handle) struct stream *stream; do { int code = stream_of(handle, &stream); if (code) return code; } while (0)

int cuInit(unsigned flags) { (void)flags; return count() ? OK : 100; }
// NVRTC asks for one, and does without.
int cuGetExportTable(const void **table, const void *id) { (void)id; *table = NULL; return NOT_FOUND; }
int cuDeviceGetCount(int *n) { *n = count(); return OK; }
int cuDeviceGet(int *device, int index) { *device = index; return index >= 0 && index < count() ? OK : INVALID_DEVICE; }
int cuDeviceGetName(char *name, int room, int device) { snprintf(name, (size_t)room, "stand-in %d", device); return OK; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = 1 << 30; return OK; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { (void)device; *value = attribute == 75 ? 9 : 0; return OK; }

int cuDevicePrimaryCtxRetain(struct context **context, int device) {
    if (device < 0 || device >= count()) return INVALID_DEVICE;
    if (contexts[device].error) return contexts[device].error;
    contexts[device].device = device;
    ++contexts[device].holders;
    *context = &contexts[device];
    return OK;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    struct context *context = &contexts[device];
    if (--context->holders) return OK;
    context->own = NULL;
    for (struct stream *s = streams; s; s = s->next) if (s->context == context) s->destroyed = 1;
    for (int i = 0; i < MOST_BLOCKS; ++i) if (blocks[i].context == context) blocks[i].start = NULL;
    return OK;
}
int cuCtxSetCurrent(struct context *context) { current = context; return OK; }
int cuCtxGetCurrent(struct context **context) { *context = current; return OK; }
int cuCtxSynchronize(void) {
    IN_CONTEXT;
    for (struct stream *s = streams; s; s = s->next) if (s->context == current) settle(s);
    return current->error;
}

int cuStreamCreate(void **stream, unsigned flags) { (void)flags; IN_CONTEXT; *stream = make_stream(current); return OK; }
int cuStreamDestroy_v2(void *handle) { ON(handle); settle(stream); stream->destroyed = 1; return OK; }
int cuStreamQuery(void *handle) {
    ON(handle);
    if (!stream->first) return OK;
    step(stream);
    return stream->context->error ? stream->context->error : NOT_READY;
}
int cuStreamSynchronize(void *handle) { ON(handle); return settle(stream); }
int cuStreamIsCapturing(void *handle, int *status) { ON(handle); *status = stream->captures; return OK; }
int cuStreamWaitEvent(void *handle, struct event *event, unsigned flags) {
    (void)flags;
    ON(handle);
    put(stream, (struct work){.what = WAIT, .event = event});
    tell("wait stream %d for stream %d\n", stream->number, event->on ? event->on->number : -1);
    return OK;
}
// As if a kernel of somebody else's had gone wrong.
void standin_break(int device) { contexts[device].error = 700; }
int standin_number(void *handle) { struct stream *s = handle; return s->number; }
void standin_capture(void *handle, int captures) { struct stream *s = handle; s->captures = captures; }

int cuEventCreate(struct event **event, unsigned flags) {
    (void)flags;
    IN_CONTEXT;
    *event = calloc(1, sizeof(**event));
    (*event)->context = current;
    return OK;
}
int cuEventRecord(struct event *event, void *handle) {
    ON(handle);
    if (event->context != stream->context || event->destroyed) return INVALID_HANDLE;
    ++event->pending;
    event->on = stream;
    put(stream, (struct work){.what = RECORD, .event = event});
    return OK;
}
// What questions for events are answered with, until it is 0: as while a graph is recorded.
static int refusal;
void standin_refuse(int code) { refusal = code; }
int cuEventQuery(struct event *event) {
    IN_CONTEXT;
    if (refusal) return refusal;
    if (event->context != current || event->destroyed) return INVALID_HANDLE;
    if (!event->pending) return OK;
    step(event->on);
    return current->error ? current->error : NOT_READY;
}
int cuEventDestroy_v2(struct event *event) { event->destroyed = 1; return OK; }

int cuMemAlloc_v2(char **address, size_t bytes) {
    IN_CONTEXT;
    *address = allocate(current, bytes);
    tell("alloc %zu device %d\n", bytes, current->device);
    return OK;
}
int cuMemFree_v2(char *address) {
    struct block *block = find(address, 0);
    if (!block) return INVALID_VALUE;
    munmap(block->start, pages(block->bytes));
    block->start = NULL;
    return OK;
}
int cuMemHostAlloc(void **address, size_t bytes, unsigned flags) { (void)flags; IN_CONTEXT; *address = malloc(bytes); return OK; }
int cuMemFreeHost(void *address) { free(address); return OK; }
int cuMemHostGetDevicePointer_v2(void **device, void *host, unsigned flags) { (void)flags; *device = host; return OK; }
static int copy(char *to, const char *from, const char *device, size_t bytes) {
    if (bytes && !find(device, bytes)) return INVALID_VALUE;
    open_memory(1);
    memcpy(to, from, bytes);
    open_memory(0);
    return OK;
}
int cuMemcpyHtoDAsync_v2(char *to, const char *from, size_t bytes, void *handle) {
    ON(handle);
    if (settle(stream)) return current->error;
    tell("htod %zu\n", bytes);
    return copy(to, from, to, bytes);
}
int cuMemcpyDtoHAsync_v2(char *to, const char *from, size_t bytes, void *handle) {
    ON(handle);
    if (settle(stream)) return current->error;
    tell("dtoh %zu\n", bytes);
    return copy(to, from, from, bytes);
}
// For tests: what lies in device memory now, whatever is still to run.
int standin_write(char *to, const char *from, size_t bytes) { return copy(to, from, to, bytes); }
int standin_read(char *to, const char *from, size_t bytes) { return copy(to, from, from, bytes); }
int cuPointerGetAttribute(int *value, int attribute, const char *address) {
    struct block *block = find(address, 1);
    if (!block || attribute != 9) return INVALID_VALUE;
    *value = block->context->device;
    return OK;
}

static int open_kernels(void) {
    if (!kernels && !(kernels = dlopen(getenv("STANDIN_KERNELS"), RTLD_NOW))) fprintf(stderr, "%s\n", dlerror());
    return kernels != NULL;
}
// The real one waits for every kernel that runs, whatever it is interrupted by.
int cuModuleLoadData(struct module **module, const void *image) {
    (void)image;
    IN_CONTEXT;
    *module = calloc(1, sizeof(**module));
    (*module)->context = current;
    tell("load device %d\n", current->device);
    return OK;
}
int cuModuleUnload(struct module *module) { tell("unload device %d\n", module->context->device); return OK; }
int cuModuleGetFunction(struct function **function, struct module *module, const char *name) {
    IN_CONTEXT;
    if (module->context != current) return INVALID_HANDLE;
    if (!open_kernels()) return NOT_FOUND;
    char sizes[512];
    snprintf(sizes, sizeof(sizes), "%s_sizes", name);
    Kernel kernel = (Kernel)dlsym(kernels, name);
    if (!kernel) { fprintf(stderr, "the tests have no kernel %s\n", name); return NOT_FOUND; }
    *function = malloc(sizeof(**function));
    **function = (struct function){module, kernel, dlsym(kernels, sizes), strdup(name)};
    return OK;
}
int cuModuleGetGlobal_v2(char **address, size_t *bytes, struct module *module, const char *name) {
    IN_CONTEXT;
    if (module->context != current) return NOT_FOUND;
    if (strcmp(name, "__wb_log")) {
        struct variable *variable = module->variables;
        while (variable && strcmp(variable->name, name)) variable = variable->next;
        if (!variable) {
            char size[512];
            snprintf(size, sizeof(size), "%s_bytes", name);
            const unsigned *said = open_kernels() ? dlsym(kernels, size) : NULL;
            if (!said) return NOT_FOUND;
            variable = calloc(1, sizeof(*variable));
            *variable = (struct variable){module->variables, strdup(name), allocate(current, *said), *said};
            module->variables = variable;
        }
        *address = variable->at;
        *bytes = variable->bytes;
        return OK;
    }
    if (!module->log) module->log = allocate(current, sizeof(void *));
    *address = module->log;
    *bytes = sizeof(void *);
    return OK;
}
int cuFuncSetAttribute(struct function *function, int attribute, int value) { (void)function; (void)attribute; (void)value; return OK; }
int cuLaunchKernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *handle, void **params, void **extra) {
    (void)shared;
    (void)extra;
    ON(handle);
    if (function->module->context != stream->context) return INVALID_HANDLE;
    int n = 0;
    while (function->sizes[n]) ++n;
    char **copies = calloc((size_t)n + 1, sizeof(char *));
    for (int i = 0; i < n; ++i) memcpy(copies[i] = malloc(function->sizes[i]), params[i], function->sizes[i]);
    tell("launch %s device %d stream %d\n", function->name, stream->context->device, stream->number);
    if (!stream->captures)
        put(stream, (struct work){.what = LAUNCH, .kernel = function->kernel, .module = function->module, .name = function->name,
                                  .at = {{gx, gy, gz}, {bx, by, bz}, reach, NULL}, .params = copies});
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    return blocking && !strcmp(blocking, "1") ? settle(stream) : OK;
}

int cuGetErrorName(int code, const char **name) { *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR"; return OK; }
int cuGetErrorString(int code, const char **text) {
    *text = code == 700 ? "an illegal memory access was encountered" : code == INVALID_HANDLE ? "invalid resource handle" : "an error";
    return OK;
}
