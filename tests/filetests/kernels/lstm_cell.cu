// The pointwise part of an LSTM cell and its gradient, gates interleaved as [batch, 4, hidden].

namespace cell {

template <typename T> __device__ __forceinline__ T sigmoid(T z) { return T(1) / (T(1) + exp(-z)); }
template <typename T> __device__ __forceinline__ T d_sigmoid(T s) { return (T(1) - s) * s; }
template <typename T> __device__ __forceinline__ T d_tanh(T t) { return T(1) - t * t; }

enum Gate { kInput, kForget, kCandidate, kOutput, kGates };

}  // namespace cell

template <typename scalar_t>
__global__ void lstm_cell_forward(const scalar_t* __restrict__ from_input, const scalar_t* __restrict__ from_hidden,
                                  const scalar_t* __restrict__ bias, const scalar_t* __restrict__ c_prev,
                                  scalar_t* __restrict__ h, scalar_t* __restrict__ c, scalar_t* __restrict__ saved,
                                  size_t hidden)
{
    using namespace cell;
    const size_t column = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t batch = blockIdx.y;
    if (column >= hidden) return;

    scalar_t pre[kGates];
#pragma unroll
    for (int g = 0; g < kGates; ++g) {
        const size_t at = (batch * kGates + g) * hidden + column;
        pre[g] = from_input[at] + from_hidden[at] + bias[g * hidden + column];
    }
    const auto i = sigmoid(pre[kInput]);
    const auto f = sigmoid(pre[kForget]);
    const auto z = tanh(pre[kCandidate]);
    const auto o = sigmoid(pre[kOutput]);

    const size_t at = batch * hidden + column;
    const scalar_t cell_state = f * c_prev[at] + i * z;
    c[at] = cell_state;
    h[at] = o * tanh(cell_state);

    const scalar_t gates[kGates] = {i, f, z, o};
    for (int g = 0; g < kGates; ++g) saved[(batch * kGates + g) * hidden + column] = gates[g];
}

template <typename scalar_t>
__global__ void lstm_cell_backward(const scalar_t* __restrict__ grad_h, const scalar_t* __restrict__ grad_c,
                                   const scalar_t* __restrict__ c, const scalar_t* __restrict__ c_prev,
                                   const scalar_t* __restrict__ saved, scalar_t* __restrict__ d_gates,
                                   scalar_t* __restrict__ d_c_prev, size_t hidden)
{
    using namespace cell;
    const size_t column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= hidden) return;
    const size_t at = blockIdx.y * hidden + column;
    const scalar_t* gate = saved + blockIdx.y * kGates * hidden + column;
    const scalar_t i = gate[kInput * hidden], f = gate[kForget * hidden];
    const scalar_t z = gate[kCandidate * hidden], o = gate[kOutput * hidden];

    const scalar_t t = tanh(c[at]);
    const scalar_t dc = grad_c[at] + grad_h[at] * o * d_tanh(t);
    scalar_t* out = d_gates + blockIdx.y * kGates * hidden + column;
    out[kInput * hidden] = dc * z * d_sigmoid(i);
    out[kForget * hidden] = dc * c_prev[at] * d_sigmoid(f);
    out[kCandidate * hidden] = dc * i * d_tanh(z);
    out[kOutput * hidden] = grad_h[at] * t * d_sigmoid(o);
    d_c_prev[at] = dc * f;
}
