// test run
// Unsuffixed math names resolve by argument type: abs of a float is not an int, max(1, 2.5) is a double.

__device__ int kind(int) { return 1; }
__device__ int kind(float) { return 2; }
__device__ int kind(double) { return 3; }
__device__ int kind(unsigned int) { return 4; }
__device__ int kind(const float*) { return 5; }

__global__ void overloads(const float* x, float* out, int* k) {
    out[0] = abs(-2.5f);
    out[1] = max(1.5f, 2.0f);
    out[2] = min(-1, 4);
    out[3] = fmaxf(0.0f / 0.0f, 3.0f);   // a NaN loses
    out[4] = floor(-1.5f);
    out[5] = sqrt(16.0f);
    out[6] = fabs(-0.25f);
    out[7] = round(2.5f);                // away from zero
    out[8] = rint(2.5f);                 // to even
    k[0] = kind(1);
    k[1] = kind(1.0f);
    k[2] = kind(1.0);
    k[3] = kind(1u);
    k[4] = kind(x);
    k[5] = kind('a');                    // promotes to int
    k[6] = kind(sqrtf(4.0f));
    k[7] = kind(sqrt(4));                // an integer argument means double
    k[8] = kind(true);
    k[9] = kind(threadIdx.x);
    k[10] = sizeof(max(1.0f, 2.0f));
    k[11] = sizeof(max(1.0f, 2.0));
    k[12] = sizeof(pow(2.0f, 3.0f));
}
// run: overloads<<<1, 1>>>(x = [1], out = poison(9), k = poison(13))
//   out == [2.5, 2.0, -1.0, 3.0, -2.0, 4.0, 0.25, 3.0, 2.0]
//   k == [1, 2, 3, 4, 5, 1, 2, 3, 1, 4, 4, 8, 4]
