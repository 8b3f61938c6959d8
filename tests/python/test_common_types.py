"""Operations that are made of others, or add up: in which type they compute, and what they refuse. The values are torch's, worked out by hand or
by NumPy in the type that torch computes in."""

import numpy as np
import pytest

import workbench as wb

TEXT = """
#include <torch/extension.h>
using torch::Tensor;
Tensor dot(Tensor a, Tensor b) { return a.dot(b); }
Tensor product(Tensor a, Tensor b) { return a.matmul(b); }
Tensor sum_half(Tensor a) { return a.sum(torch::kHalf); }
Tensor sum_int(Tensor a) { return a.sum(torch::kInt); }
Tensor cumsum_byte(Tensor a) { return a.cumsum(0, torch::kByte); }
Tensor cumsum_bool(Tensor a) { return a.cumsum(0, torch::kBool); }
Tensor norm(Tensor a, double p) { return a.norm(p); }
Tensor sign_of(Tensor a, Tensor b) { return torch::copysign(a, b); }
Tensor sign_of_number(Tensor a, int64_t s) { return torch::copysign(a, s); }
Tensor signbit(Tensor a) { return torch::signbit(a); }
Tensor isin(Tensor a, Tensor b) { return torch::isin(a, b); }
Tensor isclose(Tensor a, Tensor b) { return torch::isclose(a, b); }
Tensor search(Tensor a, double s) { return torch::searchsorted(a, s); }
Tensor fmax(Tensor a, Tensor b) { return torch::fmax(a, b); }
Tensor fmin(Tensor a, Tensor b) { return a.fmin(b); }
Tensor next(Tensor a, Tensor b) { return torch::nextafter(a, b); }
Tensor next_brain(Tensor a, Tensor b) { return a.to(torch::kBFloat16).nextafter(b.to(torch::kBFloat16)).to(torch::kFloat); }
Tensor next_in_place(Tensor a, Tensor b) { return a.clone().nextafter_(b); }
Tensor clamp_in_place(Tensor a, Tensor low, Tensor high) { return a.clone().clamp_(low, high); }
Tensor at_least(Tensor a, Tensor b) { return a.clamp_min(b); }
Tensor rsub(Tensor a, Tensor b) { return torch::rsub(a, b, 2); }
Tensor asinh(Tensor a) { return a.asinh(); }
Tensor acosh(Tensor a) { return a.acosh(); }
Tensor arange(double a, double b, Tensor like) { return torch::arange(a, b, like.options()); }
Tensor arange_int(int64_t a, int64_t b) { return torch::arange(a, b); }
Tensor linspace(double a, double b, Tensor like) { return torch::linspace(a, b, 3, like.options()); }
Tensor put(Tensor a, double s) { return a.clone().index_put_({torch::tensor({0})}, s); }
Tensor put_tensor(Tensor a, Tensor b) { return a.clone().index_put_({torch::tensor({0})}, b); }
Tensor put_masked(Tensor a, Tensor b) { return a.clone().index_put_({a == a}, b); }
Tensor elu(Tensor a, double alpha) { return torch::elu(a, alpha); }
Tensor celu(Tensor a, double alpha) { return torch::celu(a, alpha); }
Tensor soft(Tensor a, double s) { return torch::softshrink(a, s); }
Tensor heaviside(Tensor a, Tensor b) { return torch::heaviside(a, b); }
Tensor xlogy(Tensor a, Tensor b) { return torch::xlogy(a, b); }
Tensor xlog1py(Tensor a, Tensor b) { return torch::special_xlog1py(a, b); }
Tensor xlog1py_number(Tensor a, double b) { return torch::special_xlog1py(a, b); }
Tensor xlog1py_brain(Tensor a, Tensor b) { return torch::special_xlog1py(a.to(torch::kBFloat16), b.to(torch::kBFloat16)).to(torch::kFloat); }
Tensor logaddexp(Tensor a, Tensor b) { return torch::logaddexp(a, b); }
Tensor logit(Tensor a, double eps) { return torch::logit(a, eps); }
Tensor mse(Tensor a, Tensor b) { return torch::mse_loss(a, b, 0); }
Tensor smooth(Tensor a, Tensor b) { return torch::smooth_l1_loss(a, b, 0); }
Tensor huber(Tensor a, Tensor b) { return torch::huber_loss(a, b, 0); }
Tensor kl(Tensor a, Tensor b) { return torch::kl_div(a, b, 0); }
Tensor bce(Tensor a, Tensor b) { return torch::binary_cross_entropy_with_logits(a, b, {}, {}, 0); }
Tensor one_hot(Tensor a) { return torch::one_hot(a, 3); }
Tensor shift(Tensor a) { return torch::bitwise_left_shift(a, a); }
Tensor bounded_back(Tensor g, Tensor a, double high) { return torch::hardtanh_backward(g, a, -1, high); }
Tensor soft_back(Tensor g, Tensor a, double beta) { return torch::softplus_backward(g, a, beta, 20); }
Tensor cut_back(Tensor g, Tensor a, double t) { return torch::threshold_backward(g, a, t); }
Tensor nan_to(Tensor a, double s) { return torch::nan_to_num(a, s, s, s); }
Tensor scalar(double s, Tensor like) { return torch::scalar_tensor(s, like.options()); }
Tensor chosen(Tensor a, Tensor i) { return a.index_select(0, i); }
Tensor taken(Tensor a, Tensor i) { return a.take(i); }
Tensor indexed(Tensor a, Tensor i) { return a.index({i}); }
Tensor added(Tensor a, Tensor b) { return a.index_add(0, torch::tensor({0}), b); }
Tensor filled(Tensor a) { return a.index_fill(0, torch::tensor({0, -1}), 3); }
Tensor histogram(Tensor a) { return torch::histc(a.to(torch::kBFloat16), 3).to(torch::kFloat); }
Tensor sum_twice(Tensor a) { return a.sum({0, 0}); }
Tensor nll(Tensor a, Tensor t) { return torch::nll_loss(a, t); }
Tensor nll_of_rows(Tensor a, Tensor t) { return torch::nn::functional::nll_loss(a, t); }
Tensor entropy(Tensor a, Tensor t) { return torch::cross_entropy_loss(a, t); }
Tensor type_of(Tensor a, Tensor b) { return torch::empty({0}, torch::result_type(a, b)); }
"""


@pytest.fixture(scope="module")
def m():
    return wb.load_inline("common_types", TEXT)


F, D, H = np.float32, np.float64, np.float16
I32, I64 = np.int32, np.int64
MOST = np.finfo(F).max
# Numbers, and those that they step towards.
NEIGHBOURS = np.array(
    [
        [1, 1, -1, -1, 0, 0, -0.0, 0.0, -0.0, np.inf, -np.inf, np.inf, np.nan, 1, 3, 2, 1000],
        [2, 0, -2, 0, 1, -1, 1, -0.0, 0.0, 0, 0, np.inf, 1, np.nan, 3, 1, np.inf],
    ]
)


def arr(kind, *values):
    return np.array(values, kind)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        # Integers go around, and keep all of their bits.
        ("dot", (arr(I32, 2**31 - 1, 1), arr(I32, 2, 5)), arr(I32, 3)[0]),
        ("dot", (arr(I64, 2**53 + 1, 1), arr(I64, 1, 0)), arr(I64, 2**53 + 1)[0]),
        ("product", (arr(I64, 2**62, 3).reshape(1, 2), arr(I64, 4, 2**53 + 1).reshape(2, 1)), arr(I64, 3 * 2**53 + 3).reshape(1, 1)),
        ("product", (arr(np.uint8, 200, 200).reshape(1, 2), arr(np.uint8, 2, 1)), arr(np.uint8, 600 - 512)),
        # A type that is said is that of the elements: 32767 is 32768 in 16 bits of a float.
        ("sum_half", (arr(np.int16, 1, 32767, -32768),), arr(H, 1)[0]),
        ("sum_int", (arr(F, 0.75, 0.75, 2.5),), arr(I32, 2)[0]),
        ("cumsum_byte", (arr(F, 0.75, 255.5, 2.5),), arr(np.uint8, 0, 255, 1)),
        # Powers leave the type in which torch adds them up.
        ("norm", (arr(H, 2.5, 0.5), 127.0), arr(H, np.inf)[0]),
        ("norm", (arr(D, 2.5, 0.0), 127.0), arr(D, 2.5)[0]),
        ("sign_of", (arr(H, 1, 2), arr(D, -0.0, 3)), arr(D, -1, 2)),
        ("sign_of", (arr(I32, 1, 2), arr(H, -1, -2)), arr(H, -1, -2)),
        ("sign_of_number", (arr(np.uint8, 1, 2), -3), arr(F, -1, -2)),
        ("signbit", (np.copysign(arr(F, np.nan, np.nan, 0, 0), arr(F, -1, 1, -1, 1)),), [True, False, True, False]),
        ("isin", (arr(F, 2.5, 2.0), arr(I64, 2)), [False, True]),
        ("isin", (arr(I64, 2, 3), arr(D, 2.5, 3.0)), [False, True]),
        ("isclose", (arr(I32, -(2**31)), arr(I32, 2**31 - 1)), [False]),
        ("isclose", (arr(I32, 2**31 - 1), arr(I32, 2**31 - 2)), [True]),
        ("search", (arr(np.uint8, 0, 1, 2), 1.5), np.array(2)),
        ("search", (arr(np.uint8, 0, 1, 2), 1e300), np.array(3)),
        ("search", (np.array([False, True]), 0.5), np.array(1)),
        ("fmax", (arr(F, np.nan, 1, np.nan), arr(F, 2, np.nan, np.nan)), arr(F, 2, 1, np.nan)),
        ("fmin", (arr(F, np.nan, 1, 3), arr(F, 2, np.nan, 2)), arr(F, 2, 1, 2)),
        # Steps of the common type: beside 1 there are 2^-23 upwards and 2^-24 downwards in `float`. Of equal numbers, two zeros, the second is
        # the result (C, 7.12.11.3), where NumPy has the first one for 16 bits.
        *[("next", (x, y), np.where(x == y, y, np.nextafter(x, y))) for x, y in (NEIGHBOURS.astype(t) for t in (H, F, D))],
        ("next", (arr(F, 1, 1).reshape(2, 1), arr(F, 2, 0, 1)), arr(F, *[1 + 2**-23, 1 - 2**-24, 1] * 2).reshape(2, 3)),
        ("next", (arr(F), arr(F, 1)), arr(F)),
        ("next", (arr(F, 1), arr(D, 2)), arr(D, 1 + 2**-52)),
        ("next", (arr(I32, 1), arr(F, 2)), arr(F, 1 + 2**-23)),
        # 7 bits are behind the point of 1; the least number is 2^-133.
        (
            "next_brain",
            (arr(F, 1, 1, -1, 0, 0, 2**-133, np.inf, np.nan, 3), arr(F, 2, 0, -2, 1, -0.0, 0, 0, 1, 3)),
            arr(F, 1 + 2**-7, 1 - 2**-8, -1 - 2**-7, 2**-133, -0.0, 0, (2 - 2**-7) * 2.0**127, np.nan, 3),
        ),
        ("next_in_place", (arr(F, 1, 2), np.array(9, F)), arr(F, 1 + 2**-23, 2 + 2**-22)),
        ("clamp_in_place", (arr(F, -1, 0.5, 9), arr(F, 0, 0, 0), arr(F, 1, 1, 1)), arr(F, 0, 0.5, 1)),
        ("at_least", (arr(I64, -1, 5), arr(I64, 0, 7)), arr(I64, 0, 7)),
        ("rsub", (arr(I64, 1, 2), arr(I64, 10, 20)), arr(I64, 8, 16)),
        ("asinh", (arr(D, 1e300, -1e300, -0.0),), np.arcsinh(arr(D, 1e300, -1e300, -0.0))),
        ("acosh", (arr(D, 1e300, 1.0),), np.arccosh(arr(D, 1e300, 1.0))),
        ("arange", (-0.7, 2.3, arr(np.uint8)), arr(np.uint8, 0, 1, 2)),
        ("arange_int", (2**53 + 1, 2**53 + 4), arr(I64, 2**53 + 1, 2**53 + 2, 2**53 + 3)),
        ("put", (np.array([False, True]), 0.1), [True, True]),
        ("put", (arr(np.uint8, 9), 2.7), arr(np.uint8, 2)),
        ("put_masked", (arr(F, 1, 2), np.array(0.5)), arr(F, 0.5, 0.5)),
        ("elu", (arr(F, 0, -0.0, 2), np.inf), arr(F, 0, -0.0, 2)),
        ("heaviside", (arr(F, -1, 0, 2), arr(F, 7, 7, 7)), arr(F, 0, 7, 1)),
        ("xlogy", (arr(H, 0, 2), arr(I32, 0, 1)), arr(H, 0, 0)),
        # Zero times any logarithm is zero, without a sign; that of a NaN is none.
        *[("xlog1py", (arr(t, 0, -0.0, 0, 0, 0, 1, -2, 2), arr(t, -1, 3, np.inf, -2, np.nan, -1, 0, np.inf)), arr(t, 0, 0, 0, 0, np.nan, -np.inf, -0.0, np.inf)) for t in (H, F, D)],
        ("xlog1py", (arr(D, 0, 2).reshape(2, 1), arr(D, 0, -1, np.nan)), arr(D, 0, 0, np.nan, 0, -np.inf, np.nan).reshape(2, 3)),
        ("xlog1py", (arr(F), arr(F, 1)), arr(F)),
        ("xlog1py", (arr(I32, 3, 0), arr(I64, 0, 5)), arr(F, 0, 0)),
        ("xlog1py", (np.array([True, False]), arr(np.uint8, 0, 255)), arr(F, 0, 0)),
        ("xlog1py", (arr(H, 1), arr(D, 0)), arr(D, 0)),
        ("xlog1py", (arr(F, 1), np.array(0, D)), arr(F, 0)),
        # The logarithm of 3, 1.09861, is 1.0986328125 in 11 bits; three times that lies in the middle of two numbers, of which 3.296875 is the even
        # one. Rounded once the product would be 3.294921875.
        ("xlog1py", (arr(H, 3), arr(H, 2)), arr(H, 3.296875)),
        # In 8 bits it is 1.1015625, three times that 3.3046875 and the even one of two that are as near 3.3125. Rounded once: 3.296875.
        ("xlog1py_brain", (arr(F, 3, 0), arr(F, 2, -1)), arr(F, 3.3125, 0)),
        # Large tensors have a kernel, in which the same holds.
        ("xlog1py", (arr(H, *[3, 0, 0, 1] * 25000), arr(H, *[2, -1, np.nan, 0] * 25000)), arr(H, *[3.296875, 0, np.nan, 0] * 25000)),
        ("xlog1py_brain", (arr(F, *[3, 0] * 50000), arr(F, *[2, -1] * 50000)), arr(F, *[3.3125, 0] * 50000)),
        ("xlog1py_number", (arr(D, *[-0.0, 1] * 50000), -1.0), arr(D, *[0, -np.inf] * 50000)),
        ("xlog1py_number", (arr(F, 0, 1, -2), -1.0), arr(F, 0, -np.inf, np.inf)),
        ("xlog1py_number", (arr(I64, 0, 1), 0.0), arr(F, 0, 0)),
        ("xlog1py_number", (arr(H, 0, 1), 1e9), arr(H, 0, np.inf)),
        ("logaddexp", (arr(F, np.inf, -np.inf), arr(I32, 3, 0)), arr(F, np.inf, 0)),
        ("logit", (np.array([True, False]), 0.5), arr(F, 0, 0)),
        ("mse", (np.array([True, False]), arr(F, 3, 4)), arr(F, 4, 16)),
        ("smooth", (np.array([True, False]), arr(F, 3, 0.5)), arr(F, 1.5, 0.125)),
        ("huber", (arr(F, 1, 0), arr(D, 3, 0.5)), arr(F, 1.5, 0.125)),
        # Each term is t log t - t x, which is 0 for the numbers 0 and 1 here.
        ("kl", (arr(F, 0, 1), arr(F, 1, 0)), arr(F, 0, 0)),
        ("bce", (arr(D, 0), arr(F, 1)), arr(F, np.log(2))),
        # In `float`: 0.1 of 16 bits is less than 0.1, and so within.
        ("bounded_back", (arr(H, 5), arr(H, 0.1), 0.1), arr(H, 5)),
        ("soft_back", (arr(H, 0.1), arr(H, 0.1), 0.3), (lambda x: x * np.exp(x * F(0.3)) / (np.exp(x * F(0.3)) + 1))(arr(H, 0.1).astype(F)).astype(H)),
        ("cut_back", (arr(np.int8, 5, 6), arr(np.int8, 2, 3), 2.9), arr(np.int8, 0, 6)),
        ("nan_to", (arr(H, np.nan, np.inf, 1), 1e9), arr(H, np.inf, np.inf, 1)),
        ("scalar", (1e9, arr(H)), arr(H, np.inf)[0]),
        ("indexed", (arr(F, 5, 6, 7), np.array(2, np.int8)), arr(F, 7)[0]),
        # NaN is found nowhere, and hides nothing.
        ("isin", (arr(F, 1, np.nan), arr(F, np.nan, 1, -np.inf, 0, -0.0)), [True, False]),
        ("filled", (arr(I64, 1, 2, 4),), [3, 2, 3]),
        ("histogram", (arr(F, 65, -41.25, 118),), arr(F, 1, 0, 2)),
        ("chosen", (np.array(2.5, F), arr(I64, 0)), arr(F, 2.5)[0]),
        ("nll", (arr(F, 1, 2, 3, 4).reshape(2, 2), arr(np.uint8, 0, 1)), arr(F, -2.5)[0]),
        ("nll_of_rows", (arr(F, 1, 2, 3, 4).reshape(1, 2, 2), arr(I64, 0, 1).reshape(1, 2)), arr(F, -2.5)[0]),
        ("type_of", (arr(np.uint8, 1), np.array(2.5)), arr(D)),
        ("type_of", (arr(np.uint8, 1), arr(np.int8, 1)), arr(np.int16)),
    ],
)
def test_they_compute_in_torchs_types(m, name, args, expected):
    made, expected = np.asarray(getattr(m, name)(*args)), np.asarray(expected)
    assert made.dtype == expected.dtype
    assert made.shape == expected.shape
    if name in ("asinh", "acosh", "bce"):
        np.testing.assert_array_max_ulp(made, expected, 2)
    else:
        np.testing.assert_array_equal(made, expected)
    if made.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(made), np.signbit(expected))


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("cumsum_bool", (arr(I64, 1),), '"cumsum_out_cpu" not implemented for \'Bool\''),
        ("isin", (arr(I64, 1), np.array([True])), "Unsupported input type encountered for isin"),
        ("isclose", (arr(I64, 1), arr(F, 1)), "Long did not match Float"),
        ("arange", (0.0, 3.0, np.array([True])), '"arange_cpu" not implemented for \'Bool\''),
        ("arange", (1e39, 1e39, arr(H)), "type float without overflow"),
        ("linspace", (0.0, 3.0, np.array([True])), '"linspace_cpu" not implemented for \'Bool\''),
        ("linspace", (0.0, 300.0, arr(np.uint8)), "type uint8_t without overflow"),
        ("put", (arr(np.uint8, 1), 300.0), "type uint8_t without overflow"),
        ("put_tensor", (arr(F, 1), arr(D, 1)), "got Float for the destination and Double for the source"),
        ("put_masked", (arr(F, 1, 2), arr(D, 1, 2)), "Index put requires the source and destination dtypes match"),
        ("elu", (arr(F, 1), 1e300), "type float without overflow"),
        ("celu", (arr(F, 1), 0.0), "alpha cannot be 0 for CELU"),
        ("soft", (arr(H, 1), np.inf), r"lambda must be in range \[0, 65504\] for input dtype Half, but found inf"),
        ("soft", (arr(H, 1), -1.0), "lambda must be in range"),
        ("heaviside", (arr(F, 1), arr(D, 1)), "heaviside is not yet implemented for tensors with different dtypes"),
        ("logaddexp", (arr(I64, 1), arr(I64, 1)), '"logaddexp_cpu" not implemented for \'Long\''),
        ("mse", (arr(I64, 1), arr(I64, 1)), '"mse_cpu" not implemented for \'Long\''),
        ("smooth", (arr(I64, 1), arr(I64, 1)), '"smooth_l1_cpu" not implemented for \'Long\''),
        ("huber", (arr(I64, 1), arr(F, 1)), "result type Float can't be cast to the desired output type Long"),
        ("kl", (arr(F, 1), arr(I64, 1)), "Integral inputs not supported"),
        ("bce", (arr(F, 1), arr(I64, 1)), "result type Float can't be cast to the desired output type Long"),
        ("bce", (arr(F, 1), np.array(1, F)), "doesn't match the broadcast shape"),
        ("one_hot", (arr(I32, 1),), "one_hot is only applicable to index tensor of type LongTensor"),
        ("next", (arr(I64, 1), arr(I64, 2)), '"nextafter_cpu" not implemented for \'Long\''),
        ("next", (np.array([True]), np.array([False])), '"nextafter_cpu" not implemented for \'Bool\''),
        ("next", (arr(F, 1, 2), arr(F, 1, 2, 3)), "must match the size of tensor b"),
        ("next_in_place", (arr(F, 1), arr(D, 1, 2)), "output with shape"),
        ("xlog1py", (arr(F, 1, 2), arr(F, 1, 2, 3)), r"The size of tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dimension 0"),
        ("shift", (np.array([True]),), '"lshift_cpu" not implemented for \'Bool\''),
        ("cut_back", (arr(np.uint8, 5), arr(np.uint8, 2), 300.0), "type uint8_t without overflow"),
        ("scalar", (300.0, arr(np.uint8)), "type uint8_t without overflow"),
        ("chosen", (arr(F, 1, 2), np.array([True, False])), "Expected dtype int32 or int64 for index"),
        ("taken", (arr(F, 1, 2), arr(I32, 1)), "Expected a long tensor for index, but got Int"),
        ("chosen", (np.array(2.5, F), arr(I64, 1)), "Index to scalar can have only 1 value"),
        ("sum_twice", (arr(F, 1, 2),), "dim 0 appears multiple times in the list of dims"),
        ("nll", (np.zeros((3, 2), F), arr(I64, 0, 1)), r"size mismatch \(got input: \[3, 2\], target: \[2\]\)"),
        ("nll", (np.zeros((2, 2), F), arr(I32, 0, 1)), "expected target dtype to be Long or Byte"),
        ("nll", (np.zeros((1, 2, 2), F), arr(I64, 0, 1).reshape(1, 2)), "input tensor should be 1D or 2D"),
        ("entropy", (np.zeros((2, 2), F), arr(I32, 0, 1)), "expected target dtype to be Long or Byte"),
        ("added", (arr(F, 1, 2), arr(D, 1)), "must have the same scalar type"),
    ],
)
def test_what_torch_refuses_is_refused_in_its_words(m, name, args, message):
    with pytest.raises(RuntimeError, match=message):
        getattr(m, name)(*args)
    # The next call works.
    assert m.arange_int(0, 2).tolist() == [0, 1]


def test_an_index_of_another_type_is_an_index_error(m):
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        m.indexed(arr(F, 5, 6), arr(np.int8, 1))


def test_targets_of_another_batch_are_a_value_error(m):
    with pytest.raises(ValueError, match=r"Expected input batch_size \(3\) to match target batch_size \(2\)"):
        m.entropy(np.zeros((3, 2), F), arr(I64, 0, 1))
