"""Intel Gaudi's custom operators: descriptors as in `habana_frameworks`, in Python; libraries of TensorFlow's operators.

C++ sources with `REGISTER_CUSTOM_OP_ATTRIBUTES` or `registerUserCustomOp` and a `TORCH_LIBRARY` go to `wb.load` and `wb.load_inline`
like any other; their operators are in `wb.ops`. A kernel that a descriptor names ("relu_fwd_f32") is a `__global__` kernel of the same
text, or a host function that gives nothing and takes a tensor first. Its parameters are bound by what they are, in order:

- a pointer, a `tpc::tensor<T>` (extents and strides with the pointer) or an `at::Tensor` is the next tensor: the inputs in the order of
  their descriptors, then the outputs; `std::vector<at::Tensor>` is a list that is one input (of host functions);
- a number is the next scalar input; one number more is the count of elements of output 0 (of input 0 where there is no output);
- a struct is the user's parameters, by value.

A kernel runs with a thread for each element of output 0, in blocks of 256; a host function launches what it likes, several kernels too.
"""

from .custom_op import CustomOp, InputDesc, OutputDesc, register_custom_op
from .tensorflow import OpLibrary, load_op_library

__all__ = ["CustomOp", "InputDesc", "OpLibrary", "OutputDesc", "load_op_library", "register_custom_op"]
