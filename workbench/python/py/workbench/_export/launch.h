// Helpers of this extension's launchers: checks of arguments against the operator's shape signature, and sizes of launches.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace workbench {

// An argument's element type and device.
inline void check(const char* op, const char* name, const at::Tensor& tensor, at::ScalarType wanted, at::Device device) {
  TORCH_CHECK(tensor.scalar_type() == wanted, "`", op, "`: argument `", name, "` is of ", tensor.scalar_type(), "; ", wanted, " is wanted");
  TORCH_CHECK(tensor.device() == device, "`", op, "`: argument `", name, "` is on ", tensor.device(), ", and the first is on ", device);
}

inline void check_rank(const char* op, const char* name, const at::Tensor& tensor, int64_t rank) {
  TORCH_CHECK(tensor.dim() == rank, "`", op, "`: `", name, "` has shape ", tensor.sizes(), "; the signature wants rank ", rank);
}

inline void check_extent(const char* op, const char* name, const at::Tensor& tensor, int64_t axis, int64_t wanted) {
  TORCH_CHECK(tensor.size(axis) == wanted, "`", op, "`: `", name, "` has extent ", tensor.size(axis), " on axis ", axis, ", and ", wanted, " is wanted");
}

// Every array that the signature writes with `[*]` has one shape.
inline void same_shape(const char* op, const char* name, const at::Tensor& tensor, std::optional<std::vector<int64_t>>& shape) {
  if (!shape.has_value()) shape = tensor.sizes().vec();
  TORCH_CHECK(tensor.sizes() == at::IntArrayRef(*shape), "`", op, "`: `", name, "` has shape ", tensor.sizes(), ", and the other arrays have ", at::IntArrayRef(*shape));
}

// A dim of the signature: bound by an integer argument or by the first array that has it, and the same wherever it stands again.
struct Dim {
  const char* name;
  int64_t value = 0;
  bool is_known = false;

  explicit Dim(const char* name) : name(name) {}
  Dim(const char* name, int64_t value) : name(name), value(value), is_known(true) {}

  void set(int64_t extent) {
    value = extent;
    is_known = true;
  }

  void bind(const char* op, const char* array, const at::Tensor& tensor, int64_t axis) {
    const int64_t extent = tensor.size(axis);
    TORCH_CHECK(!is_known || value == extent, "`", op, "`: `", array, "` has extent ", extent, " on axis ", axis, ", but `", name, "` is ", value, " already");
    set(extent);
  }

  int64_t known() const {
    TORCH_CHECK(is_known, "dim `", name, "` is known only from an argument that is None");
    return value;
  }
};

inline std::vector<int64_t> sizes(const char* op, const char* output, std::vector<int64_t> extents) {
  for (const int64_t extent : extents) {
    TORCH_CHECK(extent >= 0, "`", op, "`: output `", output, "` would have the extent ", extent);
  }
  return extents;
}

// Rounding down, as the signature's `/` and `%` do.
inline int64_t floor_div(int64_t a, int64_t b) {
  TORCH_CHECK(b != 0, "division by zero: ", a, " / 0");
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

inline int64_t floor_mod(int64_t a, int64_t b) {
  TORCH_CHECK(b != 0, "division by zero: ", a, " % 0");
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// A number as the kernel takes it; one that does not fit is an error.
template <typename To, typename From>
To narrow(const char* op, const char* name, From value) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    const To made = static_cast<To>(value);
    TORCH_CHECK(static_cast<From>(made) == value && (made < To(0)) == (value < From(0)), "`", op, "`: `", name, "` got ", value, ", which does not fit");
    return made;
  } else if constexpr (std::is_same_v<To, float>) {
    const float made = static_cast<float>(value);
    TORCH_CHECK(!std::isinf(made) || std::isinf(static_cast<double>(value)), "`", op, "`: `", name, "` got ", value, ", which does not fit");
    return made;
  } else {
    return static_cast<To>(value);
  }
}

// The value of an optional number, for which the kernel has no other.
template <typename T>
T given(const char* op, const char* name, const std::optional<T>& value) {
  TORCH_CHECK(value.has_value(), "`", op, "`: argument `", name, "` is None; a number is wanted");
  return *value;
}

inline int64_t numel(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

inline unsigned blocks(const char* op, int64_t count) {
  TORCH_CHECK(count > 0 && count <= 2147483647, "`", op, "`: its launch would have ", count, " blocks");
  return static_cast<unsigned>(count);
}

// The bytes of dynamic shared memory.
inline int shared_bytes(const char* op, int64_t bytes) {
  TORCH_CHECK(bytes >= 0 && bytes <= 2147483647, "`", op, "`: its launch would have ", bytes, " bytes of shared memory");
  return static_cast<int>(bytes);
}

// The number of blocks for so many threads; one at least.
inline unsigned blocks_of(const char* op, int64_t threads, int64_t width) {
  TORCH_CHECK(threads >= 0, "`", op, "`: its launch would have the extent ", threads);
  return blocks(op, std::max<int64_t>(threads / width + (threads % width != 0), 1));
}

}  // namespace workbench
