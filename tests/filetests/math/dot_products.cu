// test run

// The dot products of bytes take words or vectors of bytes; vectors count from the low byte.
__global__ void products(int* s, unsigned* u) {
    char4 a = make_char4(1, -2, 3, -128), b = make_char4(5, 6, -7, 127);
    uchar4 c = make_uchar4(1, 2, 255, 4), d = make_uchar4(255, 6, 255, 8);
    short2 e = make_short2(-300, 1000);
    ushort2 f = make_ushort2(60000, 3);
    s[0] = __dp4a(a, b, 10);           // 5 - 12 - 21 - 16256 + 10
    s[1] = __dp2a_lo(e, b, 1);         // -300 * 5 + 1000 * 6 + 1
    s[2] = __dp2a_hi(e, b, 1);         // -300 * -7 + 1000 * 127 + 1
    s[3] = __dp4a(0x01020304, 0x01010101, 100);
    u[0] = __dp4a(c, d, 7u);           // 255 + 12 + 65025 + 32 + 7
    u[1] = __dp2a_lo(f, d, 2u);        // 60000 * 255 + 3 * 6 + 2
    u[2] = __dp2a_hi(f, d, 2u);        // 60000 * 255 + 3 * 8 + 2
}
// run: products<<<1, 1>>>(s = poison(4), u = poison(3))
//   s == [-16274, 4501, 129101, 110]
//   u == [65331, 15300020, 15300026]
