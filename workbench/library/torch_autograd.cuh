// `torch/csrc/autograd/custom_function.h`: functions with a backward. Calls run forward; what goes back is asked for by whoever
// registers it, so nothing is recorded here, and `backward` is a function that is called as any other.
namespace c10 {


// Whether operations would be recorded: state that may be asked for.
inline bool __wb_grad_mode = true;
struct GradMode {
    static bool is_enabled() { return __wb_grad_mode; }
    static void set_enabled(bool enabled) { __wb_grad_mode = enabled; }
};
struct AutoGradMode {
    bool before;
    AutoGradMode(bool enabled) : before(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
    ~AutoGradMode() { GradMode::set_enabled(before); }
};

}

namespace at {
using c10::GradMode;
using c10::AutoGradMode;
struct AutoNonVariableTypeMode {
    AutoNonVariableTypeMode(bool = true) {}
};
}

namespace torch {
namespace autograd {
using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using tensor_list = std::vector<at::Tensor>;
using c10::GradMode;
using c10::AutoGradMode;

// What forward leaves for backward.
struct AutogradContext {
    std::unordered_map<std::string, c10::IValue> saved_data;

    AutogradContext() {}
    void save_for_backward(variable_list to_save) { saved_ = to_save; }
    variable_list get_saved_variables() const { return saved_; }
    // What is written in place is written, and of what has no gradient none is taken: there is nothing to note.
    void mark_dirty(const variable_list&) {}
    void mark_non_differentiable(const variable_list&) {}
    void set_materialize_grads(bool) {}
    // Whoever calls backward wants what it gives.
    bool needs_input_grad(size_t) const { return true; }

private:
    variable_list saved_;
};

// `struct F : Function<F>` with `forward(ctx, ..)` and `backward(ctx, grads)`; `F::apply(..)` is forward's result.
template <typename T> struct Function {
    static constexpr bool is_traceable = false;
    template <typename... A> static auto apply(A&&... args) {
        AutogradContext context;
        return T::forward(&context, std::forward<A>(args)...);
    }
};
}
using autograd::Variable;
}
