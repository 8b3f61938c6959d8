// Rotary position embedding in place, on queries and keys; pairs are halves of the head, or neighbours.

template <typename T>
struct Angle {
    T cos, sin;

    __device__ __forceinline__ void turn(T& a, T& b) const
    {
        const T x = a, y = b;
        a = x * cos - y * sin;
        b = x * sin + y * cos;
    }
};

// Rotates all heads of one token; `table` holds the cosines of its position, then the sines.
template <typename T, bool kHalves>
__device__ inline void rotate_heads(T* __restrict__ heads, int count, int head_size, const T* __restrict__ table, int pairs)
{
    for (int i = threadIdx.x; i < count * pairs; i += blockDim.x) {
        const int pair = i % pairs;
        T* head = heads + i / pairs * head_size;
        T* first = kHalves ? head + pair : head + 2 * pair;
        T* second = kHalves ? first + pairs : first + 1;
        Angle<T>{table[pair], table[pairs + pair]}.turn(*first, *second);
    }
}

template <typename scalar_t, bool kHalves>
__global__ void rotary_embedding(const long long* __restrict__ positions,   // [tokens]
                                 scalar_t* __restrict__ query,              // [tokens, heads, head_size]
                                 scalar_t* __restrict__ key,                // [tokens, kv_heads, head_size], or null
                                 const scalar_t* __restrict__ tables,       // [positions, 2, rot_dim / 2]
                                 const int rot_dim, const int heads, const int kv_heads, const int head_size)
{
    const auto token = blockIdx.x;
    const scalar_t* table = tables + positions[token] * rot_dim;
    auto rotate = [&](scalar_t* tensor, int count) {
        if (tensor == nullptr) return;
        rotate_heads<scalar_t, kHalves>(tensor + token * count * head_size, count, head_size, table, rot_dim / 2);
    };
    rotate(query, heads);
    rotate(key, kv_heads);
}
