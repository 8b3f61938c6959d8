// test error
// Constant memory is not const in C++, and all the same nothing kernels write.

__constant__ float table[4];
__constant__ const int limit = 3;
struct Pair { float a, b; };
__constant__ Pair pair;

__global__ void k(float* y)
{
    table[1] = 2.0f;
    pair.a += 1.0f;
    float* p = table;
    y[0] = p[0] + limit;
}

// error WB0306 11:5 `table` is in constant memory, which kernels cannot write
// error WB0306 12:5 `pair` is in constant memory, which kernels cannot write
