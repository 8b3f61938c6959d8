// test run cpu
#include <torch/extension.h>

// Half of the logarithm of 2 is exact.
double of_double(double x) { return torch::special_entr(torch::tensor({x}, torch::kDouble)).item<double>(); }
// call: of_double(0.5) == 0.34657359027997264
// call: of_double(0.25) == 0.34657359027997264
// call: of_double(0) == 0
// call: of_double(-0.0) == 0
// call: of_double(1) == -0.0
// call: of_double(-1e-300) == -inf
// call: of_double(inf) == -inf
// call: of_double(-inf) == -inf
// call: of_double(nan) == nan

// Integers become `float`: twice the logarithm of 2 is 1.3862944 in 24 bits.
bool of_integer() {
    auto made = at::special_entr(torch::tensor({2, 1, 0, -1}));
    return made.scalar_type() == torch::kFloat && made[0].item<float>() == -1.38629436f && made[1].item<float>() == 0 &&
           made[2].item<float>() == 0 && made[3].item<float>() == -INFINITY;
}
// call: of_integer() == true
bool of_truth() { return torch::special_entr(torch::tensor({1, 0}) > 0).scalar_type() == torch::kFloat; }
// call: of_truth() == true
// No elements, and the shape stays.
int of_none() { return torch::special_entr(torch::zeros({0, 3})).size(1); }
// call: of_none() == 3

// In 8 bits of bfloat16 the logarithm of 3 (1.0986) is 1.1015625, and three times that, 3.3046875, is 3.3125, the even one of two that are as
// near. Rounded once the product would be 3.296875.
float of_brain(float x) { return torch::special_entr(torch::tensor({x}, torch::kBFloat16)).item<float>(); }
// call: of_brain(3) == -3.3125

// Large tensors have a kernel.
bool of_many() {
    auto x = torch::arange(100000).to(torch::kFloat) / 50000;
    return torch::allclose(torch::special_entr(x), torch::where(x > 0, -x * x.log(), x * 0));
}
// call: of_many() == true
