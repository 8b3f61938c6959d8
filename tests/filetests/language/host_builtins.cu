// test run cpu

// Builtins of the host's compilers.
__global__ void counts(unsigned* out, unsigned x) {
    out[0] = __builtin_popcount(x);
    out[1] = __builtin_clz(x);
    out[2] = __builtin_ctz(x);
    if (x == 0) __builtin_unreachable();
}
// run: counts<<<1, 1>>>(out = poison(3), x = 40)
//   out == [2, 26, 3]

// Bytes in reverse order: 0x01020304 and 0x0102030405060708 backwards; the lowest byte becomes the highest; twice is the argument.
__global__ void swapped(unsigned* out, unsigned long long* wide, unsigned x, unsigned long long y) {
    out[0] = __builtin_bswap32(x);
    out[1] = __builtin_bswap32(0x80u);
    out[2] = __builtin_bswap32(__builtin_bswap32(x)) == x;
    // A wider number is cut: the two low bytes of 32 bits.
    out[3] = __builtin_bswap32(0xff00000102ull);
    wide[0] = __builtin_bswap64(y);
    wide[1] = __builtin_bswap64(0x80u);
    wide[2] = __builtin_bswap64(__builtin_bswap64(y)) == y;
}
// run: swapped<<<1, 1>>>(out = poison(4), wide = poison(3), x = 0x01020304, y = 0x0102030405060708)
//   out == [0x04030201, 0x80000000, 1, 0x02010000]
//   wide == [0x0807060504030201, 0x8000000000000000, 1]

// Set bits modulo 2: 40 has two, 7 three, all ones 32 or 64.
__global__ void odd(int* out, unsigned x, unsigned long long y) {
    out[0] = __builtin_parity(x);
    out[1] = __builtin_parity(7u);
    out[2] = __builtin_parity(0u);
    out[3] = __builtin_parity(~0u);
    // Three bits, of which the low 32 have two.
    out[4] = __builtin_parity(0x100000003ull);
    out[5] = __builtin_parityll(0x100000003ull);
    out[6] = __builtin_parityll(y);
    out[7] = __builtin_parityll(~0ull);
    out[8] = __builtin_parityll(0);
    // With its sign a number of 32 bits has 64.
    out[9] = __builtin_parityll(-2);
}
// run: odd<<<1, 1>>>(out = poison(10), x = 40, y = 0x8000000000000000)
//   out == [0, 1, 0, 0, 0, 1, 1, 0, 0, 1]

unsigned on_host(unsigned x) { return __builtin_bswap32(x); }
unsigned long on_host_wide(unsigned long x) { return __builtin_bswap64(x); }
// call: on_host(0x01020304) == 0x04030201
// call: on_host_wide(0x0102030405060708) == 0x0807060504030201
int parity_on_host(unsigned x) { return __builtin_parity(x); }
int parity_on_host_long(unsigned long x) { return __builtin_parityl(x); }
// call: parity_on_host_long(0x8000000000000003) == 1
int parity_on_host_wide(unsigned long long x) { return __builtin_parityll(x); }
// call: parity_on_host(0x80000001) == 0
// call: parity_on_host(7) == 1
// call: parity_on_host_wide(0x8000000000000000) == 1
// call: parity_on_host_wide(0x8000000000000001) == 0
