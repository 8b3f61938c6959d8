"""Emulated fp8 (e4m3fn and e5m2) by bit tricks on floats: round to nearest even, saturate, decode; formats as a policy template."""
CPP = r'''
at::Tensor encode_fp8(const at::Tensor& x, const std::string& format);
at::Tensor decode_fp8(const at::Tensor& codes, const std::string& format);
'''
CUDA = r'''
#include <torch/extension.h>
#include <cstdint>

struct E4M3 { enum { kExp = 4, kMan = 3, kBias = 7 }; static constexpr uint8_t kMaxCode = 0x7E, kNaN = 0x7F; };
struct E5M2 { enum { kExp = 5, kMan = 2, kBias = 15 }; static constexpr uint8_t kMaxCode = 0x7B, kNaN = 0x7F; };

template <class F>
__device__ uint8_t to_fp8(float x) {
  const uint32_t bits = __float_as_uint(x);
  const uint8_t sign = (bits >> 24) & 0x80;
  const uint32_t mag = bits & 0x7fffffffu;
  if (mag > 0x7f800000u) return sign | F::kNaN;
  const int exponent = static_cast<int>(mag >> 23) - 127;
  uint32_t code;
  if (exponent < 1 - F::kBias) {
    // a subnormal: scale so that one unit is the smallest step, then round to even in the integer conversion
    code = __float2uint_rn(ldexpf(__uint_as_float(mag), F::kBias - 1 + F::kMan));
  } else {
    const int drop = 23 - F::kMan;
    uint32_t r = mag + ((1u << (drop - 1)) - 1) + ((mag >> drop) & 1);   // carries into the exponent
    r >>= drop;
    const int64_t shifted = (int64_t)r - ((int64_t)(127 - F::kBias) << F::kMan);
    code = shifted > F::kMaxCode ? F::kMaxCode : (uint32_t)shifted;
  }
  return sign | (uint8_t)code;
}

template <class F>
__device__ float from_fp8(uint8_t c) {
  const float sign = c & 0x80 ? -1.f : 1.f;
  const int body = c & 0x7f;
  if (body > F::kMaxCode) return body == 0x7C && F::kMan == 2 ? sign * INFINITY : NAN;
  const int e = body >> F::kMan, m = body & ((1 << F::kMan) - 1);
  return e == 0 ? sign * ldexpf((float)m, 1 - F::kBias - F::kMan) : sign * ldexpf((float)((1 << F::kMan) | m), e - F::kBias - F::kMan);
}

template <class F> __global__ void encode_k(const float* x, uint8_t* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = to_fp8<F>(x[i]); }
template <class F> __global__ void decode_k(const uint8_t* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = from_fp8<F>(x[i]); }

#define DISPATCH_FORMAT(NAME, ...)                                  \
  [&] {                                                             \
    if (NAME == "e4m3") { using format_t = E4M3; return __VA_ARGS__(); } \
    if (NAME == "e5m2") { using format_t = E5M2; return __VA_ARGS__(); } \
    TORCH_CHECK(false, "unknown fp8 format '", NAME, "'");          \
  }()

at::Tensor encode_fp8(const at::Tensor& x_, const std::string& format) {
  auto x = x_.to(at::kFloat).contiguous();
  auto y = at::empty(x.sizes(), x.options().dtype(at::kByte));
  const int n = x.numel();
  DISPATCH_FORMAT(format, [&] { if (n) encode_k<format_t><<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<uint8_t>(), n); });
  return y;
}

at::Tensor decode_fp8(const at::Tensor& codes, const std::string& format) {
  TORCH_CHECK_TYPE(codes.scalar_type() == at::kByte, "codes must be uint8");
  auto y = at::empty(codes.sizes(), codes.options().dtype(at::kFloat));
  const int n = codes.numel();
  DISPATCH_FORMAT(format, [&] { if (n) decode_k<format_t><<<(n + 127) / 128, 128>>>(codes.contiguous().data_ptr<uint8_t>(), y.data_ptr<float>(), n); });
  return y;
}
'''
FUNCTIONS = ["encode_fp8", "decode_fp8"]


def check(m, t):
    import numpy as np

    for name, man, bias, top in (("e4m3", 3, 7, 126), ("e5m2", 2, 15, 123)):
        c = np.arange(128)
        e, f = c >> man, c & (2**man - 1)
        values = np.where(e == 0, f * 2.0 ** (1 - bias - man), (2**man + f) * 2.0 ** (e - bias - man))
        values[top + 1 :] = np.nan
        if name == "e5m2":
            values[124] = np.inf
        both = np.concatenate([values, -values])
        t.close(m.decode_fp8(t(np.arange(256, dtype=np.uint8)), name), both.astype(np.float32), rtol=0, atol=0)

        finite = values[: top + 1]
        middle = (finite[1:] + finite[:-1]) / 2  # ties, that go to the even code
        x = np.concatenate([finite, middle, t.rng.standard_normal(700) * 4.0 ** t.rng.integers(-9, 9, 700), [1e9, np.inf, 0.0]])
        x = np.concatenate([x, -x]).astype(np.float32)
        mag = abs(x.astype(np.float64))
        d = abs(mag[:, None] - finite)
        d[np.isinf(mag)] = np.arange(top, -1, -1)  # infinity saturates too
        near = d == d.min(1, keepdims=True)
        code = np.where(near & (np.arange(top + 1) % 2 == 0), 2, near).argmax(1)
        want = code + 128 * np.signbit(x)
        got = t.np(m.encode_fp8(t(x), name))
        np.testing.assert_array_equal(got, want)
        assert t.np(m.encode_fp8(t(np.array([[np.nan]])), name))[0, 0] & 127 == 127
    assert t.np(m.encode_fp8(t(np.zeros((0, 2), np.float32)), "e5m2")).shape == (0, 2)
    with t.raises(RuntimeError, "unknown fp8 format 'e3m4'"):
        m.encode_fp8(t(x), "e3m4")
    with t.raises(TypeError, "codes must be uint8"):
        m.decode_fp8(t(x), "e4m3")
