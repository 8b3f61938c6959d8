// What is left out beside an error was looked for in a name that is not there.
__device__ int twice(< x) { return -x; }
__global__ void names(int* out) {
    using namespace + 1;
    out[1] = twice(4);
    out[2] = missing(4);
}
