// test run
// Wrap-around at every width, 64-bit arithmetic, shifts at and past the width (PTX: they clamp).

__global__ void widths(const int* amount, long long* out) {
    unsigned int u = 0;
    out[0] = u - 1;
    int big = 2147483647;
    out[1] = big + amount[0];            // wraps
    out[2] = (long long)big + 1;
    unsigned long long m = 0xFFFFFFFFFFFFFFFFull;
    out[3] = m + 2;
    out[4] = 1LL << 40;
    out[5] = 1 << amount[1];             // 32: past the width gives 0
    out[6] = -1 >> amount[1];            // the sign
    out[7] = (int)(3000000000u);
    out[8] = (unsigned short)70000;
    out[9] = 5000000000 / 7;
    out[10] = (long long)1e10f;
    out[11] = (int)1e20f;                // saturates
    out[12] = (int)(-1e20f);
    out[13] = (unsigned int)(-5.0f);     // saturates at 0
    out[14] = (int)(0.0f / 0.0f);        // NaN gives 0
    out[15] = (int)-2.9f;
}
// run: widths<<<1, 1>>>(amount = [1, 32], out = poison(16))
//   out == [4294967295, -2147483648, 2147483648, 1, 1099511627776, 0, -1, -1294967296, 4464, 714285714, 10000000000, 2147483647, -2147483648, 0, 0, -2]
