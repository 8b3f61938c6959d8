"""Meta implementations (shapes without data, for torch.compile) beside the CPU ones: on arrays it is the CPU's that run."""
CPP = r'''
#include <torch/library.h>
#include <torch/all.h>
#include <vector>

namespace wb_meta {

at::Tensor outer_sum_cpu(const at::Tensor& x, const at::Tensor& y) {
  TORCH_CHECK(x.dim() == 1 && y.dim() == 1, "outer_sum takes two vectors");
  TORCH_CHECK(x.scalar_type() == y.scalar_type(), "outer_sum takes vectors of one dtype");
  auto out = at::empty({x.size(0), y.size(0)}, x.options());
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "outer_sum_cpu", [&] {
    auto a = x.accessor<scalar_t, 1>(), b = y.accessor<scalar_t, 1>();
    auto o = out.accessor<scalar_t, 2>();
    for (int64_t i = 0; i < a.size(0); ++i)
      for (int64_t j = 0; j < b.size(0); ++j) o[i][j] = a[i] + b[j];
  });
  return out;
}

at::Tensor outer_sum_meta(const at::Tensor& x, const at::Tensor& y) {
  TORCH_CHECK(x.is_meta() && y.is_meta(), "the meta implementation runs on data");
  return x.new_empty_symint({x.sym_size(0), y.sym_size(0)});
}

std::vector<at::Tensor> deal_cpu(const at::Tensor& x, int64_t hands) {
  TORCH_CHECK(hands > 0, "hands must be positive");
  std::vector<at::Tensor> out;
  for (int64_t h = 0; h < hands; ++h) out.push_back(x.slice(0, h, x.size(0), hands).clone());
  return out;
}

std::vector<at::Tensor> deal_meta(const at::Tensor& x, int64_t hands) {
  std::vector<at::Tensor> out;
  for (int64_t h = 0; h < hands; ++h) {
    auto sizes = x.sizes().vec();
    sizes[0] = (sizes[0] - h + hands - 1) / hands;
    out.push_back(at::empty(sizes, x.options().device(at::kMeta)));
  }
  return out;
}

void clear_cpu(at::Tensor& x) { x.zero_(); }
void clear_meta(at::Tensor& x) {}

TORCH_LIBRARY(wb_meta, m) {
  m.def("outer_sum(Tensor x, Tensor y) -> Tensor");
  m.def("deal(Tensor x, int hands=2) -> Tensor[]");
  m.def("clear(Tensor(a!) x) -> ()");
  m.def("outline(Tensor x) -> Tensor");
  m.impl("outline", c10::DispatchKey::Meta, [](const at::Tensor& x) { return at::empty_like(x); });
}

// the meta implementations come first in the text, which says nothing about which is chosen
TORCH_LIBRARY_IMPL(wb_meta, Meta, m) {
  m.impl("outer_sum", &outer_sum_meta);
  m.impl("deal", &deal_meta);
  m.impl("clear", &clear_meta);
}

TORCH_LIBRARY_IMPL(wb_meta, CPU, m) {
  m.impl("outer_sum", &outer_sum_cpu);
  m.impl("deal", &deal_cpu);
  m.impl("clear", &clear_cpu);
}

}  // namespace wb_meta
'''
CUDA = ""
FUNCTIONS = None
LIBRARY = True


def check(m, t):
    import numpy as np

    ops = t.ops.wb_meta
    for dtype in (np.float64, np.float32, np.int32):
        for n, k in ((7, 5), (1, 13), (0, 3), (3, 0)):
            x, y = (t.rng.standard_normal(n) * 9).astype(dtype), (t.rng.standard_normal(k) * 9).astype(dtype)
            t.close(ops.outer_sum(t(x), t(y)), np.add.outer(x, y))
    x = t.rng.standard_normal((11, 3))
    t.close(ops.outer_sum(t(x[:, 1]), t(x[::2, 0])), np.add.outer(x[:, 1], x[::2, 0]))  # strides
    for hands in (1, 2, 4, 13):
        parts = ops.deal(t(x), hands)
        assert len(parts) == hands
        for h, part in enumerate(parts):
            t.close(part, x[h::hands])
    assert len(ops.deal(t(x))) == 2
    X = t(x)
    assert ops.clear(X) is None
    t.close(X, np.zeros((11, 3)))
    with t.raises(RuntimeError, "outer_sum takes two vectors"):
        ops.outer_sum(t(x), t(x))
    with t.raises(RuntimeError, "hands must be positive"):
        ops.deal(t(x), 0)
    with t.raises(RuntimeError, "wb_meta::outline"):  # there is nothing here for arrays
        ops.outline(t(x))
