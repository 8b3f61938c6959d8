// test run

__device__ int pick(int x) {
    int r = 0;
    switch (x) {
        case 0: r = 10; break;
        case 1:
        case 2: r = 20;                  // falls into case 3
        case 3: r += 1; break;
        case -1: return -100;
        default: r = 99;
        case 7: r += 1000;
    }
    return r;
}

__global__ void all(int* out) {
    for (int i = -2; i < 9; i++) out[i + 2] = pick(i);
}

__global__ void loop_in_switch(int* out) {
    int n = 0;
    for (int i = 0; i < 6; i++) {
        switch (i % 3) {
            case 0: continue;            // the loop's
            case 1: n += 1; break;       // the switch's
            default: n += 10;
        }
        n += 100;
    }
    out[0] = n;
}
// run: all<<<1, 1>>>(out = poison(11))
//   out == [1099, -100, 10, 21, 21, 1, 1099, 1099, 1099, 1000, 1099]
// run: loop_in_switch<<<1, 1>>>(out = poison(1))
//   out == [422]
