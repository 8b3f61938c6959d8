// test run
// One of several structs by a condition: copied, passed by reference, written through, chosen of three, and beside one in shared memory.
struct Pair { float value; int at; };

__device__ Pair larger(Pair a, Pair b) { return a.value >= b.value ? a : b; }
__device__ Pair& smaller(Pair& a, Pair& b) { return a.value < b.value ? a : b; }

__global__ void folded(const float* x, float* value, int* at, int n) {
    int i = threadIdx.x;
    Pair best = { x[i], i }, next = { x[(i + 1) % n], (i + 1) % n };
    bool first = best.value >= next.value;
    Pair big = first ? best : next, small = first ? next : best;
    smaller(big, small).at += 100;
    const Pair& of_three = i == 0 ? big : i == 1 ? small : best;
    Pair* one = i % 2 ? &big : &small;
    one->value *= 2;
    value[i] = big.value + 10 * small.value;
    at[i] = larger(big, small).at * 1000 + of_three.at;
}
// x:           3  1  4  1  5, the next:  1  4  1  5  3
// big:         (3,0)  (4,2)  (4,2)  (5,4)  (5,4); small, its place and 100: (1,101)  (1,101)  (1,103)  (1,103)  (3,100)
// Even threads double small, odd ones big: small 2, 1, 2, 1, 6; big 3, 8, 4, 10, 5.
// In the last thread small is the larger now.
// of_three: big's 0, small's 101, then the thread's own.
// run: folded<<<1, 5>>>(x = [3, 1, 4, 1, 5], value = poison(5), at = poison(5), n = 5)
//   value == [23, 18, 24, 20, 65]
//   at == [0, 2101, 2002, 4003, 100004]

__global__ void beside_shared(const float* x, float* y, int n) {
    __shared__ Pair kept[4];
    int i = threadIdx.x;
    if (i < 4) kept[i] = Pair{ x[i], i };
    __syncthreads();
    Pair none = { -1.0f, -7 };
    Pair v = i < n ? kept[i] : none;
    y[i] = v.value * 100 + v.at;
}
// run: beside_shared<<<1, 6>>>(x = [1, 2, 3, 4], y = poison(6), n = 3)
//   y == [100, 201, 302, -107, -107, -107]
// The struct in shared memory is read by the threads that chose it, and no other.
// run: beside_shared<<<1, 6>>>(x = [1, 2, 3, 4], y = poison(6), n = 6)
//   fault: out-of-bounds read at 35:22 block (0,0,0) thread (4,0,0): `kept`

__global__ void past(float* y, int n) {
    Pair a = { 1, 2 }, b = { 3, 4 };
    const float* p = n > 0 ? &a.value : &b.value;
    y[threadIdx.x] = p[threadIdx.x * 2];
}
// run: past<<<1, 1>>>(y = poison(1), n = 0)
//   y == [3]
// run: past<<<1, 2>>>(y = poison(2), n = 1) cpu
//   fault: out-of-bounds read at 47:22 block (0,0,0) thread (1,0,0): `a`
