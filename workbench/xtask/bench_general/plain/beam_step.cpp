// flags: -O3 -march=native -fopenmp -std=c++17 -fPIC -shared
#include <cmath>

extern "C" void beam_step(const float* log_probs, const float* scores, const int* finished, int* next_token, int* next_beam,
                          float* next_score, int sentences, int vocab, int end_token) {
    constexpr int BEAMS = 4;
#pragma omp parallel for
    for (int s = 0; s < sentences; ++s) {
        float best[BEAMS];
        int where[BEAMS];
        for (int k = 0; k < BEAMS; ++k) best[k] = -INFINITY, where[k] = -1;
        for (int beam = 0; beam < BEAMS; ++beam) {
            float before = scores[s * BEAMS + beam];
            const float* row = log_probs + (long)(s * BEAMS + beam) * vocab;
            bool ended = finished[s * BEAMS + beam];
            int begin = ended ? end_token : 0, end = ended ? end_token + 1 : vocab;
            for (int i = begin; i < end; ++i) {
                float score = ended ? before : before + row[i];
                if (!(score > best[BEAMS - 1])) continue;
                int k = BEAMS - 1;
                for (; k > 0 && score > best[k - 1]; --k) best[k] = best[k - 1], where[k] = where[k - 1];
                best[k] = score, where[k] = beam * vocab + i;
            }
        }
        for (int k = 0; k < BEAMS; ++k) {
            next_token[s * BEAMS + k] = where[k] % vocab;
            next_beam[s * BEAMS + k] = where[k] / vocab;
            next_score[s * BEAMS + k] = best[k];
        }
    }
}
