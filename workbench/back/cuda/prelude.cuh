// Declarations before the first line of every text: the names its host headers would have given it, and our own
// printf, assert and __trap, which report through one log in host memory. `record.rs` reads this log: the
// layout of `Header`, the record words and the tags are in both files.
#ifdef __WB_CCCL
// CCCL has its own, and takes no others.
#include <cuda/std/cstdint>
#else
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
#endif
typedef long ptrdiff_t;
typedef unsigned int uint;

// The functions of <cmath> for integers: the double function of the value. Templates, so that a text's own overload is preferred.
namespace __wb {
template <class T> struct Integer { enum { value = 0 }; };
template <> struct Integer<bool> { enum { value = 1 }; };
template <> struct Integer<char> { enum { value = 1 }; };
template <> struct Integer<signed char> { enum { value = 1 }; };
template <> struct Integer<unsigned char> { enum { value = 1 }; };
template <> struct Integer<short> { enum { value = 1 }; };
template <> struct Integer<unsigned short> { enum { value = 1 }; };
template <> struct Integer<int> { enum { value = 1 }; };
template <> struct Integer<unsigned int> { enum { value = 1 }; };
template <> struct Integer<long> { enum { value = 1 }; };
template <> struct Integer<unsigned long> { enum { value = 1 }; };
template <> struct Integer<long long> { enum { value = 1 }; };
template <> struct Integer<unsigned long long> { enum { value = 1 }; };
template <bool> struct When {};
template <> struct When<true> { typedef double type; };
}
#define __WB_INTEGER(f) \
    template <class T> __device__ inline typename __wb::When<__wb::Integer<T>::value>::type f(T v) { return f((double)v); }
__WB_INTEGER(acos) __WB_INTEGER(acosh) __WB_INTEGER(asin) __WB_INTEGER(asinh) __WB_INTEGER(atan) __WB_INTEGER(atanh)
__WB_INTEGER(cbrt) __WB_INTEGER(ceil) __WB_INTEGER(cos) __WB_INTEGER(cosh) __WB_INTEGER(erf) __WB_INTEGER(erfc)
__WB_INTEGER(exp) __WB_INTEGER(exp2) __WB_INTEGER(expm1) __WB_INTEGER(fabs) __WB_INTEGER(floor) __WB_INTEGER(lgamma)
__WB_INTEGER(log) __WB_INTEGER(log10) __WB_INTEGER(log1p) __WB_INTEGER(log2) __WB_INTEGER(rint) __WB_INTEGER(round)
__WB_INTEGER(sin) __WB_INTEGER(sinh) __WB_INTEGER(sqrt) __WB_INTEGER(tan) __WB_INTEGER(tanh) __WB_INTEGER(tgamma)
__WB_INTEGER(trunc)
#undef __WB_INTEGER

// The same for two arguments of different types, or two integers: the double function.
namespace __wb {
template <class T> struct Number { enum { value = Integer<T>::value }; };
template <> struct Number<float> { enum { value = 1 }; };
template <> struct Number<double> { enum { value = 1 }; };
template <class A, class B> struct Mixed : When<Number<A>::value && Number<B>::value> {};
template <> struct Mixed<float, float> {};
}
#define __WB_MIXED(f) \
    template <class A, class B> __device__ inline typename __wb::Mixed<A, B>::type f(A a, B b) { return f((double)a, (double)b); }
__WB_MIXED(atan2) __WB_MIXED(copysign) __WB_MIXED(fdim) __WB_MIXED(fmax) __WB_MIXED(fmin) __WB_MIXED(fmod)
__WB_MIXED(hypot) __WB_MIXED(nextafter) __WB_MIXED(pow) __WB_MIXED(remainder)
#undef __WB_MIXED

// Functions of <cmath> that CUDA's own headers leave to the host's.
template <class T> __device__ inline bool isnormal(T v) {
    double size = fabs((double)v);
    return size >= (sizeof(T) == 4 ? (double)FLT_MIN : DBL_MIN) && size < HUGE_VAL;
}

namespace __wb {
typedef unsigned int u32;
typedef unsigned long long u64;

struct Header {
    u64 cursor;
    u64 dropped;
    u64 best;
    u32 lock;
    u32 capacity;
    u32 kind;
    u32 line;
    u32 block[3];
    u32 thread[3];
    u32 reserved[8];
    char file[416];
    char text[512];
};
static_assert(sizeof(Header) == 1024, "record.rs reads this layout");

enum Tag { INT = 1, UINT = 2, DOUBLE = 3, STRING = 4, POINTER = 5, NULL_STRING = 6 };
enum { MAGIC = 0x57425052, HEAD_WORDS = 12, LONGEST_STRING = 65536 };

struct Arg {
    u32 tag;
    u32 size;
    u64 bits;
};
}

extern "C" __device__ __wb::Header* __wb_log;
extern "C" __device__ __wb::Header* __wb_log = 0;

namespace __wb {
__device__ inline Arg pack(int v) { return Arg{INT, 0, (u64)(long long)v}; }
__device__ inline Arg pack(unsigned v) { return Arg{UINT, 0, (u64)v}; }
__device__ inline Arg pack(long v) { return Arg{INT, 0, (u64)v}; }
__device__ inline Arg pack(unsigned long v) { return Arg{UINT, 0, (u64)v}; }
__device__ inline Arg pack(long long v) { return Arg{INT, 0, (u64)v}; }
__device__ inline Arg pack(unsigned long long v) { return Arg{UINT, 0, v}; }
__device__ inline Arg pack(double v) { return Arg{DOUBLE, 0, (u64)__double_as_longlong(v)}; }
// A pointer to bytes counts as a string until the format shows otherwise.
__device__ inline Arg pack(const char* v) { return Arg{STRING, 0, (u64)v}; }
__device__ inline Arg pack(const signed char* v) { return Arg{STRING, 0, (u64)v}; }
__device__ inline Arg pack(const unsigned char* v) { return Arg{STRING, 0, (u64)v}; }
__device__ inline Arg pack(const volatile void* v) { return Arg{POINTER, 0, (u64)v}; }
__device__ inline Arg pack(decltype(nullptr)) { return Arg{POINTER, 0, 0}; }

__device__ inline void put(u32* out, const char* text, u32 size) {
    for (u32 i = 0; i < size; i += 4) {
        u32 word = 0;
        for (u32 j = 0; j < 4 && i + j < size; ++j) word |= (u32)(unsigned char)text[i + j] << (8 * j);
        out[i / 4] = word;
    }
}

__device__ inline u32 padded(u32 size) { return (size + 7u) & ~7u; }

// Walks the format once: finds its length and which arguments are strings, and measures those.
__device__ inline u32 measure(const char* format, Arg* args, int count) {
    u32 at = 0;
    int next = 0;
    for (; format[at]; ++at) {
        if (format[at] != '%') continue;
        u32 p = at + 1;
        if (format[p] == '%') {
            at = p;
            continue;
        }
        bool dot = false;
        int limit = -1;
        for (;; ++p) {
            char c = format[p];
            if (c == '*') {
                if (dot) limit = next < count ? (int)args[next].bits : -1;
                ++next;
            } else if (c == '.') {
                dot = true;
                limit = 0;
            } else if (c >= '0' && c <= '9') {
                if (dot && limit < LONGEST_STRING) limit = limit * 10 + (c - '0');
            } else if (!(c == '-' || c == '+' || c == ' ' || c == '#' || c == 'h' || c == 'l' || c == 'L' || c == 'z' ||
                         c == 'j' || c == 't')) {
                break;
            }
        }
        if (!format[p]) {
            at = p;
            break;
        }
        if (format[p] == 's' && next < count && args[next].tag == STRING) {
            const char* text = (const char*)args[next].bits;
            if (!text) {
                args[next].tag = NULL_STRING;
            } else {
                u32 most = limit < 0 || limit > LONGEST_STRING ? (u32)LONGEST_STRING : (u32)limit;
                u32 size = 0;
                while (size < most && text[size]) ++size;
                args[next].size = size + 1;
            }
        }
        // NULL is an integer.
        if (format[p] == 'p' && next < count && args[next].tag == INT) args[next].tag = POINTER;
        ++next;
        at = p;
    }
    for (int i = 0; i < count; ++i) {
        if (args[i].tag == STRING && args[i].size == 0) args[i].tag = POINTER;
        else if (args[i].tag == STRING) --args[i].size;
    }
    return at;
}

__device__ __noinline__ int print(const char* format, Arg* args, int count) {
    if (!format) return -1;
    Header* log = __wb_log;
    if (!log) return count;
    u32 length = measure(format, args, count);
    u32 size = HEAD_WORDS * 4 + padded(length);
    for (int i = 0; i < count; ++i) size += 16 + padded(args[i].size);
    u64 offset = atomicAdd(&log->cursor, (u64)size);
    if (offset + size > log->capacity) {
        atomicAdd(&log->dropped, (u64)1);
        return count;
    }
    u32* head = (u32*)((char*)log + sizeof(Header) + offset);
    head[1] = size;
    head[2] = blockIdx.x;
    head[3] = blockIdx.y;
    head[4] = blockIdx.z;
    head[5] = threadIdx.x;
    head[6] = threadIdx.y;
    head[7] = threadIdx.z;
    head[8] = (u32)count;
    head[9] = length;
    u32* out = head + HEAD_WORDS;
    put(out, format, length);
    out += padded(length) / 4;
    for (int i = 0; i < count; ++i) {
        out[0] = args[i].tag;
        out[1] = args[i].size;
        out[2] = (u32)args[i].bits;
        out[3] = (u32)(args[i].bits >> 32);
        out += 4;
        if (args[i].tag == STRING) put(out, (const char*)args[i].bits, args[i].size);
        out += padded(args[i].size) / 4;
    }
    // The magic word comes last: a record without it was cut off by a fault.
    __threadfence_system();
    *(volatile u32*)head = MAGIC;
    return count;
}

__device__ inline void keep(char* out, const char* text, int room) {
    int i = 0;
    for (; i + 1 < room && text[i]; ++i) out[i] = text[i];
    out[i] = 0;
}

// Records the fault of the lowest thread and ends this thread only: the context, and with it the user's session, stays usable.
__device__ __noinline__ void fault(u32 kind, const char* file, u32 line, const char* text) {
    Header* log = __wb_log;
    if (log) {
        u64 block = ((u64)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        u64 thread = ((u64)threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        u64 key = block < ((u64)1 << 52) ? block * 1024 + thread : ~(u64)0 - 1;
        volatile u64* best = &log->best;
        bool done = false;
        // Trying and releasing in one iteration keeps lanes of a warp from waiting for each other.
        while (!done && key < *best) {
            if (atomicCAS(&log->lock, 0u, 1u) == 0u) {
                __threadfence_system();
                if (key < *best) {
                    *best = key;
                    log->kind = kind;
                    log->line = line;
                    log->block[0] = blockIdx.x;
                    log->block[1] = blockIdx.y;
                    log->block[2] = blockIdx.z;
                    log->thread[0] = threadIdx.x;
                    log->thread[1] = threadIdx.y;
                    log->thread[2] = threadIdx.z;
                    keep(log->file, file, sizeof(log->file));
                    keep(log->text, text, sizeof(log->text));
                }
                __threadfence_system();
                atomicExch(&log->lock, 0u);
                done = true;
            }
        }
        __threadfence_system();
    }
    asm volatile("exit;");
}
}

template <class... A>
__device__ inline int __wb_printf(const char* format, A... args) {
    __wb::Arg packed[sizeof...(A) + 1] = {__wb::pack(args)..., __wb::Arg{0, 0, 0}};
    return __wb::print(format, packed, (int)sizeof...(A));
}
// The compiler has a `printf` of its own, which a call without arguments would prefer to a template.
#define printf __wb_printf

#undef assert
#ifdef NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...) ((__VA_ARGS__) ? (void)0 : __wb::fault(1u, __FILE__, __LINE__, #__VA_ARGS__))
#endif
#define __trap() __wb::fault(2u, __FILE__, __LINE__, "")
