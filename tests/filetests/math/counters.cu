// test run

// A profiler's counter changes nothing that a kernel computes, whichever threads reach it and how often.
__global__ void counted(int* o) {
    int sum = 0;
    __prof_trigger(0);
    for (int i = 0; i < 4; i++) {
        if (i > threadIdx.x) __prof_trigger(7);
        sum += i * threadIdx.x;
    }
    o[threadIdx.x] = sum;
}
// run: counted<<<1, 4>>>(o = poison(4))
//   o == [0, 6, 12, 18]
