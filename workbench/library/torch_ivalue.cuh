// `c10::IValue`, for functions of autograd and for operators with descriptors.
namespace c10 {

// A value whose type is known at run time.
class IValue {
    int kind_ = 0;
    double double_ = 0;
    int64_t int_ = 0;
    at::Tensor tensor_;
    std::string text_;
    std::vector<int64_t> ints_;
    std::vector<double> doubles_;
    std::vector<at::Tensor> tensors_;

    void expect(int kind, const char* name) const {
        if (kind_ != kind) __wb::fail(0, "", "Expected ", name, " but got ", tagKind());
    }

public:
    IValue() {}
    IValue(std::nullopt_t) {}
    IValue(const at::Tensor& value) : kind_(1), tensor_(value) {}
    IValue(double value) : kind_(2), double_(value) {}
    IValue(int64_t value) : kind_(3), int_(value) {}
    IValue(long long value) : kind_(3), int_(value) {}
    IValue(int value) : kind_(3), int_(value) {}
    IValue(bool value) : kind_(4), int_(value) {}
    IValue(ScalarType value) : kind_(3), int_((int64_t)value) {}
    IValue(const Scalar& value) : kind_(value.isFloatingPoint() ? 2 : value.isBoolean() ? 4 : 3), double_(value.toDouble()), int_(value.toLong()) {}
    IValue(const char* value) : kind_(5), text_(value) {}
    IValue(const std::string& value) : kind_(5), text_(value) {}
    IValue(const std::vector<int64_t>& value) : kind_(6), ints_(value) {}
    IValue(IntArrayRef value) : kind_(6), ints_(value.vec()) {}
    IValue(const std::vector<double>& value) : kind_(7), doubles_(value) {}
    IValue(ArrayRef<double> value) : kind_(7), doubles_(value.vec()) {}
    IValue(const std::vector<at::Tensor>& value) : kind_(8), tensors_(value) {}
    IValue(at::TensorList value) : kind_(8), tensors_(value.vec()) {}
    IValue(const std::vector<bool>& value) : kind_(9) {
        for (size_t i = 0; i < value.size(); ++i) ints_.push_back(value[i]);
    }
    IValue(const c10::Device& value) : kind_(10), double_(value.index()), int_((int64_t)value.type()) {}
    template <typename T> IValue(const std::optional<T>& value) {
        if (value.has_value()) *this = IValue(*value);
    }
    bool isNone() const { return kind_ == 0; }
    bool isTensor() const { return kind_ == 1; }
    bool isDouble() const { return kind_ == 2; }
    bool isInt() const { return kind_ == 3; }
    bool isBool() const { return kind_ == 4; }
    bool isScalar() const { return kind_ >= 2 && kind_ <= 4; }
    bool isString() const { return kind_ == 5; }
    bool isIntList() const { return kind_ == 6; }
    bool isDoubleList() const { return kind_ == 7; }
    bool isTensorList() const { return kind_ == 8; }
    bool isBoolList() const { return kind_ == 9; }
    bool isList() const { return kind_ >= 6 && kind_ <= 9; }
    bool isDevice() const { return kind_ == 10; }
    std::string tagKind() const {
        switch (kind_) {
            case 0: return "None";
            case 1: return "Tensor";
            case 2: return "Double";
            case 3: return "Int";
            case 4: return "Bool";
            case 5: return "String";
            case 10: return "Device";
            default: return "GenericList";
        }
    }
    const at::Tensor& toTensor() const {
        expect(1, "Tensor");
        return tensor_;
    }
    double toDouble() const {
        expect(2, "Double");
        return double_;
    }
    int64_t toInt() const {
        expect(3, "Int");
        return int_;
    }
    SymInt toSymInt() const { return toInt(); }
    bool toBool() const {
        expect(4, "Bool");
        return int_ != 0;
    }
    Scalar toScalar() const {
        if (!isScalar()) __wb::fail(0, "", "IValue is not a Scalar");
        return kind_ == 2 ? Scalar(double_) : kind_ == 4 ? Scalar(int_ != 0) : Scalar(int_);
    }
    ScalarType toScalarType() const { return (ScalarType)toInt(); }
    c10::Device toDevice() const {
        expect(10, "Device");
        return c10::Device((DeviceType)int_, (DeviceIndex)double_);
    }
    const std::string& toStringRef() const {
        expect(5, "String");
        return text_;
    }
    // The text that the result of `toString()` points at.
    struct __wb_constant_string {
        std::string text;
        const std::string& string() const { return text; }
        const __wb_constant_string* operator->() const { return this; }
    };
    __wb_constant_string toString() const { return __wb_constant_string{toStringRef()}; }
    std::vector<int64_t> toIntVector() const {
        expect(6, "IntList");
        return ints_;
    }
    std::vector<int64_t> toDimVector() const { return toIntVector(); }
    std::vector<double> toDoubleVector() const {
        expect(7, "DoubleList");
        return doubles_;
    }
    std::vector<at::Tensor> toTensorVector() const {
        expect(8, "TensorList");
        return tensors_;
    }
    std::vector<bool> toBoolVector() const {
        expect(9, "BoolList");
        std::vector<bool> made;
        for (size_t i = 0; i < ints_.size(); ++i) made.push_back(ints_[i] != 0);
        return made;
    }
    template <typename T> T to() const {
        if constexpr (std::is_same_v<T, at::Tensor>) return toTensor();
        else if constexpr (std::is_same_v<T, bool>) return toBool();
        else if constexpr (std::is_same_v<T, ScalarType>) return toScalarType();
        else if constexpr (std::is_same_v<T, Scalar>) return toScalar();
        else if constexpr (std::is_same_v<T, c10::Device>) return toDevice();
        else if constexpr (std::is_same_v<T, std::string>) return toStringRef();
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>) return toIntVector();
        else if constexpr (std::is_same_v<T, std::vector<double>>) return toDoubleVector();
        else if constexpr (std::is_same_v<T, std::vector<at::Tensor>>) return toTensorVector();
        else if constexpr (std::is_same_v<T, std::vector<bool>>) return toBoolVector();
        else if constexpr (std::is_floating_point_v<T>) return (T)toDouble();
        else return (T)toInt();
    }
    template <typename T> std::optional<T> toOptional() const {
        if (isNone()) return std::optional<T>();
        return std::optional<T>(to<T>());
    }
    std::vector<int64_t> toIntList() const { return toIntVector(); }
    std::vector<at::Tensor> toTensorList() const { return toTensorVector(); }
};

}

namespace at {
using c10::IValue;
}
