// A step of beam search, a block a sentence: log-probabilities added to the scores of beams, the best BEAMS of all beams and words kept.
template <int BEAMS>
struct Top {
    float score[BEAMS];
    int token[BEAMS];

    __device__ void clear() {
        for (int i = 0; i < BEAMS; ++i) {
            score[i] = -INFINITY;
            token[i] = 0x7fffffff;
        }
    }

    __device__ __forceinline__ void insert(float s, int t) {
        if (s < score[BEAMS - 1] || (s == score[BEAMS - 1] && t > token[BEAMS - 1])) return;
        score[BEAMS - 1] = s;
        token[BEAMS - 1] = t;
#pragma unroll
        for (int i = BEAMS - 2; i >= 0; --i) {
            if (score[i + 1] > score[i] || (score[i + 1] == score[i] && token[i + 1] < token[i])) {
                float s1 = score[i];
                int t1 = token[i];
                score[i] = score[i + 1];
                token[i] = token[i + 1];
                score[i + 1] = s1;
                token[i + 1] = t1;
            }
        }
    }
};

template <int BEAMS, int THREADS>
__global__ void beam_step(const float* log_probs, const float* scores, const int* finished, int* next_token, int* next_beam,
                          float* next_score, int vocab, int end_token) {
    __shared__ Top<BEAMS> shared[THREADS];
    const int sentence = blockIdx.x;
    Top<BEAMS> top;
    top.clear();
    for (int beam = 0; beam < BEAMS; ++beam) {
        const float before = scores[sentence * BEAMS + beam];
        const float* row = log_probs + (size_t)(sentence * BEAMS + beam) * vocab;
        if (finished[sentence * BEAMS + beam]) {
            if (threadIdx.x == 0) top.insert(before, beam * vocab + end_token);
            continue;
        }
        for (int i = threadIdx.x; i < vocab; i += THREADS) top.insert(before + row[i], beam * vocab + i);
    }
    shared[threadIdx.x] = top;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            for (int i = 0; i < BEAMS; ++i) top.insert(shared[threadIdx.x + s].score[i], shared[threadIdx.x + s].token[i]);
            shared[threadIdx.x] = top;
        }
        __syncthreads();
    }
    if (threadIdx.x < BEAMS) {
        const int at = sentence * BEAMS + threadIdx.x;
        const int token = shared[0].token[threadIdx.x];
        next_token[at] = token % vocab;
        next_beam[at] = token / vocab;
        next_score[at] = shared[0].score[threadIdx.x];
    }
}

template __global__ void beam_step<4, 128>(const float*, const float*, const int*, int*, int*, float*, int, int);
