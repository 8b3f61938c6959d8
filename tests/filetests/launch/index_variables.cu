// test run
// Every thread of a 3-D grid of 2-D and 3-D blocks writes its own place once.

__global__ void indices(int* out) {
    int bx = gridDim.x, by = gridDim.y;
    int block = blockIdx.x + bx * (blockIdx.y + by * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int per_block = blockDim.x * blockDim.y * blockDim.z;
    out[block * per_block + thread] = block * 1000 + thread;
}

__global__ void sizes(unsigned int* out) {
    if (threadIdx.x || threadIdx.y || threadIdx.z || blockIdx.x || blockIdx.y || blockIdx.z) return;
    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
    out[6] = warpSize;
}
// run: indices<<<(2, 1, 2), (2, 3, 1)>>>(out = poison(24))
//   out == [0, 1, 2, 3, 4, 5, 1000, 1001, 1002, 1003, 1004, 1005, 2000, 2001, 2002, 2003, 2004, 2005, 3000, 3001, 3002, 3003, 3004, 3005]
// run: sizes<<<(3, 4, 5), (2, 3, 4)>>>(out = poison(7))
//   out == [3, 4, 5, 2, 3, 4, 32]
