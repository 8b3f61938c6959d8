// test run

__device__ void swap(int* a, int* b) { int t = *a; *a = *b; *b = t; }

__device__ int sum(const int* first, const int* last) {
    int s = 0;
    while (first != last) s += *first++;
    return s;
}

__global__ void walk(const int* x, int* out, int n) {
    const int* p = x + 2;
    out[0] = *p++;
    out[1] = *++p;
    out[2] = p[-1];
    out[3] = p - x;
    out[4] = sum(x, x + n);
    out[5] = 1[x];
    int a = 3, b = 4;
    swap(&a, &b);
    out[6] = 10 * a + b;
    int* q = out + 7;
    *q = 1; q += 1; *q = 2; *(q + 1) = 3;
    out[10] = (p > x) + (p == x + 4) + (&x[n] > p);
    const char* bytes = (const char*)x;
    out[11] = bytes[4];                  // the low byte of x[1]: the machine is little-endian
    long long distance = (const char*)(x + 3) - bytes;
    out[12] = (int)distance;
}
// run: walk<<<1, 1>>>(x = [10, 11, 12, 13, 14], out = poison(13), n = 5)
//   out == [12, 14, 13, 4, 60, 11, 43, 1, 2, 3, 3, 11, 12]
