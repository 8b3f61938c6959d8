// Accessors of tensors, for host code.
namespace __wb {
template <typename T, size_t N> struct Accessor {
    static at::TensorAccessor<T, N> plain(const at::Tensor& x) {
        check(x);
        return at::TensorAccessor<T, N>(x.data_ptr<T>(), x.sizes().data(), x.strides().data());
    }
    template <template <typename U> class P, typename I> static at::GenericPackedTensorAccessor<T, N, P, I> packed(const at::Tensor& x) {
        check(x);
        at::GenericPackedTensorAccessor<T, N, P, I> made;
        made.data_ = x.data_ptr<T>();
        for (size_t i = 0; i < N; ++i) {
            made.sizes_[i] = (I)x.size(i);
            made.strides_[i] = (I)x.stride(i);
        }
        return made;
    }
    static void check(const at::Tensor& x) {
        if (x.dim() != (int64_t)N) fail(0, "", "TensorAccessor expected ", (int64_t)N, " dims but tensor has ", x.dim());
    }
};
}
