"""Ising model by checkerboard Metropolis: a counter-based PCG hash, acceptance by integer thresholds in constant memory, cooperative-groups energy sums."""
CPP = r'''
#include <torch/extension.h>
void ising_sweeps(torch::Tensor spins, int64_t sweeps, double beta, int64_t seed, int64_t first_sweep);
std::map<std::string, int64_t> observables(const torch::Tensor& spins);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("ising_sweeps", &ising_sweeps, "in place", py::arg("spins"), py::arg("sweeps") = 1, py::arg("beta") = 0.44, py::arg("seed") = 0, py::arg("first_sweep") = 0);
  m.def("observables", &observables);
}
'''
CUDA = r'''
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cmath>
#include <map>
#include <string>

namespace cg = cooperative_groups;

// exp(-beta * dE) * 2^32 for dE = 4 and 8; anything lower is accepted
__constant__ uint32_t thresholds[2];

struct Rng {
  uint32_t state;
  __device__ explicit Rng(uint32_t seed) : state(seed * 747796405u + 2891336453u) {}
  __device__ uint32_t operator()() {
    const uint32_t word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    state = state * 747796405u + 2891336453u;
    return (word >> 22u) ^ word;
  }
};

enum class Colour : int { Black = 0, White = 1 };

__global__ void half_sweep(int8_t* spin, int h, int w, Colour colour, uint32_t sweep, uint32_t seed) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + static_cast<int>(colour)) & 1);
  if (x >= w || y >= h) return;
  const int up = y ? y - 1 : h - 1, down = y + 1 < h ? y + 1 : 0, left = x ? x - 1 : w - 1, right = x + 1 < w ? x + 1 : 0;
  int8_t& s = spin[y * w + x];
  const int around = spin[up * w + x] + spin[down * w + x] + spin[y * w + left] + spin[y * w + right];
  const int change = 2 * s * around;
  Rng rng(seed ^ (sweep * static_cast<uint32_t>(h * w) + y * w + x));
  rng();
  if (change <= 0 || rng() < thresholds[change / 4 - 1]) s = -s;
}

__global__ void sums(const int8_t* spin, int h, int w, int* energy, int* magnetisation) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int e = 0, m = 0;
  for (int i = blockIdx.x * block.size() + block.thread_rank(); i < h * w; i += gridDim.x * block.size()) {
    const int x = i % w, y = i / w;
    m += spin[i];
    e -= spin[i] * (spin[y * w + (x + 1) % w] + spin[(y + 1) % h * w + x]);
  }
  e = cg::reduce(tile, e, cg::plus<int>());
  m = cg::reduce(tile, m, cg::plus<int>());
  if (tile.thread_rank() == 0) {
    atomicAdd(energy, e);
    atomicAdd(magnetisation, m);
  }
}

void ising_sweeps(torch::Tensor spins, int64_t sweeps, double beta, int64_t seed, int64_t first_sweep) {
  TORCH_CHECK(spins.dtype() == torch::kInt8 && spins.dim() == 2, "spins must be an int8 matrix");
  const int h = spins.size(0), w = spins.size(1);
  TORCH_CHECK(h % 2 == 0 && w % 2 == 0, "a torus of ", h, " x ", w, " is not a checkerboard");
  uint32_t host[2];
  for (int i = 0; i < 2; ++i) host[i] = static_cast<uint32_t>(std::min(std::exp(-beta * 4 * (i + 1)) * 4294967296.0, 4294967295.0));
  cudaMemcpyToSymbol(thresholds, host, sizeof(host));
  dim3 block(16, 8), grid((w / 2 + 15) / 16, (h + 7) / 8);
  for (uint32_t s = first_sweep; s < first_sweep + sweeps; ++s)
    for (auto colour : {Colour::Black, Colour::White})
      half_sweep<<<grid, block>>>(spins.data_ptr<int8_t>(), h, w, colour, s, static_cast<uint32_t>(seed));
}

std::map<std::string, int64_t> observables(const torch::Tensor& spins) {
  auto out = torch::zeros({2}, spins.options().dtype(torch::kInt32));
  sums<<<2, 64>>>(spins.data_ptr<int8_t>(), spins.size(0), spins.size(1), out.data_ptr<int>(), out.data_ptr<int>() + 1);
  auto host = out.cpu();
  return {{"energy", host[0].item<int>()}, {"magnetisation", host[1].item<int>()}};
}
'''
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for h, w, beta, seed in ((38, 20, 0.44, 0), (2, 4, 0.1, 77), (16, 70, 1.5, 123456789)):
        s = (2 * t.rng.integers(0, 2, (h, w)) - 1).astype(np.int8)
        spins, want = t(s), s.astype(np.int64)
        m.ising_sweeps(spins, 2, beta, seed)
        m.ising_sweeps(spins, sweeps=3, beta=beta, seed=seed, first_sweep=2)
        limit = np.array([2**33, 2**33, 2**33, *(int(np.exp(-beta * 4 * i) * 2**32) for i in (1, 2))])
        y, x = np.mgrid[:h, :w]
        for sweep in range(5):
            state = (np.uint64(seed) ^ (sweep * h * w + y * w + x).astype(np.uint64)) & np.uint64(0xFFFFFFFF)
            step = lambda v: (v * np.uint64(747796405) + np.uint64(2891336453)) & np.uint64(0xFFFFFFFF)
            state = step(step(state))  # the first draw is thrown away
            word = (((state >> ((state >> np.uint64(28)) + np.uint64(4))) ^ state) * np.uint64(277803737)) & np.uint64(0xFFFFFFFF)
            draw = ((word >> np.uint64(22)) ^ word).astype(np.int64)
            for colour in (0, 1):
                around = sum(np.roll(want, d, a) for d in (-1, 1) for a in (0, 1))
                change = 2 * want * around
                flip = ((x + y + colour) % 2 == 0) & (draw < limit[change // 4 + 2])
                want = np.where(flip, -want, want)
        t.close(spins, want)
        seen = m.observables(spins)
        assert seen == {"energy": -int((want * (np.roll(want, -1, 0) + np.roll(want, -1, 1))).sum()), "magnetisation": int(want.sum())}
    with t.raises(RuntimeError, "a torus of 3 x 4 is not a checkerboard"):
        m.ising_sweeps(t(np.ones((3, 4), np.int8)))
