// test run

__global__ void loops(int* out) {
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        if (i == 3) continue;
        if (i == 8) break;
        sum += i;                        // 0+1+2+4+5+6+7
    }
    out[0] = sum;
    int n = 0, k = 100;
    while (k > 1) { k /= 2; ++n; }       // 50 25 12 6 3 1
    out[1] = n;
    int d = 0;
    do { d += 2; if (d == 6) continue; } while (d < 9);   // continue goes to the condition: 2 4 6 8 10
    out[2] = d;
    int nested = 0;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            if (j > i) break;
            nested += 10 * i + j;
        }                                // 0 + 10+11 + 20+21+22 + 30+31+32+33
    out[3] = nested;
    int up = 0;
    for (int a = 0, b = 10; a < b; a += 2, b--) up = up * 10 + (b - a);   // 10, 7, 4, 1
    out[4] = up;
    for (;;) { if (++up > 12000) break; }
    out[5] = up;
}
// run: loops<<<1, 1>>>(out = poison(6))
//   out == [25, 6, 10, 210, 10741, 12001]
