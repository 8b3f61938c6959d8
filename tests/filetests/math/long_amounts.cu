// test run

// Shifts of 32-bit numbers by 64-bit amounts: all bits of an amount count, and one at or past the width shifts everything out, as in PTX.
__global__ void shifted(const unsigned long long* n, unsigned* left, unsigned* right, int* sign) {
    int i = threadIdx.x;
    left[i] = 0x80000001u << n[i];
    right[i] = 0x80000001u >> n[i];
    sign[i] = -8 >> n[i];
}
// 4294967296 is 2^32, whose low half is 0; 4294967297 and -1 have the low halves 1 and 2^32 - 1.
// run: shifted<<<1, 8>>>(n = [0, 1, 31, 32, 64, 4294967296, 4294967297, 18446744073709551615], left = poison(8), right = poison(8), sign = poison(8))
//   left == [2147483649, 2, 2147483648, 0, 0, 0, 0, 0]
//   right == [2147483649, 1073741824, 1, 0, 0, 0, 0, 0]
//   sign == [-8, -4, -1, -1, -1, -1, -1, -1]
