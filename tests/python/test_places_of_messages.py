"""Mistakes in what is given to the library: the message names a place of the user's text, and no name or place of ours."""

import re

import pytest
import workbench as wb

# One mistake each, on the line that ends in `// here`; a declaration before it may be what is named.
MISTAKES = {
    "vector of void": "void f() {\n  std::vector<void> v; // here\n}",
    "vector of a reference": "void f() {\n  std::vector<int&> v; // here\n}",
    "vector from a text": 'void f() {\n  std::vector<int> v = "text"; // here\n}',
    "push_back of a struct": "struct S { int x; };\nvoid f() {\n  std::vector<int> v;\n  v.push_back(S{1}); // here\n}",
    "vector without a member": "void f() {\n  std::vector<int> v;\n  v.push(1); // here\n}",
    "sort of structs": "struct S { int x; };\nvoid f() {\n  std::vector<S> v(3);\n  std::sort(v.begin(), v.end()); // here\n}",
    "map of keys without order": "struct S { int x; };\nvoid f() {\n  std::map<S, int> m;\n  m[S{1}] = 2; // here\n}",
    "set of keys without order": "struct S { int x; };\nvoid f() {\n  std::set<S> m;\n  m.insert(S{1}); // here\n}",
    "map of one argument": "void f() {\n  std::map<int> m; // here\n}",
    "map at another type": 'void f() {\n  std::map<int, int> m;\n  m.at("a"); // here\n}',
    "string of a number": "void f() {\n  std::string s = 3; // here\n}",
    "to_string of a struct": "struct S {};\nvoid f() {\n  auto s = std::to_string(S{}); // here\n}",
    "max of two types": "void f() {\n  auto x = std::max(1, 2.0f); // here\n}",
    "array out of its type": "void f() {\n  std::array<int> a; // here\n}",
    "get of a tuple's end": "void f() {\n  std::tuple<int, int> t(1, 2);\n  int x = std::get<2>(t); // here\n}",
    "optional of void": "void f() {\n  std::optional<void> t; // here\n}",
    "function of another type": "void f() {\n  std::function<int(int)> g = [](std::string s) { return 1; };\n  g(2); // here\n}",
    "accumulate of structs": "struct S { int x; };\nint f() {\n  std::vector<S> v(3);\n  return std::accumulate(v.begin(), v.end(), 0); // here\n}",
    "torch::zeros of a text": 'void f() {\n  auto x = torch::zeros("text"); // here\n}',
    "torch::add of a struct": "struct S {};\nvoid f(torch::Tensor x) {\n  auto y = torch::add(x, S{}); // here\n}",
    "a method that is none": "void f(torch::Tensor x) {\n  auto y = x.nothing(); // here\n}",
    "a function that is none": "void f(torch::Tensor x) {\n  auto y = torch::nothing(x); // here\n}",
    "data_ptr of a struct": "struct S { int x; };\nvoid f(torch::Tensor x) {\n  auto y = x.data_ptr<S>(); // here\n}",
    "item of a struct": "struct S { int x; };\nvoid f(torch::Tensor x) {\n  auto y = x.item<S>(); // here\n}",
    "accessor of a text": "void f(torch::Tensor x) {\n  auto y = x.accessor<std::string, 2>(); // here\n}",
    "accessor of no dimensions": "void f(torch::Tensor x) {\n  auto y = x.accessor<float>(); // here\n}",
    "packed accessor": "void f(torch::Tensor x) {\n  auto y = x.packed_accessor32<float>(); // here\n}",
    "TORCH_CHECK of a struct": "struct S {};\nvoid f(torch::Tensor x) {\n  TORCH_CHECK(S{}, 3); // here\n}",
    "stream of a struct": "struct S {};\nvoid f(torch::Tensor x) {\n  std::cout << S{}; // here\n}",
    "a result of no type": "struct S { int x; };\nS f(torch::Tensor x) { return S{1}; } // here\nPYBIND11_MODULE(a, m) {\n  m.def(\"f\", &f);\n}",
    "def of a number": "PYBIND11_MODULE(a, m) {\n  m.def(\"f\", 3); // here\n}",
    "def of nothing": "PYBIND11_MODULE(a, m) {\n  m.def(\"f\"); // here\n}",
    "impl of a number": "TORCH_LIBRARY(places, m) {\n  m.impl(\"f\", 3); // here\n}",
    "cub of another type": "__global__ void k(int* p) {\n  cub::BlockReduce<int> r; // here\n}",
    "cub of a struct": "struct S { int x; };\n__global__ void k(S* p) {\n  using R = cub::BlockReduce<S, 32>;\n  __shared__ R::TempStorage t;\n  p[0] = R(t).Sum(p[1]); // here\n}",
    "cub's operator": "__global__ void k(int* p) {\n  using R = cub::BlockReduce<int, 32>;\n  __shared__ R::TempStorage t;\n  p[0] = R(t).Reduce(p[1], 3); // here\n}",
    "thrust sort of structs": "struct S { int x; };\nvoid f() {\n  thrust::device_vector<S> v(3);\n  thrust::sort(v.begin(), v.end()); // here\n}",
    "thrust reduce of a text": 'void f() {\n  thrust::device_vector<int> v(3);\n  auto x = thrust::reduce(v.begin(), v.end(), "a"); // here\n}',
    "thrust transform": "void f() {\n  thrust::device_vector<int> v(3);\n  thrust::transform(v.begin(), v.end(), v.begin(), 3); // here\n}",
    "thrust of one iterator": "void f() {\n  thrust::device_vector<int> v(3);\n  thrust::sort(v.begin()); // here\n}",
    "atomicAdd of a struct": "struct S { int x; };\n__global__ void k(S* p) {\n  atomicAdd(p, S{1}); // here\n}",
    "shuffle of a struct": "struct S { int x[4]; };\n__global__ void k(S* p) {\n  p[0] = __shfl_sync(~0u, p[1], 0); // here\n}",
    "half of a struct": "struct S { int x; };\n__global__ void k(__half* p) {\n  p[0] = __float2half(S{1}); // here\n}",
    "curand's state": "__global__ void k(int* p) {\n  curand_init(1, 2, 3, p); // here\n}",
    "cooperative groups": "namespace cg = cooperative_groups;\n__global__ void k(int* p) {\n  auto t = cg::tiled_partition<33>(cg::this_thread_block()); // here\n}",
    "tile of a number": "namespace cg = cooperative_groups;\n__global__ void k(int* p) {\n  auto t = cg::tiled_partition<32>(3); // here\n}",
    "min of a struct": "struct S { int x; };\n__global__ void k(S* p) {\n  p[0] = min(p[1], p[2]); // here\n}",
    "cudaMalloc of a number": "void f() {\n  cudaMalloc(3, 4); // here\n}",
    "cudaMemcpy's direction": 'void f(float* p) {\n  cudaMemcpy(p, p, 4, "to"); // here\n}',
    "dispatch of a struct": "void f(torch::Tensor x) {\n  AT_DISPATCH_FLOATING_TYPES(3, \"f\", [&] { }); // here\n}",
    "sleep of a number": "void f() {\n  std::this_thread::sleep_for(3); // here\n}",
    "Function without forward": "struct F : torch::autograd::Function<F> {};\ntorch::Tensor f(torch::Tensor x) {\n  return F::apply(x); // here\n}",
    "index by a struct": "struct S {};\ntorch::Tensor f(torch::Tensor x) {\n  return x.index({S{}}); // here\n}",
    "cat of a tensor": "torch::Tensor f(torch::Tensor x) {\n  return torch::cat(x, x); // here\n}",
}

HEADERS = """#include <torch/extension.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>
#include <cub/cub.cuh>
#include <curand_kernel.h>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
"""
# Places in files of ours, and names that only those use.
OURS = re.compile(r"<(torch|host|python|std|cub|thrust|library|containers|chrono|libcu|half|memory|streams)[^>]*>:\d+|__wb|__WB")


@pytest.mark.parametrize("what", MISTAKES)
def test_a_message_names_the_users_place(what):
    text = HEADERS + MISTAKES[what]
    with pytest.raises(wb.CompileError) as caught:
        module = wb.compile(text)
        pytest.fail(f"it compiles: {module}")
    message = str(caught.value)
    assert not OURS.search(message), message
    first = HEADERS.count("\n") + 1
    named = [int(line) for line in re.findall(r"<kernel>:(\d+):", message)]
    assert named and all(first <= line < first + MISTAKES[what].count("\n") + 1 for line in named), message
