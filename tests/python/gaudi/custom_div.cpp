// Division as TensorFlow's operator for Gaudi, and operators with host memory, with two kernels, and with an output in place.
#include <habanalabs/hpu_kernel.h>

#include <tensorflow/core/framework/common_shape_fns.h>
#include <tensorflow/core/framework/tensor.h>
#include <tensorflow/core/lib/core/error_codes.pb.h>

__global__ void div_fwd_f32(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] / b[i];
}
__global__ void div_fwd_i32(const int* a, const int* b, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = b[i] == 0 ? 0 : a[i] / b[i];
}

REGISTER_OP("CustomDivOp")
    .Input("input1: T")
    .Input("input2: T")
    .Output("output: T")
    .Attr("T: {int32, float}")
    .Attr("example_attr: int")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

template <class DType> class CustomDivFunctor : public habana::BaseFunctor {
public:
    void DefineNode(habana::HpuKernelContext* context) {
        habana::TensorInfo in0, in1;
        OP_REQUIRES_OK(context, context->InputInfo(0, in0));
        OP_REQUIRES_OK(context, context->InputInfo(1, in1));
        OP_REQUIRES(context, in0.shape == in1.shape,
                    tensorflow::errors::InvalidArgument("Shapes of both inputs do not match. Input1.shape: ", in0.shape,
                                                        ", Input2.shape: ", in1.shape));
        int example_attr;
        OP_REQUIRES_OK(context, context->GetAttr("example_attr", &example_attr));
        if (example_attr < 0) {
            context->SetStatus(tensorflow::Status(tensorflow::error::Code::UNIMPLEMENTED, "example_attr is below 0"));
        }
        OP_REQUIRES(context, context->HostMemoryInput(0) == nullptr, tensorflow::errors::Internal("input 0 is known already"));
        OP_REQUIRES_OK(context, context->DefineOutputInfo(0, habana::TensorInfo{in0.dtype, in0.shape}));
        std::string tpc_suffix = (in0.dtype == tensorflow::DataType::DT_FLOAT) ? "f32" : "i32";
        OP_REQUIRES_OK(context, context->DefineNode(habana::NodeDesc{.guid = "div_fwd_" + tpc_suffix,
                                                                     .user_params = nullptr,
                                                                     .params_size = 0,
                                                                     .name = "custom_div"},
                                                    std::vector<int>{0, 1}, std::vector<int>{0}));
    }
};

REGISTER_KERNEL_BUILDER(ForHpuWithName("CustomDivOp").TypeConstraint<float>("T"), habana::HpuKernel<CustomDivFunctor<float>>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("CustomDivOp").TypeConstraint<int>("T"), habana::HpuKernel<CustomDivFunctor<int>>);

// Extents from an input in host memory, parameters by value, and an output in host memory.
struct FillParams {
    float value;
};
__global__ void fill_fwd_f32(const float* like, float* out, FillParams params, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = params.value + like[0];
}

REGISTER_OP("FillLike").Input("like: float").Input("dims: int32").Output("filled: float").Output("count: int64").Attr("value: float = 2.5");

struct FillFunctor : public habana::BaseFunctor {
    void DefineNode(habana::HpuKernelContext* context) override {
        habana::TensorInfo like;
        OP_REQUIRES_OK(context, context->InputInfo(0, like));
        const tensorflow::Tensor* dims = context->HostMemoryInput(1);
        OP_REQUIRES(context, dims != nullptr, tensorflow::errors::InvalidArgument("dims must be in host memory"));
        tensorflow::TensorShape shape;
        for (int i = 0; i < dims->NumElements(); ++i) shape.AddDim(dims->flat<int>()(i));
        OP_REQUIRES_OK(context, context->DefineOutputInfo(0, habana::TensorInfo{like.dtype, shape}));
        OP_REQUIRES_OK(context, context->DefineOutputInfo(1, habana::TensorInfo{tensorflow::DT_INT64, tensorflow::TensorShape()}));
        OP_REQUIRES(context, context->HostMemoryOutput(0) == nullptr, tensorflow::errors::Internal("output 0 is not in host memory"));
        context->HostMemoryOutput(1)->scalar<int64_t>()() = shape.num_elements();
        FillParams params;
        OP_REQUIRES_OK(context, context->GetAttr("value", &params.value));
        OP_REQUIRES_OK(context, context->DefineNode(habana::NodeDesc{"fill_fwd_f32", &params, sizeof(params), "fill"},
                                                    std::vector<int>{0}, std::vector<int>{0}));
    }
};
REGISTER_KERNEL_BUILDER(ForHpuWithName("FillLike").HostMemory("dims").HostMemory("count"), habana::HpuKernel<FillFunctor>);

// Two kernels: the second takes what the first has put out.
__global__ void square_f32(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * x[i];
}
REGISTER_OP("SquareTwice").Input("x: float").Output("once: float").Output("twice: float");
struct SquareTwiceFunctor : public habana::BaseFunctor {
    void DefineNode(habana::HpuKernelContext* context) {
        habana::TensorInfo x;
        OP_REQUIRES_OK(context, context->InputInfo(0, x));
        OP_REQUIRES_OK(context, context->DefineOutputInfo(0, x));
        OP_REQUIRES_OK(context, context->DefineOutputInfo(1, x));
        habana::NodeDesc square{"square_f32", nullptr, 0, ""};
        OP_REQUIRES_OK(context, context->DefineNode(square, std::vector<int>{0}, std::vector<int>{0}));
        OP_REQUIRES_OK(context, context->DefineNode(square, std::vector<int>{1}, std::vector<int>{1}));
    }
};
REGISTER_KERNEL_BUILDER(ForHpuWithName("SquareTwice"), habana::HpuKernel<SquareTwiceFunctor>);
