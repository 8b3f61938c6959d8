// Rows of `cols` elements that indices pick: of `count` rows, `each` for each of the outer places.
__global__ void k(const E *a, const I *index, E *out, int each, int size, int cols)
{
    int outer = blockIdx.x / each, j = blockIdx.x % each;
    const E *row = a + (outer * size + (int)index[j]) * cols;
    E *to = out + blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += 32) to[c] = row[c];
}
