// test run

__global__ void quotient(const int* a, int* out) { out[0] = a[0] / a[1]; }
__global__ void remainder_of(const int* a, int* out) { out[0] = a[0] % a[1]; }
__global__ void unsigned_quotient(const unsigned int* a, unsigned int* out) { out[0] = a[0] / a[1]; }
__global__ void long_quotient(const long long* a, long long* out) { out[0] = a[0] / a[1]; }
// run: quotient<<<1, 1>>>(a = [12, 0], out = [5])
//   fault: division by zero at 3:61 block (0,0,0) thread (0,0,0): 12
//   out == [5]
// run: remainder_of<<<1, 1>>>(a = [12, 0], out = [5])
//   fault: division by zero at 4:65 block (0,0,0) thread (0,0,0)
// run: quotient<<<1, 1>>>(a = [-2147483648, -1], out = [5])
//   fault: division overflow at 3:61 block (0,0,0) thread (0,0,0)
// run: remainder_of<<<1, 1>>>(a = [-2147483648, -1], out = [5])
//   fault: division overflow at 4:65 block (0,0,0) thread (0,0,0)
// run: long_quotient<<<1, 1>>>(a = [-9223372036854775808, -1], out = [5])
//   fault: division overflow at 6:78 block (0,0,0) thread (0,0,0)
// run: unsigned_quotient<<<1, 1>>>(a = [4294967295, 0], out = [5])
//   fault: division by zero at 5:88 block (0,0,0) thread (0,0,0)
// run: unsigned_quotient<<<1, 1>>>(a = [2147483648, 4294967295], out = [5])
//   out == [0]
// run: quotient<<<1, 1>>>(a = [-7, 2], out = [5])
//   out == [-3]
