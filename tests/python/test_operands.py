"""Operands of operations on tensors are brought to one type before anything is computed. The values are torch's."""

import numpy as np
import pytest

import workbench as wb

TEXT = """
#include <torch/extension.h>
using torch::Tensor;
Tensor eq(Tensor a, double s) { return a == s; }
Tensor eq_int(Tensor a, int64_t s) { return a == s; }
Tensor eq_full(Tensor a, double s) { return torch::full_like(a, s) == s; }
Tensor less_float(Tensor a) { return a - a.to(torch::kFloat); }
Tensor div_trunc(Tensor a, double s) { return a.div(s, "trunc"); }
Tensor div_floor(Tensor a, double s) { return a.div(s, "floor"); }
Tensor hard(Tensor a, double s) { return torch::hardshrink(a, s); }
Tensor soft(Tensor a, double s) { return torch::softshrink(a, s); }
Tensor remainder(Tensor a, double s) { return a.remainder(s); }
Tensor clamp(Tensor a, int64_t low, int64_t high) { return a.clamp(low, high); }
Tensor clamp_min(Tensor a, int64_t low) { return a.clamp_min(low); }
Tensor clamp_nan(Tensor a) { return a.clamp_min(NAN); }
Tensor masked(Tensor a, double s) { return a.masked_fill(a == a, s); }
Tensor masked_tensor(Tensor a, Tensor s) { return a.masked_fill(a == a, s); }
Tensor like(Tensor a, double s) { return torch::full_like(a, s); }
Tensor like_int(Tensor a, int64_t s) { return torch::full_like(a, s); }
Tensor fill(Tensor a, int64_t s) { return a.clone().fill_(s); }
Tensor fill_tensor(Tensor a, Tensor s) { return a.clone().copy_(s); }
Tensor where(Tensor a, int64_t s) { return torch::where(a == a, s, a); }
Tensor index_fill(Tensor a, int64_t s) { return a.index_fill(0, torch::tensor({0}), s); }
Tensor pad(Tensor a, int64_t s) { return torch::constant_pad_nd(a, {1, 0}, s); }
Tensor put(Tensor a, int64_t s) { return a.scatter(0, torch::tensor({0}), s); }
Tensor threshold(Tensor a, int64_t t, int64_t v) { return torch::threshold(a, t, v); }
Tensor left_less(double s, Tensor a) { return s - a; }
Tensor left_div(int64_t s, Tensor a) { return s / a; }
Tensor left_rest(int64_t s, Tensor a) { return s % a; }
Tensor lerp(Tensor a, Tensor b, double w) { return torch::lerp(a, b, w); }
Tensor addcmul(Tensor a, double v) { return torch::addcmul(a, a, a, v); }
Tensor addcdiv(Tensor a) { return torch::addcdiv(a, a, a); }
Tensor scaled(Tensor a, double alpha) { return a.add(a, alpha); }
Tensor bf(Tensor a) { return a.to(torch::kBFloat16).to(torch::kFloat); }
Tensor to_half(Tensor a) { return a.to(torch::kHalf); }
Tensor pow(Tensor a, int64_t s) { return a.pow(s); }
Tensor minus_zero(Tensor a) { return torch::relu(a); }
"""


@pytest.fixture(scope="module")
def m():
    return wb.load_inline("operands", TEXT)


def u8(*values):
    return np.array(values, np.uint8)


F = np.array([0.1, 0.7, 0.3], np.float32)
BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("eq", (F, 0.1), [True, False, False]),
        ("eq_full", (F, 0.1), [True, True, True]),
        ("eq", (F.astype(np.float16), 0.3), [False, False, True]),
        ("eq_int", (u8(0, 255), -1), [False, True]),
        ("eq_int", (np.array([BIG, BIG - 1]), BIG), [True, False]),
        ("less_float", (np.array([2**31 - 1], np.int32),), np.zeros(1, np.float32)),
        ("div_trunc", (F, 0.1), np.array([1, 7, 3], np.float32)),
        ("div_floor", (F, 0.1), np.array([1, 6, 3], np.float32)),
        ("hard", (F, 0.3), np.array([0, F[1], 0], np.float32)),
        ("soft", (F, 0.3), np.array([0, F[1] - F[2], 0], np.float32)),
        # The number is of 16 bits, too: 0.0999755859375.
        ("remainder", (np.array([0.3, 1.0], np.float16), 0.1), np.array([0.0001220703125, 0.000244140625], np.float16)),
        ("clamp", (u8(0, 5, 200, 255), -300, 300), u8(0, 5, 200, 255)),
        ("clamp", (u8(0, 5, 200, 255), 10, 300), u8(10, 10, 200, 255)),
        ("clamp", (np.array([-128, 0, 127], np.int8), -200, 50), np.array([-128, 0, 50], np.int8)),
        ("clamp_min", (np.array([BIG, -5]), BIG - 1), [BIG, BIG - 1]),
        ("clamp_nan", (F,), np.full(3, np.nan, np.float32)),
        ("masked", (u8(4, 5), 2.7), u8(2, 2)),
        ("masked_tensor", (u8(4, 5), np.array(2.7)), u8(2, 2)),
        ("like", (u8(4, 5), 2.7), u8(2, 2)),
        ("like_int", (u8(4), -1), u8(255)),
        ("like_int", (np.array([True]), 300), [True]),
        ("like", (np.zeros(1, np.float16), np.inf), np.array([np.inf], np.float16)),
        ("fill", (u8(1), -255), u8(1)),
        ("fill_tensor", (u8(1), np.array(300)), u8(44)),
        ("pad", (np.array([7]), BIG), [BIG, 7]),
        ("index_fill", (np.array([7]), BIG), [BIG]),
        ("threshold", (np.array([BIG, -5, 7]), BIG - 1, 3), [BIG, 3, 3]),
        ("threshold", (u8(0, 5), 3, -1), u8(255, 5)),
        ("left_less", (0.5, np.array([1, -3])), [-1, 3]),
        ("left_less", (0.5, F), np.float32(0.5) - F),
        ("left_rest", (7, np.array([2, -4])), [1, -1]),
        # A weight of 1 gives the end itself.
        ("lerp", (F, F * 3, 1.0), F * 3),
        ("addcmul", (u8(0, 5, 200, 255), 2.5), u8(0, 55, 72, 1)),
        # Rounded twice, by way of `float`.
        ("bf", (np.array([1.0039062500001]),), np.array([1.0], np.float32)),
        ("to_half", (np.array([1.0004882812500001]),), np.array([1.0], np.float16)),
        ("pow", (np.array([3], np.int64), BIG), [pow(3, BIG, 2**64) - (2**64 if pow(3, BIG, 2**64) >= 2**63 else 0)]),
        ("minus_zero", (np.array([-0.0, -1.0], np.float32),), np.array([-0.0, 0.0], np.float32)),
    ],
)
def test_operands_are_of_one_type(m, name, args, expected):
    made, expected = getattr(m, name)(*args), np.asarray(expected)
    assert made.dtype == expected.dtype
    np.testing.assert_array_equal(made, expected)
    if made.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(made), np.signbit(expected))


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("like_int", (u8(1), 300), "value cannot be converted to type uint8_t without overflow"),
        ("like_int", (u8(1), -256), "type uint8_t without overflow"),
        ("like", (u8(1), -1.0), "type uint8_t without overflow"),
        ("like", (np.zeros(1, np.int64), np.nan), "type int64_t without overflow"),
        ("like", (np.zeros(1, np.float16), 65505.0), "type c10::Half without overflow"),
        ("like", (F, 1e39), "type float without overflow"),
        ("fill", (u8(1), 300), "type uint8_t without overflow"),
        ("masked", (np.zeros(1, np.int32), 1e20), "type int without overflow"),
        ("masked_tensor", (u8(1), np.array(300)), "type uint8_t without overflow"),
        ("where", (u8(1), 300), "type uint8_t without overflow"),
        ("index_fill", (u8(1), 300), "type uint8_t without overflow"),
        ("pad", (u8(1), 300), "type uint8_t without overflow"),
        ("put", (u8(1), 300), "type uint8_t without overflow"),
        ("threshold", (u8(1), 300, 2), "type uint8_t without overflow"),
        ("threshold", (u8(1), 3, 300), "type uint8_t without overflow"),
        ("addcmul", (u8(1), 300.0), "type uint8_t without overflow"),
        ("pow", (u8(1), 300), "type uint8_t without overflow"),
        ("clamp_min", (u8(1), 300), "Clamp min value 300 is outside the representable range of Byte"),
        ("clamp", (u8(1), -5, -3), "Clamp max value -3 is outside the representable range of Byte"),
        ("left_div", (3, np.array([1, 2])), "can't be cast"),
        ("addcdiv", (np.array([1, 2]),), "Integer division with addcdiv"),
        ("scaled", (np.array([1, 2]), 2.5), "argument alpha must not be a floating point number"),
        ("scaled", (np.zeros(1, np.float16), 1e9), "type c10::Half without overflow"),
    ],
)
def test_numbers_outside_the_type_are_told_of(m, name, args, message):
    with pytest.raises(RuntimeError, match=message):
        getattr(m, name)(*args)
    # The next call works.
    assert m.like_int(u8(1), 3)[0] == 3
