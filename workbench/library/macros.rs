//! Macros of the libraries: of torch's and pybind11's headers, of Python's and of CUDA's libraries.

/// Macros of torch's headers for device code: the name, and the text after it in a `#define`.
pub const MACROS: &[(&str, &str)] = &[
    ("C10_ALWAYS_INLINE", "inline"),
    ("C10_DEVICE", "__device__"),
    ("C10_HOST", "__host__"),
    ("C10_HOST_DEVICE", "__host__ __device__"),
    ("C10_LAUNCH_BOUNDS_0", "__launch_bounds__(256, 4)"),
    ("C10_LAUNCH_BOUNDS_1", "(threads) __launch_bounds__(threads)"),
    ("C10_LAUNCH_BOUNDS_2", "(threads, blocks) __launch_bounds__(threads, blocks)"),
    ("C10_RESTRICT", "__restrict__"),
    ("C10_UNUSED", "[[maybe_unused]]"),
    ("C10_WARP_SIZE", "32"),
    ("GPU_LAMBDA", "__host__ __device__"),
    ("CUDA_KERNEL_ASSERT", "(condition) assert(condition)"),
    ("CUDA_KERNEL_LOOP", "(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)"),
    (
        "CUDA_KERNEL_LOOP_TYPE",
        "(i, n, index_t) int64_t _i_n_d_e_x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; \
         for (index_t i = _i_n_d_e_x; _i_n_d_e_x < (n); _i_n_d_e_x += blockDim.x * gridDim.x, i = _i_n_d_e_x)",
    ),
];

/// Macros of torch's and pybind11's headers for host code. A registration becomes a function that the run time calls.
pub const HOST_MACROS: &[(&str, &str)] = &[
    ("EXIT_FAILURE", "1"),
    ("EXIT_SUCCESS", "0"),
    ("RAND_MAX", "32767"),
    ("TORCH_CHECK", "(condition, ...) if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); }"),
    (
        "TORCH_INTERNAL_ASSERT",
        "(condition, ...) do { if (!(condition)) { __wb::fail_internal(#condition, __FILE__, __LINE__, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_INTERNAL_ASSERT_DEBUG_ONLY",
        "(condition, ...) do { if (!(condition)) { __wb::fail_internal(#condition, __FILE__, __LINE__, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_VALUE",
        "(condition, ...) do { if (!(condition)) { __wb::fail(1, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_TYPE",
        "(condition, ...) do { if (!(condition)) { __wb::fail(2, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_INDEX",
        "(condition, ...) do { if (!(condition)) { __wb::fail(3, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_NOT_IMPLEMENTED",
        "(condition, ...) do { if (!(condition)) { __wb::fail(4, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    ("AT_CHECK", "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)"),
    ("AT_ASSERT", "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)"),
    ("AT_ASSERTM", "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)"),
    (
        "STD_TORCH_CHECK",
        "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_ARG",
        "(condition, ...) do { if (!(condition)) { __wb::fail(0, #condition, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_EQ",
        "(a, b, ...) do { if (!((a) == (b))) { __wb::fail_compare(#a, #b, \"==\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_NE",
        "(a, b, ...) do { if (!((a) != (b))) { __wb::fail_compare(#a, #b, \"!=\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_LT",
        "(a, b, ...) do { if (!((a) < (b))) { __wb::fail_compare(#a, #b, \"<\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_LE",
        "(a, b, ...) do { if (!((a) <= (b))) { __wb::fail_compare(#a, #b, \"<=\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_GT",
        "(a, b, ...) do { if (!((a) > (b))) { __wb::fail_compare(#a, #b, \">\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    (
        "TORCH_CHECK_GE",
        "(a, b, ...) do { if (!((a) >= (b))) { __wb::fail_compare(#a, #b, \">=\", a, b, ##__VA_ARGS__); } } while (0)",
    ),
    ("TORCH_CHECK_NOTNULL", "(pointer, ...) (pointer)"),
    ("TORCH_CHECK_LINALG", "(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)"),
    ("TORCH_WARN_ONCE", "(...) __wb::warn(__VA_ARGS__)"),
    ("AT_ERROR", "(...) __wb::fail(0, \"\", ##__VA_ARGS__)"),
    ("TORCH_WARN", "(...) __wb::warn(__VA_ARGS__)"),
    (
        "C10_CUDA_CHECK",
        "(expression) do { const cudaError_t __wb_error = (expression); if (__wb_error != cudaSuccess) { __wb::fail(0, \"\", \"CUDA error: \", cudaGetErrorString(__wb_error)); } } while (0)",
    ),
    (
        "AT_CUDA_CHECK",
        "(expression) do { const cudaError_t __wb_error = (expression); if (__wb_error != cudaSuccess) { __wb::fail(0, \"\", \"CUDA error: \", cudaGetErrorString(__wb_error)); } } while (0)",
    ),
    ("C10_CUDA_KERNEL_LAUNCH_CHECK", "() C10_CUDA_CHECK(cudaGetLastError())"),
    (
        "AT_DISPATCH_CASE",
        "(enum_type, ...) case enum_type: { using scalar_t = c10::impl::ScalarTypeToCPPTypeT<enum_type>; return __VA_ARGS__(); }",
    ),
    (
        "AT_DISPATCH_SWITCH",
        "(type, name, ...) [&] { const c10::ScalarType __wb_type = (type); switch (__wb_type) { __VA_ARGS__ default: __wb::fail(4, \"\", \"\\\"\", name, \"\\\" not implemented for '\", c10::toString(__wb_type), \"'\"); } }()",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF",
        "(...) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND_HALF",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND",
        "(t1, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND",
        "(t1, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND(t1, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND2",
        "(t1, t2, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND2",
        "(t1, t2, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(t1, t2, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND3",
        "(t1, t2, t3, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND3",
        "(t1, t2, t3, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND3(t1, t2, t3, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_FLOATING_TYPES_AND4",
        "(t1, t2, t3, t4, ...) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__) AT_DISPATCH_CASE(t4, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_FLOATING_TYPES_AND4",
        "(t1, t2, t3, t4, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND4(t1, t2, t3, t4, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND",
        "(t1, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND",
        "(t1, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(t1, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND2",
        "(t1, t2, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND2",
        "(t1, t2, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND2(t1, t2, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND3",
        "(t1, t2, t3, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND3",
        "(t1, t2, t3, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND3(t1, t2, t3, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_INTEGRAL_TYPES_AND4",
        "(t1, t2, t3, t4, ...) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__) AT_DISPATCH_CASE(t4, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_INTEGRAL_TYPES_AND4",
        "(t1, t2, t3, t4, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND4(t1, t2, t3, t4, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND",
        "(t1, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND",
        "(t1, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND(t1, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND2",
        "(t1, t2, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND2",
        "(t1, t2, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND2(t1, t2, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND3",
        "(t1, t2, t3, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND3",
        "(t1, t2, t3, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND3(t1, t2, t3, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_ALL_TYPES_AND4",
        "(t1, t2, t3, t4, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) AT_DISPATCH_CASE(t3, __VA_ARGS__) AT_DISPATCH_CASE(t4, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_ALL_TYPES_AND4",
        "(t1, t2, t3, t4, type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND4(t1, t2, t3, t4, __VA_ARGS__))",
    ),
    (
        "AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES",
        "(...) AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)",
    ),
    (
        "AT_DISPATCH_REDUCED_FLOATING_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))",
    ),
    ("AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES", "(type, name, ...) AT_DISPATCH_FLOATING_TYPES(type, name, __VA_ARGS__)"),
    // <ATen/Dispatch_v2.h>: a list of types of any length.
    ("AT_WRAP", "(...) __VA_ARGS__"),
    ("AT_EXPAND", "(X) X"),
    ("AT_FLOATING_TYPES", "c10::kDouble, c10::kFloat"),
    ("AT_INTEGRAL_TYPES", "c10::kByte, c10::kChar, c10::kInt, c10::kLong, c10::kShort"),
    ("AT_BAREBONES_UNSIGNED_TYPES", "c10::kUInt16, c10::kUInt32, c10::kUInt64"),
    ("AT_ALL_TYPES", "AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)"),
    ("AT_INTEGRAL_TYPES_V2", "AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES)"),
    (
        "AT_DISPATCH_V2",
        "(TYPE, NAME, BODY, ...) AT_DISPATCH_SWITCH(TYPE, NAME, __WB_AP_VAR(AT_WRAP(BODY), __VA_ARGS__))",
    ),
    ("__WB_AP_VAR", "(N, ...) AT_EXPAND(__WB_AP_CAT(__WB_AP, __WB_NUM_ARGS(__VA_ARGS__))(AT_WRAP(N), __VA_ARGS__))"),
    ("__WB_AP_CAT", "(a, b) __WB_AP_CAT_AT(a, b)"),
    ("__WB_AP_CAT_AT", "(a, b) a##b"),
    (
        "__WB_NUM_ARGS",
        "(...) AT_EXPAND(__WB_NUM_ARGS_AT(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))",
    ),
    ("__WB_NUM_ARGS_AT", "(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, N, ...) N"),
    ("__WB_AP1", "(N, _1) AT_DISPATCH_CASE(_1, N)"),
    ("__WB_AP2", "(N, _1, _2) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N)"),
    ("__WB_AP3", "(N, _1, _2, _3) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N)"),
    (
        "__WB_AP4",
        "(N, _1, _2, _3, _4) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N)",
    ),
    (
        "__WB_AP5",
        "(N, _1, _2, _3, _4, _5) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N)",
    ),
    (
        "__WB_AP6",
        "(N, _1, _2, _3, _4, _5, _6) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N)",
    ),
    (
        "__WB_AP7",
        "(N, _1, _2, _3, _4, _5, _6, _7) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N)",
    ),
    (
        "__WB_AP8",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N)",
    ),
    (
        "__WB_AP9",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N)",
    ),
    (
        "__WB_AP10",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N) AT_DISPATCH_CASE(_10, N)",
    ),
    (
        "__WB_AP11",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N) AT_DISPATCH_CASE(_10, N) AT_DISPATCH_CASE(_11, N)",
    ),
    (
        "__WB_AP12",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N) AT_DISPATCH_CASE(_10, N) AT_DISPATCH_CASE(_11, N) AT_DISPATCH_CASE(_12, N)",
    ),
    (
        "__WB_AP13",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N) AT_DISPATCH_CASE(_10, N) AT_DISPATCH_CASE(_11, N) AT_DISPATCH_CASE(_12, N) AT_DISPATCH_CASE(_13, N)",
    ),
    (
        "__WB_AP14",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N) AT_DISPATCH_CASE(_10, N) AT_DISPATCH_CASE(_11, N) AT_DISPATCH_CASE(_12, N) AT_DISPATCH_CASE(_13, N) AT_DISPATCH_CASE(_14, N)",
    ),
    (
        "__WB_AP15",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N) AT_DISPATCH_CASE(_10, N) AT_DISPATCH_CASE(_11, N) AT_DISPATCH_CASE(_12, N) AT_DISPATCH_CASE(_13, N) AT_DISPATCH_CASE(_14, N) AT_DISPATCH_CASE(_15, N)",
    ),
    (
        "__WB_AP16",
        "(N, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16) AT_DISPATCH_CASE(_1, N) AT_DISPATCH_CASE(_2, N) AT_DISPATCH_CASE(_3, N) AT_DISPATCH_CASE(_4, N) AT_DISPATCH_CASE(_5, N) AT_DISPATCH_CASE(_6, N) AT_DISPATCH_CASE(_7, N) AT_DISPATCH_CASE(_8, N) AT_DISPATCH_CASE(_9, N) AT_DISPATCH_CASE(_10, N) AT_DISPATCH_CASE(_11, N) AT_DISPATCH_CASE(_12, N) AT_DISPATCH_CASE(_13, N) AT_DISPATCH_CASE(_14, N) AT_DISPATCH_CASE(_15, N) AT_DISPATCH_CASE(_16, N)",
    ),
    (
        "AT_DISPATCH_INDEX_TYPES",
        "(type, name, ...) AT_DISPATCH_SWITCH(type, name, __WB_DISPATCH_INDEX(at::ScalarType::Int, __VA_ARGS__) __WB_DISPATCH_INDEX(at::ScalarType::Long, __VA_ARGS__))",
    ),
    (
        "__WB_DISPATCH_INDEX",
        "(enum_type, ...) case enum_type: { using index_t = c10::impl::ScalarTypeToCPPTypeT<enum_type>; return __VA_ARGS__(); }",
    ),
    (
        "PYBIND11_MODULE",
        "(name, m) static void __wb_module(pybind11::module_&); void __wb_entry_register_module() { (void)&__wb_entry_call; pybind11::module_ __wb_m; __wb_module(__wb_m); } static void __wb_module(pybind11::module_& m)",
    ),
    ("TORCH_LIBRARY", "(ns, m) __WB_LIBRARY(\"library\", #ns, \"\", m, __COUNTER__)"),
    ("TORCH_LIBRARY_FRAGMENT", "(ns, m) __WB_LIBRARY(\"fragment\", #ns, \"\", m, __COUNTER__)"),
    ("TORCH_LIBRARY_IMPL", "(ns, key, m) __WB_LIBRARY(\"impl\", #ns, #key, m, __COUNTER__)"),
    ("STABLE_TORCH_LIBRARY", "(ns, m) __WB_LIBRARY(\"library\", #ns, \"\", m, __COUNTER__)"),
    ("STABLE_TORCH_LIBRARY_FRAGMENT", "(ns, m) __WB_LIBRARY(\"fragment\", #ns, \"\", m, __COUNTER__)"),
    ("STABLE_TORCH_LIBRARY_IMPL", "(ns, key, m) __WB_LIBRARY(\"impl\", #ns, #key, m, __COUNTER__)"),
    ("__WB_LIBRARY", "(kind, ns, key, m, n) __WB_LIBRARY_AT(kind, ns, key, m, n)"),
    (
        "__WB_LIBRARY_AT",
        "(kind, ns, key, m, n) static void __wb_library_##n(torch::Library&); void __wb_entry_register_library_##n() { (void)&__wb_entry_call; torch::Library __wb_library(kind, ns, key); __wb_library_##n(__wb_library); } static void __wb_library_##n(torch::Library& m)",
    ),
    (
        "TORCH_ERROR_CODE_CHECK",
        "(call) do { if ((call) != 0) { __wb::fail(0, \"\", \"call to \" #call \" failed\"); } } while (0)",
    ),
    ("NEURON_LIBRARY", "(name, m) __WB_NEURON(#name, m, __COUNTER__)"),
    ("__WB_NEURON", "(name, m, n) __WB_NEURON_AT(name, m, n)"),
    (
        "__WB_NEURON_AT",
        "(name, m, n) static void __wb_neuron_##n(torch::neuron::Library&); void __wb_entry_register_neuron_##n() { (void)&__wb_entry_call; torch::neuron::Library __wb_neuron(name); __wb_neuron_##n(__wb_neuron); } static void __wb_neuron_##n(torch::neuron::Library& m)",
    ),
    // Macros of Gaudi's headers.
    (
        "REGISTER_CUSTOM_OP_ATTRIBUTES",
        "(schema_name, guid, input_desc, output_desc, param_func) habana::custom_op::__wb_register(schema_name, guid, input_desc, output_desc, param_func)",
    ),
    ("HPU_PARAMS_STUB", "(structname) size = sizeof(structname); auto params = std::make_shared<structname>()"),
    ("REGISTER_OP", "(name) __WB_REGISTER_OP(name, __COUNTER__)"),
    ("__WB_REGISTER_OP", "(name, n) __WB_REGISTER_OP_AT(name, n)"),
    ("__WB_REGISTER_OP_AT", "(name, n) static bool __wb_tf_op_##n = tensorflow::OpDefBuilder(name)"),
    ("REGISTER_KERNEL_BUILDER", "(builder, ...) __WB_REGISTER_KERNEL(__COUNTER__, builder, __VA_ARGS__)"),
    ("__WB_REGISTER_KERNEL", "(n, builder, ...) __WB_REGISTER_KERNEL_AT(n, builder, __VA_ARGS__)"),
    (
        "__WB_REGISTER_KERNEL_AT",
        "(n, builder, ...) void __wb_entry_register_tf_##n() { (void)&__wb_entry_call; __wb::tf_kernel<__VA_ARGS__>(builder); } static_assert(true, \"\")",
    ),
    (
        "OP_REQUIRES",
        "(context, condition, ...) do { if (!(condition)) { (context)->CtxFailure(__VA_ARGS__); return; } } while (0)",
    ),
    (
        "OP_REQUIRES_OK",
        "(context, ...) do { tensorflow::Status __wb_status = (__VA_ARGS__); if (!__wb_status.ok()) { (context)->CtxFailure(__wb_status); return; } } while (0)",
    ),
    ("VLOG", "(level) if ((level) > 0) {} else std::cerr"),
    ("TORCH_FN", "(f) (f)"),
    ("TORCH_BOX", "(f) (f)"),
    ("TORCH_SELECTIVE_NAME", "(name) (name)"),
    ("TORCH_SELECTIVE_SCHEMA", "(schema) (schema)"),
    // Macros of <Python.h>.
    ("PY_MAJOR_VERSION", "3"),
    ("PY_MINOR_VERSION", "12"),
    ("PY_MICRO_VERSION", "0"),
    ("PY_VERSION", "\"3.12.0\""),
    ("PY_VERSION_HEX", "0x030c00f0"),
    ("PY_SSIZE_T_MAX", "9223372036854775807l"),
    ("PYTHON_API_VERSION", "1013"),
    ("PyMODINIT_FUNC", "extern \"C\" PyObject*"),
    ("PyModuleDef_HEAD_INIT", "{0}"),
    ("PyDoc_STR", "(text) text"),
    ("PyDoc_VAR", "(name) static const char name[]"),
    ("PyDoc_STRVAR", "(name, text) static const char name[] = text"),
    ("Py_UNUSED", "(name) __wb_unused_##name"),
    ("Py_ARRAY_LENGTH", "(array) (sizeof(array) / sizeof((array)[0]))"),
    ("Py_UNREACHABLE", "() __trap()"),
    ("Py_CLEAR", "(object) do { (object) = nullptr; } while (0)"),
    ("Py_SETREF", "(object, other) do { (object) = (other); } while (0)"),
    ("Py_XSETREF", "(object, other) do { (object) = (other); } while (0)"),
    ("Py_None", "reinterpret_cast<PyObject*>(1l)"),
    ("Py_True", "reinterpret_cast<PyObject*>(2l)"),
    ("Py_False", "reinterpret_cast<PyObject*>(3l)"),
    ("Py_RETURN_NONE", "return Py_None"),
    ("Py_RETURN_TRUE", "return Py_True"),
    ("Py_RETURN_FALSE", "return Py_False"),
    ("Py_BEGIN_ALLOW_THREADS", "{"),
    ("Py_END_ALLOW_THREADS", "}"),
    ("Py_BLOCK_THREADS", ""),
    ("Py_UNBLOCK_THREADS", ""),
    ("PyMem_New", "(type, n) ((type*)PyMem_Malloc((n) * sizeof(type)))"),
    ("PyMem_Del", "(memory) PyMem_Free(memory)"),
    ("PyBool_Type", "__wb::py_type(1)[0]"),
    ("PyLong_Type", "__wb::py_type(2)[0]"),
    ("PyFloat_Type", "__wb::py_type(3)[0]"),
    ("PyUnicode_Type", "__wb::py_type(4)[0]"),
    ("PyBytes_Type", "__wb::py_type(5)[0]"),
    ("PyList_Type", "__wb::py_type(6)[0]"),
    ("PyTuple_Type", "__wb::py_type(7)[0]"),
    ("PyDict_Type", "__wb::py_type(8)[0]"),
    ("PyModule_Type", "__wb::py_type(9)[0]"),
    ("PyType_Type", "__wb::py_type(13)[0]"),
    ("PyBaseObject_Type", "__wb::py_type(15)[0]"),
    // The numbers of the exceptions are those of `runtime::host::python`.
    ("PyExc_RuntimeError", "reinterpret_cast<PyObject*>(-1l)"),
    ("PyExc_ValueError", "reinterpret_cast<PyObject*>(-2l)"),
    ("PyExc_TypeError", "reinterpret_cast<PyObject*>(-3l)"),
    ("PyExc_IndexError", "reinterpret_cast<PyObject*>(-4l)"),
    ("PyExc_NotImplementedError", "reinterpret_cast<PyObject*>(-5l)"),
    ("PyExc_MemoryError", "reinterpret_cast<PyObject*>(-6l)"),
    ("PyExc_OverflowError", "reinterpret_cast<PyObject*>(-7l)"),
    ("PyExc_KeyError", "reinterpret_cast<PyObject*>(-8l)"),
    ("PyExc_ZeroDivisionError", "reinterpret_cast<PyObject*>(-9l)"),
    ("PyExc_ArithmeticError", "reinterpret_cast<PyObject*>(-10l)"),
    ("PyExc_SystemError", "reinterpret_cast<PyObject*>(-11l)"),
    ("PyExc_AttributeError", "reinterpret_cast<PyObject*>(-12l)"),
    ("PyExc_StopIteration", "reinterpret_cast<PyObject*>(-13l)"),
    ("PyExc_LookupError", "reinterpret_cast<PyObject*>(-14l)"),
    ("PyExc_AssertionError", "reinterpret_cast<PyObject*>(-15l)"),
    ("PyExc_ImportError", "reinterpret_cast<PyObject*>(-16l)"),
    ("PyExc_OSError", "reinterpret_cast<PyObject*>(-17l)"),
    ("PyExc_EOFError", "reinterpret_cast<PyObject*>(-18l)"),
    ("PyExc_BufferError", "reinterpret_cast<PyObject*>(-19l)"),
    ("PyExc_FloatingPointError", "reinterpret_cast<PyObject*>(-20l)"),
    ("PyExc_NameError", "reinterpret_cast<PyObject*>(-21l)"),
    ("PyExc_Exception", "reinterpret_cast<PyObject*>(-22l)"),
    ("PyExc_IOError", "PyExc_OSError"),
    ("TORCH_CUDABLAS_CHECK", "(EXPR) at::cuda::blas::__wb_expect((EXPR), #EXPR)"),
    ("CUBLAS_VER_MAJOR", "13"),
    ("CUBLAS_VER_MINOR", "0"),
    ("CUBLAS_VER_PATCH", "0"),
    ("CUBLAS_VERSION", "130000"),
    ("cublasCreate_v2", "cublasCreate"),
    ("cublasDestroy_v2", "cublasDestroy"),
    ("cublasSetStream_v2", "cublasSetStream"),
    ("cublasGetStream_v2", "cublasGetStream"),
    ("cublasSgemm_v2", "cublasSgemm"),
    ("cublasDgemm_v2", "cublasDgemm"),
    ("cublasSgemv_v2", "cublasSgemv"),
    ("cublasDgemv_v2", "cublasDgemv"),
];

/// Macros that come with a header of the CUDA samples: they exist once it is included, because texts often define such macros themselves.
pub const SAMPLES_MACROS: &[(&str, &str)] = &[
    ("checkCudaErrors", "(value) __wb_check_cuda((value), #value, __FILE__, __LINE__)"),
    ("getLastCudaError", "(message) __wb_last_cuda_error(message, __FILE__, __LINE__)"),
    ("printLastCudaError", "(message) __wb_last_cuda_error(message, __FILE__, __LINE__)"),
    ("EXIT_WAIVED", "2"),
];
