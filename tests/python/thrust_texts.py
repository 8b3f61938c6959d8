"""Texts that use Thrust: what they begin with, how they are built, and numbers for them."""

import functools

import numpy as np

import workbench as wb

HEAD = r"""
#include <torch/extension.h>
using T = torch::Tensor;
template <typename N> thrust::device_ptr<N> dev(T& x) { return thrust::device_pointer_cast(x.data_ptr<N>()); }
struct Even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
struct Square { __host__ __device__ int operator()(int x) { return x * x; } };
struct ByDigit { __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; } };
// Maps x -> a * x + b, first the left one: order matters, and unsigned numbers are exact.
struct Affine { unsigned a, b; };
struct Compose {
    __host__ __device__ Affine operator()(const Affine& l, const Affine& r) const { return Affine{l.a * r.a, l.b * r.a + r.b}; }
};
"""


@functools.lru_cache(maxsize=None)
def built(text, names):
    return wb.load_inline("t", cpp_sources="", cuda_sources=HEAD + text, functions=names.split())


def ints(n, low=-50, high=50, seed=0, dtype=np.int32):
    return np.random.default_rng(seed + n).integers(low, high, n).astype(dtype)
