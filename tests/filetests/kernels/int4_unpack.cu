// Weights of four bits, eight in a word, with a scale and a packed zero point for each group of rows.
#include <cuda_fp16.h>
#include <cstdint>

constexpr int kPack = 8;

template <typename T> __device__ __forceinline__ T from_float(float v);
template <> __device__ __forceinline__ float from_float<float>(float v) { return v; }
template <> __device__ __forceinline__ __half from_float<__half>(float v) { return __float2half(v); }

__device__ __forceinline__ int nibble(uint32_t word, int i) { return (word >> (4 * i)) & 0xF; }

// qweight [rows, cols / 8], qzeros [rows / group, cols / 8], scales [rows / group, cols] -> out [rows, cols]
template <typename T>
__global__ void dequantize_int4(const uint32_t* __restrict__ qweight, const uint32_t* __restrict__ qzeros,
                                const float* __restrict__ scales, T* __restrict__ out, int rows, int cols, int group)
{
    const int words = cols / kPack;
    const int word = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (word >= words || row >= rows) return;

    const uint32_t packed = qweight[row * words + word];
    const uint32_t zeros = qzeros[row / group * words + word];
    const float* scale = scales + row / group * cols + word * kPack;
    T* dst = out + row * cols + word * kPack;
#pragma unroll
    for (int i = 0; i < kPack; ++i) dst[i] = from_float<T>((nibble(packed, i) - nibble(zeros, i)) * scale[i]);
}

// The other way round: eight bytes below 16 to a word.
__global__ void pack_int4(const uint8_t* __restrict__ values, uint32_t* __restrict__ packed, int words)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    const uint2 eight = reinterpret_cast<const uint2*>(values)[i];
    uint32_t word = 0;
#pragma unroll
    for (int b = 0; b < 4; ++b) {
        word |= ((eight.x >> (8 * b)) & 0xFu) << (4 * b);
        word |= ((eight.y >> (8 * b)) & 0xFu) << (4 * (b + 4));
    }
    packed[i] = word;
}
