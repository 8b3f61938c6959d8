// test error

struct A { A a; };
struct B { B* next; int bits : 33; };
struct C { int x; int x; };
template <typename T> struct Grow { Grow<T*> next; };
struct Virtual { virtual void f(); };
__global__ void k(Grow<int>* g, int& r) { g->next = {}; }
__device__ int f(int a = 1, int b);
__device__ auto early(int n) { return n ? early(n - 1) : 0; }
__device__ int use() { return early(1); }
template <typename A, typename B> struct Two {};
template <typename T> struct Doubles { static constexpr int n = Doubles<Two<T, T>>::n; };
template <typename T> struct Calls { static constexpr int n = Calls<T (*)(T, T)>::n; };
constexpr int deep = Doubles<int>::n;
constexpr int wide = Calls<int>::n;
constexpr int forever(int n) { while (true) n++; return n; }
constexpr int endless = forever(1);
constexpr int down(int n) { return down(n + 1); }
constexpr int bottom = down(1);
// error WB0303 3:14 cannot hold itself
// error WB0303 4:32 up to 32 bits, not 33
// error WB0302 5:8 has two members `x`
// error WB0203 6:37 instantiated more than 200 deep
// warning WB0401 7:18 `Virtual` is left out
// error WB0310 8:33 a kernel cannot take `int&`
// error WB0305 9:29 needs a default too
// error WB0303 10:43 before its `auto` result is known
// error WB0203 13:65 instantiated more than 200 deep
// error WB0203 14:69 a type of too many parts
// error WB0308 18:25 must be known when compiling
// error WB0308 20:24 must be known when compiling
