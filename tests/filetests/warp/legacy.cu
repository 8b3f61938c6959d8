// test run cpu

// The forms without masks, which CUDA had before compute capability 7.0: all active lanes take part.
__global__ void legacy(int* out) {
    int i = threadIdx.x;
    int v = __shfl_down(i, 1);
    if (i % 2 == 0) v += __shfl(i, 0);
    out[i] = v + __popc(__ballot(i < 10)) * 100;
}
// run: legacy<<<1, 8>>>(out = poison(8))
// The last lane reads one that is not there: zero, plus 800.
//   out == [801, 802, 803, 804, 805, 806, 807, 800]
