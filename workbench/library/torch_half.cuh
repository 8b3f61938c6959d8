// Tensors of 16-bit floats, for host code.
namespace c10 {
template <> struct CppTypeToScalarType<c10::Half> { static constexpr ScalarType value = ScalarType::Half; };
template <> struct CppTypeToScalarType<c10::BFloat16> { static constexpr ScalarType value = ScalarType::BFloat16; };
template <> struct CppTypeToScalarType<__half> { static constexpr ScalarType value = ScalarType::Half; };
template <> struct CppTypeToScalarType<__nv_bfloat16> { static constexpr ScalarType value = ScalarType::BFloat16; };
template <> struct ScalarTypeToCPPType<ScalarType::Half> { using type = c10::Half; };
template <> struct ScalarTypeToCPPType<ScalarType::BFloat16> { using type = c10::BFloat16; };
}
