// test run
// The right-hand side of && and || and the branch not taken of ?: must not run: here each would write.

__device__ bool mark(int* p, bool result) { *p = *p + 1; return result; }

__global__ void sides(int* out) {
    out[0] = 0; out[1] = 0; out[2] = 0; out[3] = 0;
    bool a = false && mark(&out[0], true);
    bool b = true || mark(&out[0], true);
    bool c = true && mark(&out[1], false);
    bool d = false || mark(&out[1], true);
    int e = a ? mark(&out[2], true) : 5;
    int f = b ? 7 : mark(&out[3], true);
    out[4] = a * 1000 + b * 100 + c * 10 + d;
    out[5] = e * 10 + f;
    int n = 4;
    const int* null = 0;
    out[6] = (null && *null > 0) ? 1 : 2;
    out[7] = n > 3 ? n < 5 ? 1 : 2 : 3;
}
// run: sides<<<1, 1>>>(out = poison(8))
//   out == [0, 2, 0, 0, 101, 57, 2, 1]
