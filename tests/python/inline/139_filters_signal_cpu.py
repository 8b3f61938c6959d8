"""Signal processing on the CPU by loops and at:: ops: direct FIR with three modes, biquad cascades with state in and out, resampling, overlap-add, Goertzel."""
CPP = r'''
#include <torch/extension.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace dsp {

enum class Mode { Full, Same, Valid };

Mode parse(const std::string& name) {
  if (name == "full") return Mode::Full;
  if (name == "same") return Mode::Same;
  TORCH_CHECK_VALUE(name == "valid", "mode must be full, same or valid, not \"", name, '"');
  return Mode::Valid;
}

at::Tensor fir(const at::Tensor& x, const at::Tensor& taps, const std::string& mode) {
  TORCH_CHECK(x.dim() == 1 && taps.dim() == 1 && x.numel() >= taps.numel() && taps.numel() > 0, "fir: signal of ", x.numel(), ", ", taps.numel(), " taps");
  const int64_t n = x.numel(), k = taps.numel();
  at::Tensor full = at::zeros({n + k - 1}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "fir", [&]() {
    const auto a = x.accessor<scalar_t, 1>(), b = taps.accessor<scalar_t, 1>();
    auto y = full.accessor<scalar_t, 1>();
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < k; ++j) y[i + j] += a[i] * b[j];
  });
  switch (parse(mode)) {
    case Mode::Full: return full;
    case Mode::Same: return full.slice(0, (k - 1) / 2, (k - 1) / 2 + n).clone();
    case Mode::Valid: break;
  }
  return full.narrow(0, k - 1, n - k + 1).contiguous();
}

struct Biquad {
  double b0, b1, b2, a1, a2;
  double z1 = 0, z2 = 0;

  double operator()(double x) {  // transposed direct form II
    const double y = b0 * x + z1;
    z1 = b1 * x - a1 * y + z2;
    z2 = b2 * x - a2 * y;
    return y;
  }
};

// sections: (S, 6) of b0 b1 b2 a0 a1 a2; state: (S, 2)
std::tuple<at::Tensor, at::Tensor> sosfilt(const at::Tensor& sections, const at::Tensor& x, const std::optional<at::Tensor>& state) {
  TORCH_CHECK(sections.size(1) == 6, "sections are rows of 6");
  std::vector<Biquad> cascade;
  const auto s = sections.accessor<double, 2>();
  for (int64_t i = 0; i < s.size(0); ++i) {
    const double a0 = s[i][3];
    TORCH_CHECK(a0 != 0.0, "section ", i, " has a0 = 0");
    Biquad q{s[i][0] / a0, s[i][1] / a0, s[i][2] / a0, s[i][4] / a0, s[i][5] / a0};
    if (state) {
      q.z1 = state->index({i, 0}).item<double>();
      q.z2 = state->index({i, 1}).item<double>();
    }
    cascade.push_back(q);
  }
  const auto in = x.to(at::kDouble).contiguous();
  auto out = at::empty_like(in);
  std::transform(in.data_ptr<double>(), in.data_ptr<double>() + in.numel(), out.data_ptr<double>(), [&cascade](double v) {
    return std::accumulate(cascade.begin(), cascade.end(), v, [](double sample, Biquad& q) { return q(sample); });
  });
  auto last = at::empty({(int64_t)cascade.size(), 2}, at::kDouble);
  for (size_t i = 0; i < cascade.size(); ++i) {
    last[i][0] = cascade[i].z1;
    last[i][1] = cascade[i].z2;
  }
  return {out, last};
}

at::Tensor resample_linear(const at::Tensor& x, int64_t length) {
  const auto n = x.size(-1);
  const auto where = length > 1 ? at::linspace(0, n - 1, length, x.options()) : at::zeros({length}, x.options());
  const auto low = where.floor().clamp(0, std::max<int64_t>(n - 2, 0)).to(at::kLong);
  const auto share = where - low;
  return x.index_select(-1, low) * (1 - share) + x.index_select(-1, (low + 1).clamp_max(n - 1)) * share;
}

at::Tensor frame(const at::Tensor& x, int64_t size, int64_t hop, bool window) {
  auto frames = x.unfold(-1, size, hop);
  if (!window) return frames.contiguous();
  const auto phase = at::arange(size, x.options()) * (2 * M_PI / size);
  return frames * (0.5 - 0.5 * phase.cos());
}

at::Tensor overlap_add(const at::Tensor& frames, int64_t hop) {
  const auto count = frames.size(0), size = frames.size(1);
  auto out = at::zeros({(count - 1) * hop + size}, frames.options());
  for (int64_t i = 0; i < count; ++i) out.narrow(0, i * hop, size).add_(frames[i]);
  return out;
}

template <size_t N>
static std::array<double, N> powers(const at::Tensor& x, const std::array<double, N>& cycles) {
  std::array<double, N> out{};
  for (size_t f = 0; f < N; ++f) {
    const double w = 2 * M_PI * cycles[f], c = 2 * std::cos(w);
    double s1 = 0, s2 = 0;
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double s = x.data_ptr<double>()[i] + c * s1 - s2;
      s2 = std::exchange(s1, s);
    }
    out[f] = s1 * s1 + s2 * s2 - c * s1 * s2;
  }
  return out;
}

std::array<double, 3> goertzel(const at::Tensor& x, std::array<double, 3> cycles) { return powers<3>(x.contiguous(), cycles); }

}  // namespace dsp

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fir", torch::wrap_pybind_function(dsp::fir), py::arg("x"), py::arg("taps"), py::arg("mode") = "same");
  m.def("sosfilt", &dsp::sosfilt, py::arg("sections"), py::arg("x"), py::arg("state") = py::none());
  m.def("resample_linear", &dsp::resample_linear);
  m.def("frame", &dsp::frame, py::arg("x"), py::arg("size"), py::arg("hop"), py::arg("window") = true);
  m.def("overlap_add", &dsp::overlap_add);
  m.def("goertzel", &dsp::goertzel);
}
'''
CUDA = ""
FUNCTIONS = None


def check(m, t):
    import numpy as np

    for n, k in ((101, 7), (20, 4), (5, 5), (1, 1)):
        for dtype, tol in ((np.float64, 1e-12), (np.float32, 1e-5)):
            x, h = t.rng.standard_normal(n).astype(dtype), t.rng.standard_normal(k).astype(dtype)
            for mode in ("full", "same", "valid"):
                t.close(m.fir(t(x), t(h), mode=mode), np.convolve(x.astype(np.float64), h.astype(np.float64), mode), rtol=10 * tol, atol=tol)
    t.close(m.fir(t(x.repeat(9)), t(h)), np.convolve(x.repeat(9), h, "same"), rtol=1e-5)
    sos = t.rng.uniform(-0.6, 0.6, (3, 6))
    sos[:, 3] = 1.0, 2.0, 1.0
    x = t.rng.standard_normal(75)
    y = x
    for b0, b1, b2, a0, a1, a2 in sos:
        out = np.zeros(77)  # two samples of silence before
        past = np.concatenate([[0, 0], y])
        for i in range(2, 77):
            out[i] = (b0 * past[i] + b1 * past[i - 1] + b2 * past[i - 2] - a1 * out[i - 1] - a2 * out[i - 2]) / a0
        y = out[2:]
    whole, _ = m.sosfilt(t(sos), t(x))
    size = abs(y).max()
    t.close(whole, y, rtol=1e-9, atol=1e-9 * size)
    first, state = m.sosfilt(t(sos), t(x[:40].copy()))
    second, _ = m.sosfilt(t(sos), t(x[40:].copy()), state)
    t.close(np.concatenate([t.np(first), t.np(second)]), t.np(whole), rtol=1e-12, atol=1e-12 * size)
    z = t.rng.standard_normal((3, 37))
    for length in (37, 91, 5, 1):
        grid = np.linspace(0, 36, length) if length > 1 else np.zeros(1)
        t.close(m.resample_linear(t(z), length), np.stack([np.interp(grid, np.arange(37), row) for row in z]), rtol=1e-9, atol=1e-9)
    frames = np.lib.stride_tricks.sliding_window_view(x, 16)[::8]
    t.close(m.frame(t(x), 16, 8, False), frames, rtol=0, atol=0)
    hann = np.hanning(17)[:16]
    windowed = m.frame(t(x), 16, hop=8)
    t.close(windowed, frames * hann, rtol=1e-12, atol=1e-12)
    back = t.np(m.overlap_add(windowed, 8))
    np.testing.assert_allclose(back[8:-8], x[8 : len(back) - 8], rtol=1e-12, atol=1e-12)  # the windows add up to one
    got = m.goertzel(t(x), [0.0, 0.1, 0.25])
    np.testing.assert_allclose(got, [abs((x * np.exp(-2j * np.pi * f * np.arange(75))).sum()) ** 2 for f in (0, 0.1, 0.25)], rtol=1e-8, atol=1e-8)
    with t.raises(ValueError, 'mode must be full, same or valid, not "half"'):
        m.fir(t(x), t(x), "half")
    with t.raises(RuntimeError, "fir: signal of 3, 75 taps"):
        m.fir(t(x[:3].copy()), t(x))
    with t.raises(RuntimeError, "section 1 has a0 = 0"):
        m.sosfilt(t(np.stack([sos[0], 0 * sos[1]])), t(x))
