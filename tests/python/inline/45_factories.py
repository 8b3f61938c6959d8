"""Every kind of factory: zeros, ones, full, arange, linspace, eye, empty.fill_, *_like, with options spelled in different ways."""
CPP = r'''
#include <map>
#include <string>
torch::Tensor make(std::string kind, int64_t n) {
  auto f64 = torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCPU).requires_grad(false);
  if (kind == "zeros") return torch::zeros({n, 2});
  if (kind == "ones") return torch::ones({2, n}, torch::kInt64);
  if (kind == "full") return torch::full({n}, 2.5, f64);
  if (kind == "full_int") return torch::full({n, n}, 7, torch::dtype(torch::kInt32));
  if (kind == "full_like") return torch::full_like(torch::zeros({n}), 3);
  if (kind == "arange") return torch::arange(n);
  if (kind == "arange_float") return torch::arange(0.5, static_cast<double>(n), 0.75, f64);
  if (kind == "linspace") return torch::linspace(-1, 1, n, f64);
  if (kind == "eye") return torch::eye(n, torch::kFloat32);
  if (kind == "empty") return torch::empty({n}, torch::dtype(torch::kUInt8)).fill_(9);
  if (kind == "scalar") return torch::scalar_tensor(1.25, torch::kFloat64);
  if (kind == "bool") return torch::zeros({n}, at::kBool).logical_not_();
  if (kind == "triangle") return torch::tril(torch::ones({n, n})) + torch::triu(torch::ones({n, n}), 1) * 2;
  if (kind == "grid") {
    auto g = torch::meshgrid({torch::arange(n), torch::arange(3)}, "ij");
    return torch::stack({g[0], g[1]}, -1);
  }
  TORCH_CHECK(false, "unknown kind '", kind, "'");
}

std::map<std::string, torch::Tensor> positional_encoding(int64_t length, int64_t dim) {
  auto position = torch::arange(length, torch::kFloat32).unsqueeze(1);
  auto div = torch::exp(torch::arange(0, dim, 2).to(torch::kFloat32) * (-std::log(10000.0) / dim));
  auto pe = torch::zeros({length, dim});
  using namespace torch::indexing;
  pe.index_put_({Slice(), Slice(0, None, 2)}, torch::sin(position * div));
  pe.index_put_({Slice(), Slice(1, None, 2)}, torch::cos(position * div));
  return {{"pe", pe}, {"div", div}};
}
'''
CUDA = ""
FUNCTIONS = ["make", "positional_encoding"]


def check(m, t):
    import numpy as np

    n = 5
    i = np.arange(n)
    wants = {
        "zeros": np.zeros((n, 2), np.float32),
        "ones": np.ones((2, n), np.int64),
        "full": np.full(n, 2.5),
        "full_int": np.full((n, n), 7, np.int32),
        "full_like": np.full(n, 3, np.float32),
        "arange": np.arange(n),
        "arange_float": np.arange(0.5, n, 0.75),
        "linspace": np.linspace(-1, 1, n),
        "eye": np.eye(n, dtype=np.float32),
        "empty": np.full(n, 9, np.uint8),
        "scalar": np.array(1.25),
        "bool": np.ones(n, bool),
        "triangle": np.where(i[:, None] >= i, 1, 2).astype(np.float32),
        "grid": np.stack(np.meshgrid(i, np.arange(3), indexing="ij"), -1),
    }
    for kind, want in wants.items():
        got = t.np(m.make(kind, n))
        assert got.dtype == want.dtype, (kind, got.dtype)
        t.close(got, want, rtol=1e-12, atol=1e-15)
    with t.raises(RuntimeError, "unknown kind 'rand'"):
        m.make("rand", 3)
    got = m.positional_encoding(17, 6)
    assert sorted(got) == ["div", "pe"]
    div = np.exp(np.arange(0, 6, 2) * (-np.log(10000.0) / 6))
    pe = np.zeros((17, 6))
    pe[:, 0::2], pe[:, 1::2] = np.sin(np.arange(17)[:, None] * div), np.cos(np.arange(17)[:, None] * div)
    t.close(got["pe"], pe, atol=2e-6)  # an angle of 16 carries 16*eps
    t.close(got["div"], div)
