// ATen/TensorUtils.h: checks of arguments, whose messages name them by number and name.
namespace at {
using CheckedFrom = const char*;
struct TensorArg {
    Tensor tensor;
    const char* name;
    int pos;
    TensorArg(const Tensor& tensor, const char* name, int pos) : tensor(tensor), name(name), pos(pos) {}
    const Tensor& operator*() const { return tensor; }
    const Tensor* operator->() const { return &tensor; }
};
using TensorGeometryArg = TensorArg;

#define __WB_ARGUMENT(t) "argument #", (int64_t)t.pos, " '", t.name, "'"
#define __WB_FROM(c) " (while checking arguments for ", c, ")"
inline void checkDim(CheckedFrom c, const TensorArg& t, int64_t dim) {
    if (t->dim() != dim) {
        __wb::fail(0, "", "Expected ", dim, "-dimensional tensor, but got ", t->dim(), "-dimensional tensor for ", __WB_ARGUMENT(t), __WB_FROM(c));
    }
}
inline void checkDimRange(CheckedFrom c, const TensorArg& t, int64_t first, int64_t end) {
    if (t->dim() < first || t->dim() >= end) {
        __wb::fail(0, "", "Expected ", first, " to ", end - 1, " dimensions, but got ", t->dim(), "-dimensional tensor for ", __WB_ARGUMENT(t), __WB_FROM(c));
    }
}
inline void checkContiguous(CheckedFrom c, const TensorArg& t) {
    if (!t->is_contiguous()) __wb::fail(0, "", "Expected contiguous tensor, but got non-contiguous tensor for ", __WB_ARGUMENT(t), __WB_FROM(c));
}
inline void checkNumel(CheckedFrom c, const TensorArg& t, int64_t numel) {
    if (t->numel() != numel) {
        __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(t), " to have ", numel, " elements; but it actually has ", t->numel(), " elements", __WB_FROM(c));
    }
}
inline void checkSize(CheckedFrom c, const TensorArg& t, int64_t dim, int64_t size) {
    if (t->size(dim) != size) {
        __wb::fail(0, "", "Expected tensor to have size ", size, " at dimension ", dim, ", but got size ", t->size(dim), " for ", __WB_ARGUMENT(t), __WB_FROM(c));
    }
}
inline void checkSize(CheckedFrom c, const TensorArg& t, IntArrayRef sizes) {
    checkDim(c, t, (int64_t)sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) checkSize(c, t, (int64_t)i, sizes[i]);
}
inline void checkDefined(CheckedFrom c, const TensorArg& t) {
    if (!t->defined()) __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(t), " to be non-null, but it was undefined", __WB_FROM(c));
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType type) {
    if (t->scalar_type() != type) {
        __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(t), " to have scalar type ", toString(type), "; but got ", toString(t->scalar_type()), " instead", __WB_FROM(c));
    }
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> types) {
    for (auto type : types) {
        if (t->scalar_type() == type) return;
    }
    __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(t), " to have another scalar type; but got ", toString(t->scalar_type()), " instead", __WB_FROM(c));
}
inline void checkSameType(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
    if (a->scalar_type() != b->scalar_type() || a->is_cuda() != b->is_cuda()) {
        __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(a), " to have the same type as tensor for ", __WB_ARGUMENT(b), "; but type ", toString(a->scalar_type()), " does not equal ", toString(b->scalar_type()), __WB_FROM(c));
    }
}
inline void checkSameSize(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
    if (!a->sizes().equals(b->sizes())) {
        __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(a), " to have same size as tensor for ", __WB_ARGUMENT(b), "; but ", a->sizes(), " does not equal ", b->sizes(), __WB_FROM(c));
    }
}
inline void checkSameNumel(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
    if (a->numel() != b->numel()) {
        __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(a), " to have same number of elements as tensor for ", __WB_ARGUMENT(b), "; but ", a->numel(), " does not equal ", b->numel(), __WB_FROM(c));
    }
}
inline void checkSameDim(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
    if (a->dim() != b->dim()) {
        __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(a), " to have the same dimension as tensor for ", __WB_ARGUMENT(b), "; but ", a->dim(), " does not equal ", b->dim(), __WB_FROM(c));
    }
}
inline void checkSameGPU(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
    if (!a->is_cuda() || !b->is_cuda()) {
        const TensorArg& host = a->is_cuda() ? b : a;
        __wb::fail(0, "", "Expected tensor for ", __WB_ARGUMENT(host), " to be on the GPU; but it is on the CPU", __WB_FROM(c));
    }
}
#define __WB_ALL(one) \
    inline void checkAll##one(CheckedFrom c, ArrayRef<TensorArg> all) { \
        for (size_t i = 1; i < all.size(); ++i) { \
            if (all[0]->defined() && all[i]->defined()) check##one(c, all[0], all[i]); \
        } \
    }
__WB_ALL(SameType)
__WB_ALL(SameGPU)
__WB_ALL(SameSize)
__WB_ALL(SameNumel)
#undef __WB_ALL
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> all) {
    for (const auto& t : all) checkContiguous(c, t);
}
inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> all) {
    for (const auto& t : all) checkDefined(c, t);
}
#undef __WB_ARGUMENT
#undef __WB_FROM
}
