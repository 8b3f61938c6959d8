"""Negative: data_ptr<T> and accessor<T> of the wrong dtype, in-place results that cannot be cast, dispatch on what is not covered."""
CPP = r'''
torch::Tensor first_as_float(torch::Tensor x) { return torch::tensor(x.data_ptr<float>()[0]); }
int64_t first_as_int64(torch::Tensor x) { return *x.data_ptr<int64_t>(); }
double sum_accessor(torch::Tensor x) {
  auto a = x.accessor<double, 2>();
  double s = 0;
  for (int64_t i = 0; i < a.size(0); ++i)
    for (int64_t j = 0; j < a.size(1); ++j) s += a[i][j];
  return s;
}
torch::Tensor half_in_place(torch::Tensor x) { return x.mul_(0.5); }
torch::Tensor matmul_plain(torch::Tensor a, torch::Tensor b) { return a.matmul(b); }
torch::Tensor doubled(torch::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "doubled", [&] {
    for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<scalar_t>()[i] = 2 * x.data_ptr<scalar_t>()[i];
  });
  return y;
}
torch::Tensor mean_plain(torch::Tensor x) { return x.mean(); }
'''
CUDA = ""
FUNCTIONS = ["first_as_float", "first_as_int64", "sum_accessor", "half_in_place", "matmul_plain", "doubled", "mean_plain"]


def check(m, t):
    import numpy as np

    f, d, i = np.ones(3, np.float32), np.ones(3), np.ones(3, np.int32)
    t.close(m.first_as_float(t(f)), np.array(1, np.float32))
    with t.raises(RuntimeError, "expected scalar type Float but found Double"):
        m.first_as_float(t(d))
    with t.raises(RuntimeError, "expected scalar type Float but found Half"):
        m.first_as_float(t(f.astype(np.float16)))
    with t.raises(RuntimeError, "expected scalar type Long but found Int"):
        m.first_as_int64(t(i))
    assert m.first_as_int64(t(np.array([7, 8]))) == 7
    assert m.sum_accessor(t(np.ones((3, 4)))) == 12.0
    with t.raises(RuntimeError, "expected scalar type Double but found Float"):
        m.sum_accessor(t(np.ones((3, 4), np.float32)))
    with t.raises(RuntimeError, "TensorAccessor expected 2 dims but tensor has 3"):
        m.sum_accessor(t(np.ones((3, 4, 1))))
    with t.raises(RuntimeError, "result type Float can't be cast to the desired output type Int"):
        m.half_in_place(t(i))
    with t.raises(RuntimeError):  # the dtypes of a matrix product must agree; the wording varies between versions
        m.matmul_plain(t(np.ones((2, 3), np.float32)), t(np.ones((3, 2))))
    t.close(m.doubled(t(d)), 2 * d)
    with t.raises(RuntimeError, "\"doubled\" not implemented for 'Int'"):
        m.doubled(t(i))
    with t.raises(RuntimeError, "Long"):  # mean(): could not infer output dtype ... Got: Long
        m.mean_plain(t(np.ones(3, np.int64)))
