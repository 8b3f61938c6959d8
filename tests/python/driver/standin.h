// What a kernel of the stand-in driver is: a C function of the kernel's mangled name, with the sizes of its parameters beside it.
#include <stddef.h>

struct at {
    unsigned grid[3], block[3];
    // Whether so many bytes from an address on are the device's; the kernel returns ILLEGAL_ADDRESS where they are not.
    int (*reach)(const void *address, size_t bytes);
    // Where the module's `__wb_log` points.
    void *log;
};

enum { ILLEGAL_ADDRESS = 700 };

#define KERNEL(name, ...) \
    const unsigned name##_sizes[] = {__VA_ARGS__, 0}; \
    int name(char **p, const struct at *at)
#define ARG(type, i) (*(type *)p[i])
