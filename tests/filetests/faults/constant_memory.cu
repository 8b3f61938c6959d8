// test run
// A write through a pointer into constant memory is found where it happens.

__constant__ float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};

__global__ void k(float* y, int i)
{
    float* p = table + i;
    y[0] = *p;
    *p = 7.0f;
}

// run: k<<<1, 1>>>(y = poison(1), i = 2)
//   fault: write to read-only memory at 10:5 block (0,0,0) thread (0,0,0): writes index 2 of `table`
