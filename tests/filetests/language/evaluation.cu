// test run

__device__ int trace(int* log, int value) {
    log[++log[0]] = value;
    return value;
}

// C++17: the right side of an assignment is evaluated before the left; subscripts and shifts from left to right.
__global__ void order(int* log) {
    int a[8] = {};
    a[trace(log, 1)] = trace(log, 2);
    a[trace(log, 3)] += trace(log, 4);
    int s = trace(log, 5) << trace(log, 6);
    bool b = trace(log, 0) && trace(log, 7);
    b = trace(log, 8) || trace(log, 9);
    s = b ? trace(log, 10) : trace(log, 11);
    s += (trace(log, 12), s);
}
// run: order<<<1, 1>>>(log = fill(14, 0))
//   log == [10, 2, 1, 4, 3, 5, 6, 0, 8, 10, 12, 0, 0, 0]

// Compound assignment computes in the common type and converts back; narrow types wrap; steps keep the type.
__global__ void compound(int* o) {
    unsigned char c = 250;
    c += 10;
    o[0] = c;
    signed char s = 127;
    s++;
    o[1] = s;
    int i = 7;
    i *= 1.5;
    o[2] = i;
    unsigned u = 1;
    u -= 2;
    o[3] = u > 100;
    short h = -5;
    h >>= 1;
    o[4] = h;
    int j = 3;
    o[5] = j++ * 10 + ++j;
    bool t = 2;
    t += 5;
    o[6] = t;
    float f = 1;
    f /= 4;
    f++;
    o[7] = f * 100;
    (i = 5) += 2;
    o[8] = i;
    o[9] = 7 / 2 * 2.0 + 'a' % 10;
}
// run: compound<<<1, 1>>>(o = poison(10))
//   o == [4, -128, 10, 1, -3, 35, 1, 125, 7, 13]

__device__ void swap(int& a, int& b) {
    int t = a;
    a = b;
    b = t;
}

__device__ int& larger(int& a, int& b) { return a > b ? a : b; }

__device__ int total(const int (*rows)[3], int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++) sum += rows[i][j];
    return sum;
}

__global__ void places(int* o) {
    int x = 1, y = 2;
    swap(x, y);
    o[0] = x * 10 + y;
    larger(x, y) = 9;
    o[1] = x * 10 + y;
    int m[2][3] = {1, 2, 3, {4}};
    o[2] = total(m, 2);
    int* p = &m[1][0];
    o[3] = p[-1] + *(p + 1) + (int)(p - &m[0][0]);
    int& r = m[0][1];
    r += 40;
    o[4] = m[0][1];
    (x > 100 ? x : y) = 70;
    o[5] = y;
    int big[40] = {1, 2};
    int sum = 0;
    for (int v = 0; v < 40; v++) sum += big[v];
    o[6] = sum;
    const int table[4] = {5, 6, 7};
    o[7] = table[2] + table[3];
    char text[] = "hi";
    o[8] = sizeof(text) + text[1] - 'i' + sizeof m / sizeof m[0];
    int* q = &x;
    *q += 1;
    o[9] = x;
}
// run: places<<<1, 1>>>(o = poison(10))
//   o == [21, 91, 10, 6, 42, 70, 3, 7, 5, 10]
