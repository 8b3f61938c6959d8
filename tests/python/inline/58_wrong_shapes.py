"""Negative: shapes that tensor operations refuse: mm, bmm, add, cat, stack, view, expand, dot, squeeze-free unsqueeze, conv."""
CPP = r'''
using torch::Tensor;
Tensor do_mm(Tensor a, Tensor b) { return torch::mm(a, b); }
Tensor do_matmul(Tensor a, Tensor b) { return torch::matmul(a, b); }
Tensor do_bmm(Tensor a, Tensor b) { return a.bmm(b); }
Tensor do_add(Tensor a, Tensor b) { return a + b; }
Tensor do_add_(Tensor a, Tensor b) { return a += b; }
Tensor do_cat(std::vector<Tensor> xs, int64_t dim) { return torch::cat(xs, dim); }
Tensor do_stack(std::vector<Tensor> xs) { return torch::stack(xs); }
Tensor do_view(Tensor x, std::vector<int64_t> shape) { return x.view(shape); }
Tensor do_reshape(Tensor x, std::vector<int64_t> shape) { return x.reshape(shape); }
Tensor do_expand(Tensor x, std::vector<int64_t> shape) { return x.expand(shape); }
Tensor do_dot(Tensor a, Tensor b) { return a.dot(b); }
Tensor do_permute(Tensor x, std::vector<int64_t> order) { return x.permute(order); }
'''
CUDA = ""
FUNCTIONS = [f"do_{k}" for k in ("mm", "matmul", "bmm", "add", "add_", "cat", "stack", "view", "reshape", "expand", "dot", "permute")]


def check(m, t):
    import numpy as np

    z = lambda *s: t(np.zeros(s, np.float32))  # noqa: E731
    with t.raises(RuntimeError, "mat1 and mat2 shapes cannot be multiplied (3x5 and 4x2)"):
        m.do_mm(z(3, 5), z(4, 2))
    with t.raises(RuntimeError, "mat1 and mat2 shapes cannot be multiplied (3x5 and 4x2)"):
        m.do_matmul(z(3, 5), z(4, 2))
    with t.raises(RuntimeError, "Expected size for first two dimensions of batch2 tensor to be: [2, 5] but got: [2, 4]."):
        m.do_bmm(z(2, 3, 5), z(2, 4, 2))
    with t.raises(RuntimeError, "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"):
        m.do_add(z(2, 3), z(2, 4))
    assert t.np(m.do_add(z(2, 1), z(1, 4))).shape == (2, 4)
    with t.raises(RuntimeError, "doesn't match the broadcast shape"):
        m.do_add_(z(2, 1), z(2, 4))
    with t.raises(RuntimeError, "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for tensor number 1 in the list."):
        m.do_cat([z(2, 3), z(2, 4)], 0)
    assert t.np(m.do_cat([z(2, 3), z(2, 4)], -1)).shape == (2, 7)
    with t.raises(RuntimeError, "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [3, 2] at entry 1"):
        m.do_stack([z(2, 3), z(3, 2)])
    with t.raises(RuntimeError, "shape '[2, 4]' is invalid for input of size 6"):
        m.do_view(z(2, 3), [2, 4])
    with t.raises(RuntimeError, "shape '[4, -1]' is invalid for input of size 6"):
        m.do_reshape(z(2, 3), [4, -1])
    with t.raises(RuntimeError, "view size is not compatible with input tensor's size and stride"):
        m.do_view(t(np.zeros((3, 2), np.float32).T), [6])
    assert t.np(m.do_reshape(t(np.zeros((3, 2), np.float32).T), [6])).shape == (6,)
    with t.raises(RuntimeError, "only one dimension can be inferred"):
        m.do_view(z(2, 3), [-1, -1])
    with t.raises(RuntimeError, "The expanded size of the tensor (5) must match the existing size (3) at non-singleton dimension 1"):
        m.do_expand(z(2, 3), [2, 5])
    with t.raises(RuntimeError, "inconsistent tensor size, expected tensor [3] and src [4] to have the same number of elements"):
        m.do_dot(z(3), z(4))
    with t.raises(RuntimeError, "1D tensors expected, but got 2D and 2D tensors"):
        m.do_dot(z(2, 3), z(2, 3))
    with t.raises(RuntimeError, "number of dimensions in the tensor input does not match the length of the desired ordering of dimensions"):
        m.do_permute(z(2, 3), [0])
