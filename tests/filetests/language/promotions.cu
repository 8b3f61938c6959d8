// test run
// Integer promotions and the usual arithmetic conversions, each result worked out from [conv.prom] and [expr.arith.conv].

__global__ void promote(int* out) {
    unsigned char u8 = 250;
    signed char s8 = -100;
    short s16 = 30000;
    out[0] = u8 + u8;                    // int: 500, no wrap at 256
    out[1] = s8 * 2;                     // int: -200
    out[2] = s16 + s16;                  // int: 60000
    u8 += 10;                            // back to unsigned char: 260 mod 256
    out[3] = u8;
    out[4] = (unsigned char)300;
    out[5] = (signed char)200;           // 200 - 256
    out[6] = -1 < 1u;                    // -1 becomes 4294967295: false
    out[7] = -1 < 1;
    out[8] = (-1 < (long long)1u);       // unsigned fits in long long: true
    out[9] = 7 / -2;                     // towards zero
    out[10] = 7 % -2;                    // the sign of the dividend
    out[11] = -7 / 2;
    out[12] = -7 % 2;
    out[13] = ~0;
    out[14] = -8 >> 1;                   // arithmetic
    out[15] = (int)(0xFFFFFFFFu >> 28);
    out[16] = sizeof(1u + 1LL);
    out[17] = sizeof('a');
    out[18] = sizeof(1.0f + 1);
    out[19] = sizeof(1.0f + 1.0);
    out[20] = !5 + !0;
    out[21] = true + true;
    out[22] = 'a' + 1;
}
// run: promote<<<1, 1>>>(out = poison(23))
//   out == [500, -200, 60000, 4, 44, -56, 0, 1, 1, -3, 1, -3, -1, -1, -4, 15, 8, 1, 4, 8, 1, 2, 98]
