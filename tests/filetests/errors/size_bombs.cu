// test error

// Types that double with each level, and objects that multiply: refused while they are small.
template <typename A, typename B> struct Pair { A first; B second; };
template <typename T> __device__ int endless(T t) { return endless(Pair<T, T>{t, t}); }
template <typename... T> __device__ int pack(T... t) { return pack(t..., t...); }
struct One { int x = 1; };
struct Many { One ones[1000]; };
struct More { Many many[1000]; };
struct Marked { int x; __device__ ~Marked() { x = 0; } };

__global__ void use(int* out) {
    out[0] = endless(1);
    out[1] = pack(1);
    More more;
    out[2] = more.many[1].ones[1].x;
    One some[20000] = {};
    out[3] = some[3].x;
    // One by one is for those that have something to do.
    Marked marked[30000];
    marked[0].x = 1;
    out[4] = marked[0].x;
}
// error WB0502 4:35 `Pair<Pair<
// error WB0502 6:74 more than
// error WB0502 15:10 whose 1001000 objects are constructed one by one
// error WB0316 15:10 4000000 bytes
// error WB0502 17:23 whose 20000 objects are constructed one by one
