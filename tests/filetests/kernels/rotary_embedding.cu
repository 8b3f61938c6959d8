// Rotary position embedding in place, on queries and keys; NeoX pairs halves, GPT-J pairs neighbours.

template <typename scalar_t, bool IS_NEOX>
inline __device__ void apply_token_rotary_embedding(scalar_t* __restrict__ arr, const scalar_t* __restrict__ cos_ptr,
                                                    const scalar_t* __restrict__ sin_ptr, int rot_offset, int embed_dim)
{
    int x_index, y_index;
    scalar_t cos, sin;
    if (IS_NEOX) {
        x_index = rot_offset;
        y_index = embed_dim + rot_offset;
        cos = *(cos_ptr + x_index);
        sin = *(sin_ptr + x_index);
    } else {
        x_index = 2 * rot_offset;
        y_index = 2 * rot_offset + 1;
        cos = *(cos_ptr + x_index / 2);
        sin = *(sin_ptr + x_index / 2);
    }

    const scalar_t x = arr[x_index];
    const scalar_t y = arr[y_index];
    arr[x_index] = x * cos - y * sin;
    arr[y_index] = y * cos + x * sin;
}

template <typename scalar_t, bool IS_NEOX>
__global__ void rotary_embedding_kernel(const long long* __restrict__ positions,      // [tokens]
                                        scalar_t* __restrict__ query,                 // [tokens, heads, head_size]
                                        scalar_t* __restrict__ key,                   // [tokens, kv_heads, head_size] or null
                                        const scalar_t* __restrict__ cos_sin_cache,   // [max_position, 2, rot_dim / 2]
                                        const int rot_dim, const int heads, const int kv_heads, const int head_size)
{
    const int token_idx = blockIdx.x;
    const scalar_t* cache_ptr = cos_sin_cache + positions[token_idx] * rot_dim;
    const int embed_dim = rot_dim / 2;
    const scalar_t* cos_ptr = cache_ptr;
    const scalar_t* sin_ptr = cache_ptr + embed_dim;

    auto rotate = [&](scalar_t* base, int count) {
        for (int i = threadIdx.x; i < count * embed_dim; i += blockDim.x) {
            const int head_idx = i / embed_dim;
            const long long token_head = (long long)token_idx * count * head_size + head_idx * head_size;
            apply_token_rotary_embedding<scalar_t, IS_NEOX>(base + token_head, cos_ptr, sin_ptr, i % embed_dim, embed_dim);
        }
    };
    rotate(query, heads);
    if (key != nullptr) rotate(key, kv_heads);
}
