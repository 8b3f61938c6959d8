// test run

__global__ void arrays(int* out, float* f) {
    int a[5] = {1, 2};                   // the rest is zero
    int b[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int c[] = {7, 8, 9};
    int d[2][2][2];
    for (int i = 0; i < 8; i++) d[i / 4][i / 2 % 2][i % 2] = i * i;
    out[0] = a[0] + a[1] + a[2] + a[3] + a[4];
    out[1] = b[1][0] * 100 + b[0][2];
    out[2] = sizeof(c) / sizeof(c[0]);
    out[3] = d[1][0][1];
    int* row = b[1];
    out[4] = row[2];
    int (*rows)[3] = b;
    out[5] = rows[1][1];
    float m[3][3] = {};
    m[1][1] = 2.5f;
    float s = 0;
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) s += m[i][j];
    f[0] = s;
    int e[4] = {0};
    for (int i = 0; i < 4; i++) e[i] += threadIdx.x + i;
    out[6] = e[0] + e[1] + e[2] + e[3];
}
// run: arrays<<<1, 1>>>(out = poison(7), f = poison(1))
//   out == [3, 403, 3, 25, 6, 5, 6]
//   f == [2.5]
