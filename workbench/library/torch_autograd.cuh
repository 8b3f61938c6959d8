// `torch/csrc/autograd/custom_function.h`: functions with a backward. If a call's gradient is recorded (`host/call/backward.rs`), `apply`
// records the context, `backward`, and the tensors in and out; the run time calls `backward` later, in the memory of the same call.
namespace c10 {

// The mode in which operations are recorded.
struct GradMode {
    static bool is_enabled() { return __wb::host_op<bool>(__wb_host_op("grad_mode")); }
    static void set_enabled(bool enabled) { __wb::host_op<bool>(__wb_host_op("set_grad_mode"), enabled); }
};
struct AutoGradMode {
    bool before;
    AutoGradMode(bool enabled) : before(__wb::host_op<bool>(__wb_host_op("set_grad_mode"), enabled)) {}
    AutoGradMode(const AutoGradMode&) = delete;
    ~AutoGradMode() { GradMode::set_enabled(before); }
};

}

namespace at {
using c10::GradMode;
using c10::AutoGradMode;
}

namespace torch {
namespace autograd {
using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using tensor_list = std::vector<at::Tensor>;
using c10::GradMode;
using c10::AutoGradMode;

// The data that forward leaves for backward.
struct AutogradContext {
    std::unordered_map<std::string, c10::IValue> saved_data;

    AutogradContext() {}
    void save_for_backward(variable_list to_save) { saved_ = to_save; }
    variable_list get_saved_variables() const { return saved_; }
    void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
    void mark_non_differentiable(const variable_list& outputs) { fixed_ = outputs; }
    void set_materialize_grads(bool value) { materialize_ = value; }
    // The need for a gradient of the tensors among the arguments, in order. A direct call of backward needs all of them.
    bool needs_input_grad(size_t i) const { return i >= needs_.size() || needs_[i]; }

    void __wb_needs(std::vector<bool> needs) { needs_ = needs; }
    void __wb_put() const {
        __wb::Value<variable_list>::put(dirty_);
        __wb::Value<variable_list>::put(fixed_);
        __wb::Value<variable_list>::put(saved_);
        __wb_push_bool(materialize_);
    }

private:
    variable_list saved_;
    variable_list dirty_;
    variable_list fixed_;
    bool materialize_ = true;
    std::vector<bool> needs_;
};

// The tensors in an argument of `apply`, or `false` if it is none; gives their number.
inline int64_t __wb_note(const at::Tensor& value) {
    __wb::Value<at::Tensor>::put(value);
    return 1;
}
inline int64_t __wb_note(const std::optional<at::Tensor>& value) {
    if (value.has_value() && value->defined()) __wb::Value<at::Tensor>::put(*value);
    else __wb_push_bool(false);
    return 1;
}
inline int64_t __wb_note(const at::TensorList& value) {
    for (size_t i = 0; i < value.size(); ++i) __wb::Value<at::Tensor>::put(value[i]);
    return value.size();
}
template <typename U> inline int64_t __wb_note(const U&) {
    __wb_push_bool(false);
    return 1;
}

// `struct F : Function<F>` with `forward(ctx, ..)` and `backward(ctx, grads)`; `F::apply(..)` is forward's result.
template <typename T> struct Function {
    static constexpr bool is_traceable = false;

    static void __wb_back(long) {
        auto* context = (AutogradContext*)__wb_context();
        variable_list grads = __wb::Value<variable_list>::get();
        __wb::Value<variable_list>::put(T::backward(context, grads));
    }

    template <typename... A> static auto apply(A&&... args) {
        int64_t n = (int64_t(0) + ... + __wb_note(args));
        __wb_push_list(n);
        __wb_run_op(__wb_host_op("function_begin"), 1);
        auto* context = new AutogradContext();
        const bool recorded = __wb_top_kind() != 0;
        if (recorded) context->__wb_needs(__wb::Value<std::vector<bool>>::get());
        else __wb_drop();
        auto result = T::forward(context, std::forward<A>(args)...);
        using R = decltype(result);
        if (!recorded) {
            __wb_run_op(__wb_host_op("function_leave"), 0);
            __wb_drop();
            delete context;
            return result;
        }
        __wb_note_context((void*)context);
        void (*back)(long) = &Function<T>::__wb_back;
        __wb_push_int(reinterpret_cast<long>(back));
        if constexpr (std::is_same_v<R, at::Tensor>) {
            __wb::Value<at::Tensor>::put(result);
            __wb_push_list(1);
        } else if constexpr (std::is_same_v<R, variable_list>) {
            __wb::Value<variable_list>::put(result);
        } else {
            __wb::fail(0, "", "torch::autograd::Function: forward gives a Tensor or a list of tensors");
        }
        context->__wb_put();
        __wb_run_op(__wb_host_op("function_end"), 6);
        if constexpr (std::is_same_v<R, variable_list>) {
            return __wb::Value<variable_list>::get();
        } else if constexpr (std::is_same_v<R, at::Tensor>) {
            __wb_pop_list();
            return __wb::Value<at::Tensor>::get();
        } else {
            return result;
        }
    }
};
}
using autograd::Variable;
}
