"""Persistent blocks that take rows from an atomic counter: CSR SpMM with skewed rows, PageRank steps, level-synchronous BFS with a frontier queue."""
CPP = r'''
torch::Tensor spmm(const torch::Tensor& crow, const torch::Tensor& col, const std::optional<torch::Tensor>& values, const torch::Tensor& dense);
torch::Tensor pagerank(const torch::Tensor& crow, const torch::Tensor& col, int64_t steps, double damping);
torch::Tensor bfs(const torch::Tensor& crow, const torch::Tensor& col, int64_t source);
'''
CUDA = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <optional>
#include <utility>

struct Csr {
  const int64_t* __restrict__ crow;
  const int64_t* __restrict__ col;
  int rows;

  struct Range {
    const int64_t *first, *last;
    __device__ const int64_t* begin() const { return first; }
    __device__ const int64_t* end() const { return last; }
  };
  __device__ Range neighbours(int64_t r) const { return {col + crow[r], col + crow[r + 1]}; }
};

static Csr view(const torch::Tensor& crow, const torch::Tensor& col) {
  TORCH_CHECK(crow.scalar_type() == at::kLong && col.scalar_type() == at::kLong, "CSR indices must be int64");
  TORCH_CHECK(crow.dim() == 1 && crow.numel() >= 1, "crow must be a vector of rows + 1 entries");
  return Csr{crow.data_ptr<int64_t>(), col.data_ptr<int64_t>(), static_cast<int>(crow.numel() - 1)};
}

template <bool Weighted, typename T>
__global__ void spmm_kernel(Csr a, const T* values, const T* __restrict__ dense, T* __restrict__ out, int width, int* queue) {
  __shared__ int row;
  while (true) {
    if (threadIdx.x == 0) row = atomicAdd(queue, 1);
    __syncthreads();
    const int r = row;
    __syncthreads();  // all have read it before it is taken again
    if (r >= a.rows) break;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
      T acc = 0;
      for (auto e = a.crow[r]; e < a.crow[r + 1]; ++e) {
        const T v = Weighted ? values[e] : T(1);
        acc += v * dense[a.col[e] * width + c];
      }
      out[(int64_t)r * width + c] = acc;
    }
  }
}

torch::Tensor spmm(const torch::Tensor& crow, const torch::Tensor& col, const std::optional<torch::Tensor>& values, const torch::Tensor& dense) {
  const Csr a = view(crow, col);
  const int width = dense.size(1);
  auto out = at::empty({a.rows, width}, dense.options());
  auto queue = at::zeros({1}, crow.options().dtype(at::kInt));
  const int blocks = std::min(a.rows, 4);
  if (blocks == 0) return out;
  AT_DISPATCH_FLOATING_TYPES(dense.scalar_type(), "spmm", [&] {
    if (values)
      spmm_kernel<true, scalar_t><<<blocks, 32>>>(a, values->data_ptr<scalar_t>(), dense.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), width, queue.data_ptr<int>());
    else
      spmm_kernel<false, scalar_t><<<blocks, 32>>>(a, nullptr, dense.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), width, queue.data_ptr<int>());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

__global__ void pagerank_kernel(Csr incoming, const int* out_degree, const double* rank, double* next, double base, double damping) {
  for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < incoming.rows; v += gridDim.x * blockDim.x) {
    double sum = 0;
    for (int64_t u : incoming.neighbours(v)) sum += rank[u] / out_degree[u];
    next[v] = base + damping * sum;
  }
}

torch::Tensor pagerank(const torch::Tensor& crow, const torch::Tensor& col, int64_t steps, double damping) {
  const Csr a = view(crow, col);
  const auto degree = at::bincount(col, {}, a.rows).to(at::kInt);
  const auto dangling = degree.eq(0);
  auto rank = at::full({a.rows}, 1.0 / a.rows, crow.options().dtype(at::kDouble)), next = at::empty_like(rank);
  for (; steps > 0; --steps) {
    const double lost = rank.masked_select(dangling).sum().item<double>();
    pagerank_kernel<<<2, 64>>>(a, degree.data_ptr<int>(), rank.data_ptr<double>(), next.data_ptr<double>(), (1 - damping + damping * lost) / a.rows, damping);
    std::swap(rank, next);
  }
  return rank;
}

__global__ void bfs_kernel(Csr a, const int* frontier, int count, int* next, int* next_count, int* depth, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  for (auto u : a.neighbours(frontier[i]))
    if (atomicCAS(depth + u, -1, level) == -1) next[atomicAdd(next_count, 1)] = static_cast<int>(u);
}

torch::Tensor bfs(const torch::Tensor& crow, const torch::Tensor& col, int64_t source) {
  const Csr a = view(crow, col);
  TORCH_CHECK_INDEX(source >= 0 && source < a.rows, "source ", source, " is not a vertex");
  const auto options = crow.options().dtype(at::kInt);
  auto depth = at::full({a.rows}, -1, options), queues = at::zeros({2, a.rows}, options), counter = at::zeros({1}, options);
  depth[source] = 0;
  queues[0][0] = source;
  for (int count = 1, level = 1; count > 0; ++level) {
    counter.zero_();
    const auto now = queues[(level - 1) % 2], then = queues[level % 2];
    bfs_kernel<<<(count + 31) / 32, 32>>>(a, now.data_ptr<int>(), count, then.data_ptr<int>(), counter.data_ptr<int>(), depth.data_ptr<int>(), level);
    count = counter.item<int>();
  }
  return depth;
}
'''
FUNCTIONS = ["spmm", "pagerank", "bfs"]


def check(m, t):
    import numpy as np

    for n in (37, 1, 101):
        dense_graph = t.rng.random((n, n)) < 2.0 / n
        dense_graph[0] = True  # a row much longer than the others
        dense_graph[:, n // 3] = False  # nothing goes out of this one
        crow, col = np.concatenate([[0], dense_graph.sum(1).cumsum()]), np.nonzero(dense_graph)[1].copy()
        for dtype, tol in ((np.float32, 1e-4), (np.float64, 1e-12)):
            x = t.rng.standard_normal((n, 45)).astype(dtype)
            w = t.rng.standard_normal(len(col)).astype(dtype)
            weights = np.zeros((n, n))
            weights[dense_graph] = w
            t.close(m.spmm(t(crow), t(col), t(w), t(x)), weights @ x, rtol=tol, atol=tol)
            t.close(m.spmm(t(crow), t(col), None, t(x)), dense_graph.astype(np.float64) @ x, rtol=tol, atol=tol)
        degree = dense_graph.sum(0)
        step = np.where(degree > 0, dense_graph / np.maximum(degree, 1), 1 / n)
        rank = np.full(n, 1 / n)
        for _ in range(9):
            rank = 0.15 / n + 0.85 * step @ rank
        t.close(m.pagerank(t(crow), t(col), 9, 0.85), rank, rtol=1e-10)
        for source in (0, n - 1):
            depth = np.full(n, -1)
            depth[source], level = 0, 0
            while (depth == level).any():
                reached = dense_graph[depth == level].any(0)
                level += 1
                depth[reached & (depth < 0)] = level
            t.close(m.bfs(t(crow), t(col), source), depth)
    with t.raises(IndexError, "source 500 is not a vertex"):
        m.bfs(t(crow), t(col), 500)
    with t.raises(RuntimeError, "CSR indices must be int64"):
        m.bfs(t(crow.astype(np.int32)), t(col), 0)
