// Rotary embedding: neighbours as float2, turned by the angle of their place and pair.
__global__ void rope(const float2* __restrict__ x, const float2* __restrict__ cos_sin, float2* __restrict__ out, int tokens, int heads,
                     int pairs) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= tokens * heads * pairs) return;
    int pair = idx % pairs;
    int token = idx / (pairs * heads);
    float2 v = x[idx];
    float2 cs = cos_sin[token * pairs + pair];
    out[idx] = make_float2(v.x * cs.x - v.y * cs.y, v.x * cs.y + v.y * cs.x);
}
