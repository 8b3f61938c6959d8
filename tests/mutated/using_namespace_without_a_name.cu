// The name after `using namespace`, which is missing, was looked up, and the lookup panicked.
__device__ int twice(< x) { return -x; }
__global__ void names(int* out) {
    using namespace + 1;
    out[1] = twice(4);
    out[2] = missing(4);
}
