// <sys/time.h>, <time.h> and <unistd.h>, for host code: the time, and waiting. GCC's atomic functions on memory of host code, which runs as one thread.
struct timeval {
    long tv_sec;
    long tv_usec;
};
struct timespec {
    long tv_sec;
    long tv_nsec;
};
struct timezone {
    int tz_minuteswest;
    int tz_dsttime;
};
typedef int clockid_t;
typedef unsigned int useconds_t;
enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 1, CLOCK_PROCESS_CPUTIME_ID = 2, CLOCK_MONOTONIC_RAW = 4 };
inline int gettimeofday(timeval* now, void* = nullptr) {
    const long long t = __wb_nanoseconds();
    now->tv_sec = (long)(t / 1000000000);
    now->tv_usec = (long)(t % 1000000000 / 1000);
    return 0;
}
inline int clock_gettime(clockid_t, timespec* now) {
    const long long t = __wb_nanoseconds();
    now->tv_sec = (long)(t / 1000000000);
    now->tv_nsec = (long)(t % 1000000000);
    return 0;
}
inline int usleep(useconds_t microseconds) {
    __wb_sleep((long long)microseconds * 1000);
    return 0;
}
inline unsigned int sleep(unsigned int seconds) {
    __wb_sleep((long long)seconds * 1000000000);
    return 0;
}
inline int nanosleep(const timespec* time, timespec* = nullptr) {
    __wb_sleep((long long)time->tv_sec * 1000000000 + time->tv_nsec);
    return 0;
}

#define __WB_SYNC(NAME, AFTER)                                                          \
    template <typename T, typename V> inline T __sync_fetch_and_##NAME(T* p, V v) {     \
        const T before = *p;                                                            \
        *p = (T)(AFTER);                                                                \
        return before;                                                                  \
    }                                                                                   \
    template <typename T, typename V> inline T __sync_##NAME##_and_fetch(T* p, V v) {   \
        const T before = *p;                                                            \
        *p = (T)(AFTER);                                                                \
        return *p;                                                                      \
    }                                                                                   \
    template <typename T, typename V> inline T __atomic_fetch_##NAME(T* p, V v, int) {  \
        const T before = *p;                                                            \
        *p = (T)(AFTER);                                                                \
        return before;                                                                  \
    }                                                                                   \
    template <typename T, typename V> inline T __atomic_##NAME##_fetch(T* p, V v, int) { \
        const T before = *p;                                                            \
        *p = (T)(AFTER);                                                                \
        return *p;                                                                      \
    }
__WB_SYNC(add, before + (T)v)
__WB_SYNC(sub, before - (T)v)
__WB_SYNC(and, before & (T)v)
__WB_SYNC(or, before | (T)v)
__WB_SYNC(xor, before ^ (T)v)
__WB_SYNC(nand, ~(before & (T)v))
#undef __WB_SYNC
enum { __ATOMIC_RELAXED, __ATOMIC_CONSUME, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST };
template <typename T, typename A, typename B> inline T __sync_val_compare_and_swap(T* p, A old, B wanted) {
    const T before = *p;
    if (before == (T)old) *p = (T)wanted;
    return before;
}
template <typename T, typename A, typename B> inline bool __sync_bool_compare_and_swap(T* p, A old, B wanted) {
    return __sync_val_compare_and_swap(p, old, wanted) == (T)old;
}
template <typename T, typename V> inline T __sync_lock_test_and_set(T* p, V v) {
    const T before = *p;
    *p = (T)v;
    return before;
}
template <typename T> inline void __sync_lock_release(T* p) { *p = 0; }
inline void __sync_synchronize() {}
template <typename T> inline T __atomic_load_n(const T* p, int) { return *p; }
template <typename T, typename V> inline void __atomic_store_n(T* p, V v, int) { *p = (T)v; }
template <typename T, typename V> inline T __atomic_exchange_n(T* p, V v, int) { return __sync_lock_test_and_set(p, v); }
template <typename T, typename V> inline bool __atomic_compare_exchange_n(T* p, T* old, V wanted, bool, int, int) {
    const T before = *p;
    const bool same = before == *old;
    if (same) *p = (T)wanted; else *old = before;
    return same;
}
inline void __atomic_thread_fence(int) {}
