// The standard library's containers, for host code. Their memory is the run time's, which takes all of it back when the call ends.
namespace std {

template <typename T> class initializer_list {
    const T* begin_;
    size_t size_;

public:
    const T* begin() const { return begin_; }
    const T* end() const { return begin_ + size_; }
    size_t size() const { return size_; }
    // The function behind `std::max` and `std::min` of a list: the first of several equal ones.
    constexpr T __wb_max() const {
        const T* best = begin_;
        for (size_t i = 1; i < size_; i++)
            if (*best < begin_[i]) best = begin_ + i;
        return *best;
    }
    constexpr T __wb_min() const {
        const T* best = begin_;
        for (size_t i = 1; i < size_; i++)
            if (begin_[i] < *best) best = begin_ + i;
        return *best;
    }
};

// Elements from the last to the first.
template <typename T> struct __wb_reverse {
    T* at;
    T& operator*() const { return at[-1]; }
    T* operator->() const { return at - 1; }
    __wb_reverse& operator++() {
        --at;
        return *this;
    }
    __wb_reverse operator++(int) { return __wb_reverse{at--}; }
    __wb_reverse& operator--() {
        ++at;
        return *this;
    }
    __wb_reverse operator+(ptrdiff_t n) const { return __wb_reverse{at - n}; }
    ptrdiff_t operator-(const __wb_reverse& other) const { return other.at - at; }
    T& operator[](ptrdiff_t n) const { return at[-1 - n]; }
    bool operator==(const __wb_reverse& other) const { return at == other.at; }
    bool operator!=(const __wb_reverse& other) const { return at != other.at; }
    bool operator<(const __wb_reverse& other) const { return at > other.at; }
    T* base() const { return at; }
};
template <typename T> class vector {
    // The flag says that a constructor that an exception leaves destroys the parts made so far.
    static constexpr bool __wb_goes_in_parts = true;
    T* begin_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;

    void grow(size_t wanted) {
        if (wanted <= capacity_) return;
        reserve(wanted < 2 * capacity_ ? 2 * capacity_ : wanted);
    }
    // Elements are destroyed from the first on, as in GCC's library.
    void cut(size_t n) {
        size_t end = size_;
        if (n < end) size_ = n;
        if constexpr (__wb_has_destructor(*(T*)nullptr))
            for (size_t i = n; i < end; ++i) __wb_destroy(begin_ + i);
    }

public:
    using value_type = T;
    using size_type = size_t;
    using iterator = T*;
    using const_iterator = const T*;
    using reference = T&;
    using const_reference = const T&;

    vector() {}
    explicit vector(size_t n) { resize(n); }
    vector(size_t n, const T& value) { resize(n, value); }
    vector(initializer_list<T> list) { assign(list.begin(), list.end()); }
    template <typename U> vector(const U* first, const U* last) {
        reserve(last - first);
        for (; first != last; ++first) push_back((T)*first);
    }
    vector(const vector& other) { assign(other.begin(), other.end()); }
    vector(vector&& other) { swap(other); }
    ~vector() {
        clear();
        __wb_free(begin_);
    }
    vector& operator=(const vector& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    vector& operator=(vector&& other) {
        if (this != &other) {
            clear();
            swap(other);
        }
        return *this;
    }
    void assign(const T* first, const T* last) {
        clear();
        reserve(last - first);
        for (; first != last; ++first) push_back(*first);
    }
    void assign(size_t n, const T& value) {
        T copy(value);
        clear();
        resize(n, copy);
    }
    void reserve(size_t wanted) {
        if (wanted <= capacity_) return;
        if (wanted > ((size_t)1 << 40) / sizeof(T)) {
            if (wanted > ((size_t)1 << 63) / sizeof(T)) {
                __wb_push_c_string("vector: a size of more than max_size()");
                __wb_raise(81, 1);
            }
            __wb_push_c_string("vector: more than memory holds");
            __wb_raise(21, 1);
        }
        T* fresh = (T*)__wb_alloc(wanted * sizeof(T));
        if (size_ > 0) __builtin_memcpy((void*)fresh, (const void*)begin_, size_ * sizeof(T));
        __wb_free(begin_);
        begin_ = fresh;
        capacity_ = wanted;
    }
    void resize(size_t n) {
        cut(n);
        grow(n);
        for (; size_ < n; ++size_) __wb_construct(begin_ + size_, T());
    }
    void resize(size_t n, const T& value) {
        // The value may be an element of this vector.
        T copy(value);
        cut(n);
        grow(n);
        for (; size_ < n; ++size_) __wb_construct(begin_ + size_, T(copy));
    }
    void push_back(const T& value) {
        if (size_ < capacity_) {
            __wb_construct(begin_ + size_, T(value));
        } else {
            // The value may be an element of this vector, whose memory is freed.
            T copy(value);
            grow(size_ + 1);
            __wb_construct(begin_ + size_, T(std::move(copy)));
        }
        ++size_;
    }
    void push_back(T&& value) {
        if (size_ < capacity_) {
            __wb_construct(begin_ + size_, T(std::move(value)));
        } else {
            T held(std::move(value));
            grow(size_ + 1);
            __wb_construct(begin_ + size_, T(std::move(held)));
        }
        ++size_;
    }
    // The value may be an element of this vector, which the insertion moves.
    T* insert(const T* place, const T& value) { return insert(place, T(value)); }
    T* insert(const T* place, T&& value) {
        size_t at = place - begin_;
        T copy(std::move(value));
        grow(size_ + 1);
        __builtin_memmove((void*)(begin_ + at + 1), (const void*)(begin_ + at), (size_ - at) * sizeof(T));
        __wb_construct(begin_ + at, T(std::move(copy)));
        ++size_;
        return begin_ + at;
    }
    T* insert(const T* place, initializer_list<T> all) { return insert(place, all.begin(), all.end()); }
    template <typename U> T* insert(const T* place, const U* first, const U* last) {
        size_t at = place - begin_;
        for (size_t i = at; first != last; ++first, ++i) insert(begin_ + i, (T)*first);
        return begin_ + at;
    }
    T* erase(const T* place) { return erase(place, place + 1); }
    T* erase(const T* first, const T* last) {
        size_t at = first - begin_, n = last - first;
        for (size_t i = at; i < at + n; ++i) __wb_destroy(begin_ + i);
        __builtin_memmove((void*)(begin_ + at), (const void*)(begin_ + at + n), (size_ - at - n) * sizeof(T));
        size_ -= n;
        return begin_ + at;
    }
    void swap(vector& other) {
        std::swap(begin_, other.begin_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    template <typename... A> T& emplace_back(A&&... args) {
        push_back(T(std::forward<A>(args)...));
        return back();
    }
    void pop_back() {
        if (size_ == 0) {
            __wb_push_c_string("pop_back of an empty vector");
            __wb_raise(16, 1);
        }
        __wb_destroy(begin_ + --size_);
    }
    void clear() { cut(0); }
    T& operator[](size_t i) { return begin_[i]; }
    const T& operator[](size_t i) const { return begin_[i]; }
    T& at(size_t i) {
        check(i);
        return begin_[i];
    }
    const T& at(size_t i) const {
        check(i);
        return begin_[i];
    }
    void check(size_t i, const char* what = "vector::_M_range_check") const {
        if (i >= size_) {
            __wb_push_c_string(what);
            __wb_push_c_string(": __n (which is ");
            __wb_push_int(i);
            __wb_push_c_string(") >= this->size() (which is ");
            __wb_push_int(size_);
            __wb_push_c_string(")");
            __wb_raise(19, 6);
        }
    }
    T& front() { return begin_[0]; }
    const T& front() const { return begin_[0]; }
    T& back() { return begin_[size_ - 1]; }
    const T& back() const { return begin_[size_ - 1]; }
    T* data() { return begin_; }
    const T* data() const { return begin_; }
    T* begin() { return begin_; }
    T* end() { return begin_ + size_; }
    const T* begin() const { return begin_; }
    const T* end() const { return begin_ + size_; }
    const T* cbegin() const { return begin_; }
    const T* cend() const { return begin_ + size_; }
    __wb_reverse<T> rbegin() { return __wb_reverse<T>{end()}; }
    __wb_reverse<T> rend() { return __wb_reverse<T>{begin()}; }
    __wb_reverse<const T> rbegin() const { return __wb_reverse<const T>{end()}; }
    __wb_reverse<const T> rend() const { return __wb_reverse<const T>{begin()}; }
    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }
};
template <typename T> bool operator<(const vector<T>& a, const vector<T>& b) {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
        if (a[i] < b[i]) return true;
        if (b[i] < a[i]) return false;
    }
    return a.size() < b.size();
}
template <typename T> bool operator>(const vector<T>& a, const vector<T>& b) { return b < a; }
template <typename T> bool operator<=(const vector<T>& a, const vector<T>& b) { return !(b < a); }
template <typename T> bool operator>=(const vector<T>& a, const vector<T>& b) { return !(a < b); }
template <typename T> bool operator==(const vector<T>& a, const vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (!(a[i] == b[i])) return false;
    return true;
}
template <typename T> bool operator!=(const vector<T>& a, const vector<T>& b) { return !(a == b); }

class string {
    vector<char> text_;

public:
    static constexpr size_t npos = ~0ul;
    string() {}
    string(const char* text) {
        while (*text) text_.push_back(*text++);
    }
    string(const char* text, size_t n) : text_(text, text + n) {}
    string(size_t n, char c) : text_(n, c) {}
    string(const string& other) : text_(other.text_) {}
    string& operator=(const string& other) {
        text_ = other.text_;
        return *this;
    }
    __wb_reverse<char> rbegin() { return __wb_reverse<char>{end()}; }
    __wb_reverse<char> rend() { return __wb_reverse<char>{begin()}; }
    __wb_reverse<const char> rbegin() const { return __wb_reverse<const char>{end()}; }
    __wb_reverse<const char> rend() const { return __wb_reverse<const char>{begin()}; }
    size_t size() const { return text_.size(); }
    size_t length() const { return text_.size(); }
    bool empty() const { return text_.empty(); }
    const char* data() const { return text_.data(); }
    const char* c_str() const {
        string* self = (string*)this;
        self->text_.push_back('\0');
        self->text_.pop_back();
        return text_.data();
    }
    char& at(size_t i) {
        text_.check(i, "basic_string::at");
        return text_[i];
    }
    const char& at(size_t i) const {
        text_.check(i, "basic_string::at");
        return text_[i];
    }
    void reserve(size_t n) { text_.reserve(n); }
    void resize(size_t n, char c = 0) { text_.resize(n, c); }
    string& erase(size_t from, size_t n = npos) {
        if (from > size()) {
            __wb_push_c_string("basic_string::erase: __pos is past the end");
            __wb_raise(19, 1);
        }
        size_t left = size() - from;
        text_.erase(text_.begin() + from, text_.begin() + from + (n < left ? n : left));
        return *this;
    }
    size_t rfind(const string& what) const {
        for (size_t i = size() + 1; i > what.size(); --i)
            if (substr(i - 1 - what.size(), what.size()).compare(what) == 0) return i - 1 - what.size();
        return what.size() == 0 ? size() : npos;
    }
    bool starts_with(const string& what) const { return substr(0, what.size()).compare(what) == 0; }
    char& operator[](size_t i) { return text_[i]; }
    const char& operator[](size_t i) const { return text_[i]; }
    char* begin() { return text_.begin(); }
    char* end() { return text_.end(); }
    const char* begin() const { return text_.begin(); }
    const char* end() const { return text_.end(); }
    void push_back(char c) { text_.push_back(c); }
    void pop_back() { text_.pop_back(); }
    char* insert(const char* place, char c) { return text_.insert(place, c); }
    string& insert(size_t at, const string& other) {
        string end = substr(at);
        text_.resize(at);
        return append(other).append(end);
    }
    char& front() { return text_.front(); }
    char& back() { return text_.back(); }
    void clear() { text_.clear(); }
    string& append(const string& other) {
        size_t n = other.size();
        for (size_t i = 0; i < n; ++i) text_.push_back(other[i]);
        return *this;
    }
    string& operator+=(const string& other) { return append(other); }
    string& operator+=(char c) {
        text_.push_back(c);
        return *this;
    }
    int compare(const string& other) const {
        for (size_t i = 0; i < size() && i < other.size(); ++i)
            if (text_[i] != other[i]) return text_[i] < other[i] ? -1 : 1;
        return size() == other.size() ? 0 : size() < other.size() ? -1 : 1;
    }
    string substr(size_t from, size_t n = npos) const {
        if (from > size()) {
            __wb_push_c_string("basic_string::substr: __pos (which is ");
            __wb_push_int(from);
            __wb_push_c_string(") > this->size() (which is ");
            __wb_push_int(size());
            __wb_push_c_string(")");
            __wb_raise(19, 5);
        }
        size_t left = size() - from;
        return string(data() + from, n < left ? n : left);
    }
    size_t find(const string& what, size_t from = 0) const {
        for (size_t i = from; i + what.size() <= size(); ++i)
            if (substr(i, what.size()).compare(what) == 0) return i;
        return npos;
    }
};
inline string operator+(const string& a, const string& b) {
    string sum(a);
    return sum.append(b);
}
inline string operator+(const string& a, const char* b) { return a + string(b); }
inline string operator+(const char* a, const string& b) { return string(a) + b; }
inline string operator+(const string& a, char b) { return a + string(1, b); }
inline string operator+(char a, const string& b) { return string(1, a) + b; }
inline bool operator==(const string& a, const string& b) { return a.compare(b) == 0; }
inline bool operator==(const string& a, const char* b) { return a.compare(string(b)) == 0; }
inline bool operator!=(const string& a, const string& b) { return a.compare(b) != 0; }
inline bool operator!=(const string& a, const char* b) { return a.compare(string(b)) != 0; }
inline bool operator<(const string& a, const string& b) { return a.compare(b) < 0; }
inline bool operator>(const string& a, const string& b) { return a.compare(b) > 0; }
inline bool operator<=(const string& a, const string& b) { return a.compare(b) <= 0; }
inline bool operator>=(const string& a, const string& b) { return a.compare(b) >= 0; }
using string_view = string;
// The number that a text begins with, and its length.
inline void __wb_no_number(const char* name) {
    __wb_push_c_string(name);
    __wb_raise(17, 1);
}
inline void __wb_no_room(const char* name) {
    __wb_push_c_string(name);
    __wb_raise(19, 1);
}
inline double __wb_number(const string& text, size_t* used, bool single, const char* name) {
    size_t at = 0, n = text.size();
    while (at < n && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n')) ++at;
    size_t first = at, digits = 0;
    bool nothing = true;
    if (at < n && (text[at] == '-' || text[at] == '+')) ++at;
    for (; at < n && text[at] >= '0' && text[at] <= '9'; ++at, ++digits) nothing = nothing && text[at] == '0';
    if (at < n && text[at] == '.') {
        ++at;
        for (; at < n && text[at] >= '0' && text[at] <= '9'; ++at, ++digits) nothing = nothing && text[at] == '0';
    }
    if (digits == 0) __wb_no_number(name);
    if (at + 1 < n && (text[at] == 'e' || text[at] == 'E')) {
        size_t place = at + 1;
        if (text[place] == '-' || text[place] == '+') ++place;
        if (place < n && text[place] >= '0' && text[place] <= '9') {
            while (place < n && text[place] >= '0' && text[place] <= '9') ++place;
            at = place;
        }
    }
    if (used != nullptr) *used = at;
    __wb_push_text(text.data() + first, at - first);
    __wb_push_bool(single);
    __wb_run_op(__wb_host_op("number"), 2);
    double value = __wb_pop_float();
    // The result is infinity, or a zero whose digits are not zero.
    if (value - value != 0 || (value == 0 && !nothing)) __wb_no_room(name);
    return value;
}
inline double stod(const string& text, size_t* used = nullptr) {
    return __wb_number(text, used, false, "stod");
}
inline float stof(const string& text, size_t* used = nullptr) {
    return (float)__wb_number(text, used, true, "stof");
}
// An integer up to `most` in magnitude, one more if it is negative and `is_signed`.
inline unsigned long __wb_integer(const string& text, size_t* used, unsigned long most, bool is_signed, const char* name) {
    size_t at = 0, n = text.size();
    while (at < n && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n')) ++at;
    bool negative = at < n && text[at] == '-';
    if (at < n && (text[at] == '-' || text[at] == '+')) ++at;
    size_t first = at;
    unsigned long value = 0, limit = most + (is_signed && negative ? 1 : 0);
    bool fits = true;
    for (; at < n && text[at] >= '0' && text[at] <= '9'; ++at) {
        unsigned long digit = text[at] - '0';
        if (value > (limit - digit) / 10) fits = false;
        value = value * 10 + digit;
    }
    if (at == first) __wb_no_number(name);
    if (!fits) __wb_no_room(name);
    if (used != nullptr) *used = at;
    return negative ? 0 - value : value;
}
inline int stoi(const string& text, size_t* used = nullptr) { return (int)__wb_integer(text, used, 0x7ffffffful, true, "stoi"); }
inline long stol(const string& text, size_t* used = nullptr) {
    return (long)__wb_integer(text, used, 0x7ffffffffffffffful, true, "stol");
}
inline long long stoll(const string& text, size_t* used = nullptr) {
    return (long long)__wb_integer(text, used, 0x7ffffffffffffffful, true, "stoll");
}
inline unsigned long stoul(const string& text, size_t* used = nullptr) {
    return __wb_integer(text, used, 0xfffffffffffffffful, false, "stoul");
}
inline unsigned long long stoull(const string& text, size_t* used = nullptr) {
    return __wb_integer(text, used, 0xfffffffffffffffful, false, "stoull");
}
template <typename T> string to_string(T value) {
    if constexpr (__wb_is_enum(value)) return to_string((long long)value);
    else {
        __wb::Value<T>::put(value);
        __wb_run_op(__wb_host_op("to_string"), 1);
        return __wb::Value<string>::get();
    }
}

// True if a `T` is made of a `U` that is neither a `T` nor an optional.
template <typename T, typename U> struct __wb_makes {
    static constexpr bool value = !is_same_v<T, U> && __wb_is_made_of(*(T*)nullptr, *(const U*)nullptr);
};
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <typename T> class optional;
template <typename T, typename U> struct __wb_makes<T, optional<U>> { static constexpr bool value = false; };
template <typename T> struct __wb_makes<T, nullopt_t> { static constexpr bool value = false; };
template <typename T> class optional {
    bool has_ = false;
    alignas(T) unsigned char memory_[sizeof(T)];

    T* place() const { return (T*)memory_; }
    void make(const T& value) {
        __wb_construct(place(), T(value));
        has_ = true;
    }
    void take(T&& value) {
        __wb_construct(place(), T(std::move(value)));
        has_ = true;
    }

public:
    using value_type = T;
    optional() {}
    optional(nullopt_t) {}
    optional(const T& value) { make(value); }
    optional(T&& value) { take(std::move(value)); }
    template <typename U, typename = enable_if_t<__wb_makes<T, U>::value>> optional(const U& value) { take(T(value)); }
    optional(const optional& other) {
        if (other.has_) make(*other.place());
    }
    optional(optional&& other) {
        if (other.has_) take(std::move(*other.place()));
    }
    ~optional() { reset(); }
    optional& operator=(const optional& other) {
        if (this != &other) {
            reset();
            if (other.has_) make(*other.place());
        }
        return *this;
    }
    optional& operator=(optional&& other) {
        if (this != &other) {
            reset();
            if (other.has_) take(std::move(*other.place()));
        }
        return *this;
    }
    bool has_value() const { return has_; }
    explicit operator bool() const { return has_; }
    void check() const {
        if (!has_) {
            __wb_push_c_string("bad optional access: it holds nothing");
            __wb_raise(48, 1);
        }
    }
    T& value() {
        check();
        return *place();
    }
    const T& value() const {
        check();
        return *place();
    }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    template <typename U> T value_or(const U& other) const { return has_ ? *place() : (T)other; }
    void reset() {
        if (has_) __wb_destroy(place());
        has_ = false;
    }
    template <typename... A> T& emplace(A&&... args) {
        reset();
        __wb_construct(place(), T(std::forward<A>(args)...));
        has_ = true;
        return *place();
    }
};
template <typename T> struct __wb_is_optional { static constexpr bool value = false; };
template <typename T> struct __wb_is_optional<optional<T>> { static constexpr bool value = true; };
template <> struct __wb_is_optional<nullopt_t> { static constexpr bool value = true; };
// An empty optional comes before any value ([optional.relops]).
#define __WB_OPTIONAL(sign, both, left, right) \
    template <typename T, typename U> bool operator sign(const optional<T>& a, const optional<U>& b) { return both; } \
    template <typename T, typename U, typename = enable_if_t<!__wb_is_optional<U>::value>> \
    bool operator sign(const optional<T>& a, const U& b) { return left; } \
    template <typename T, typename U, typename = enable_if_t<!__wb_is_optional<T>::value>> \
    bool operator sign(const T& a, const optional<U>& b) { return right; } \
    template <typename T> bool operator sign(const optional<T>& a, nullopt_t) { return (int)a.has_value() sign 0; } \
    template <typename T> bool operator sign(nullopt_t, const optional<T>& b) { return 0 sign (int)b.has_value(); }
__WB_OPTIONAL(==, a.has_value() == b.has_value() && (!a.has_value() || *a == *b), a.has_value() && *a == b, b.has_value() && a == *b)
__WB_OPTIONAL(!=, a.has_value() != b.has_value() || (a.has_value() && *a != *b), !a.has_value() || *a != b, !b.has_value() || a != *b)
__WB_OPTIONAL(<, b.has_value() && (!a.has_value() || *a < *b), !a.has_value() || *a < b, b.has_value() && a < *b)
__WB_OPTIONAL(>, a.has_value() && (!b.has_value() || *a > *b), a.has_value() && *a > b, !b.has_value() || a > *b)
__WB_OPTIONAL(<=, !a.has_value() || (b.has_value() && *a <= *b), !a.has_value() || *a <= b, b.has_value() && a <= *b)
__WB_OPTIONAL(>=, !b.has_value() || (a.has_value() && *a >= *b), a.has_value() && *a >= b, !b.has_value() || a >= *b)
#undef __WB_OPTIONAL

template <typename... T> struct tuple;
template <> struct tuple<> {};
template <typename A> struct tuple<A> {
    A _0;
    tuple() : _0() {}
    tuple(const A& a) : _0(a) {}
    tuple(A&& a) : _0(std::forward<A>(a)) {}
};
template <typename A, typename B> struct tuple<A, B> {
    A _0;
    B _1;
    tuple() : _0(), _1() {}
    tuple(const A& a, const B& b) : _0(a), _1(b) {}
    template <typename U, typename V> tuple(U&& a, V&& b)
        : _0(std::forward<U>(a)), _1(std::forward<V>(b)) {}
};
template <typename A, typename B, typename C> struct tuple<A, B, C> {
    A _0;
    B _1;
    C _2;
    tuple() : _0(), _1(), _2() {}
    tuple(const A& a, const B& b, const C& c) : _0(a), _1(b), _2(c) {}
    template <typename U, typename V, typename W> tuple(U&& a, V&& b, W&& c)
        : _0(std::forward<U>(a)), _1(std::forward<V>(b)), _2(std::forward<W>(c)) {}
};
template <typename A, typename B, typename C, typename D> struct tuple<A, B, C, D> {
    A _0;
    B _1;
    C _2;
    D _3;
    tuple() : _0(), _1(), _2(), _3() {}
    tuple(const A& a, const B& b, const C& c, const D& d) : _0(a), _1(b), _2(c), _3(d) {}
    template <typename U, typename V, typename W, typename X> tuple(U&& a, V&& b, W&& c, X&& d)
        : _0(std::forward<U>(a)), _1(std::forward<V>(b)), _2(std::forward<W>(c)), _3(std::forward<X>(d)) {}
};
template <typename A, typename B, typename C, typename D, typename E> struct tuple<A, B, C, D, E> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    tuple() : _0(), _1(), _2(), _3(), _4() {}
    tuple(const A& a, const B& b, const C& c, const D& d, const E& e) : _0(a), _1(b), _2(c), _3(d), _4(e) {}
    template <typename U, typename V, typename W, typename X, typename Y> tuple(U&& a, V&& b, W&& c, X&& d, Y&& e)
        : _0(std::forward<U>(a)), _1(std::forward<V>(b)), _2(std::forward<W>(c)), _3(std::forward<X>(d)), _4(std::forward<Y>(e)) {}
};
template <typename A, typename B, typename C, typename D, typename E, typename F> struct tuple<A, B, C, D, E, F> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
    tuple() : _0(), _1(), _2(), _3(), _4(), _5() {}
    tuple(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f)
        : _0(a), _1(b), _2(c), _3(d), _4(e), _5(f) {}
    template <typename U, typename V, typename W, typename X, typename Y, typename Z> tuple(U&& a, V&& b, W&& c, X&& d, Y&& e, Z&& f)
        : _0(std::forward<U>(a)), _1(std::forward<V>(b)), _2(std::forward<W>(c)), _3(std::forward<X>(d)), _4(std::forward<Y>(e)), _5(std::forward<Z>(f)) {}
};
template <typename A, typename B, typename C, typename D, typename E, typename F, typename G> struct tuple<A, B, C, D, E, F, G> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
    G _6;
    tuple() : _0(), _1(), _2(), _3(), _4(), _5(), _6() {}
    tuple(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g)
        : _0(a), _1(b), _2(c), _3(d), _4(e), _5(f), _6(g) {}
    template <typename U, typename V, typename W, typename X, typename Y, typename Z, typename S> tuple(U&& a, V&& b, W&& c, X&& d, Y&& e, Z&& f, S&& g)
        : _0(std::forward<U>(a)), _1(std::forward<V>(b)), _2(std::forward<W>(c)), _3(std::forward<X>(d)), _4(std::forward<Y>(e)), _5(std::forward<Z>(f)), _6(std::forward<S>(g)) {}
};
template <typename A, typename B, typename C, typename D, typename E, typename F, typename G, typename H> struct tuple<A, B, C, D, E, F, G, H> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
    G _6;
    H _7;
    tuple() : _0(), _1(), _2(), _3(), _4(), _5(), _6(), _7() {}
    tuple(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h)
        : _0(a), _1(b), _2(c), _3(d), _4(e), _5(f), _6(g), _7(h) {}
    template <typename U, typename V, typename W, typename X, typename Y, typename Z, typename S, typename T> tuple(U&& a, V&& b, W&& c, X&& d, Y&& e, Z&& f, S&& g, T&& h)
        : _0(std::forward<U>(a)), _1(std::forward<V>(b)), _2(std::forward<W>(c)), _3(std::forward<X>(d)), _4(std::forward<Y>(e)), _5(std::forward<Z>(f)), _6(std::forward<S>(g)), _7(std::forward<T>(h)) {}
};
template <typename... T> tuple<decay_t<T>...> make_tuple(T&&... values) { return tuple<decay_t<T>...>(std::forward<T>(values)...); }
template <typename... T> tuple<remove_reference_t<T>&...> forward_as_tuple(T&&... values) {
    return tuple<remove_reference_t<T>&...>(values...);
}
template <size_t I, typename... T> auto& get(tuple<T...>& t) {
    if constexpr (I == 0) return t._0;
    else if constexpr (I == 1) return t._1;
    else if constexpr (I == 2) return t._2;
    else if constexpr (I == 3) return t._3;
    else if constexpr (I == 4) return t._4;
    else if constexpr (I == 5) return t._5;
    else if constexpr (I == 6) return t._6;
    else return t._7;
}
template <size_t I, typename... T> const auto& get(const tuple<T...>& t) {
    if constexpr (I == 0) return t._0;
    else if constexpr (I == 1) return t._1;
    else if constexpr (I == 2) return t._2;
    else if constexpr (I == 3) return t._3;
    else if constexpr (I == 4) return t._4;
    else if constexpr (I == 5) return t._5;
    else if constexpr (I == 6) return t._6;
    else return t._7;
}

template <size_t I, typename... T> auto&& get(tuple<T...>&& t) { return std::move(std::get<I>(t)); }

template <typename T> struct tuple_size;
template <typename... T> struct tuple_size<tuple<T...>> { static constexpr size_t value = sizeof...(T); };

// `tie(a, b) = f()`
struct __wb_ignore {
    template <typename T> const __wb_ignore& operator=(const T&) const { return *this; }
};
inline constexpr __wb_ignore ignore{};
template <typename... T> struct __wb_tied {
    void* places[sizeof...(T)];
    template <typename V, size_t... I> void set(const V& values, index_sequence<I...>) const {
        ((*(T*)places[I] = get<I>(values)), ...);
    }
    template <size_t... I> tuple<remove_cv_t<T>...> read(index_sequence<I...>) const {
        return tuple<remove_cv_t<T>...>(*(T*)places[I]...);
    }
    tuple<remove_cv_t<T>...> values() const { return read(index_sequence_for<T...>()); }
    template <typename... U> const __wb_tied& operator=(const tuple<U...>& values) const {
        set(values, index_sequence_for<T...>());
        return *this;
    }
    template <typename A, typename B> const __wb_tied& operator=(const pair<A, B>& values) const {
        return *this = tuple<A, B>(values.first, values.second);
    }
};
// Tuples are ordered by their first elements that differ.
template <size_t I = 0, typename... T> bool __wb_tuple_less(const tuple<T...>& a, const tuple<T...>& b) {
    if constexpr (I == sizeof...(T)) {
        return false;
    } else {
        if (get<I>(a) < get<I>(b)) return true;
        if (get<I>(b) < get<I>(a)) return false;
        return __wb_tuple_less<I + 1>(a, b);
    }
}
template <size_t I = 0, typename... T> bool __wb_tuple_equal(const tuple<T...>& a, const tuple<T...>& b) {
    if constexpr (I == sizeof...(T)) return true;
    else return get<I>(a) == get<I>(b) && __wb_tuple_equal<I + 1>(a, b);
}
template <typename... T> bool operator==(const tuple<T...>& a, const tuple<T...>& b) { return __wb_tuple_equal(a, b); }
template <typename... T> bool operator!=(const tuple<T...>& a, const tuple<T...>& b) { return !__wb_tuple_equal(a, b); }
template <typename... T> bool operator<(const tuple<T...>& a, const tuple<T...>& b) { return __wb_tuple_less(a, b); }
template <typename... T> bool operator>(const tuple<T...>& a, const tuple<T...>& b) { return __wb_tuple_less(b, a); }
template <typename... T> bool operator<=(const tuple<T...>& a, const tuple<T...>& b) { return !__wb_tuple_less(b, a); }
template <typename... T> bool operator>=(const tuple<T...>& a, const tuple<T...>& b) { return !__wb_tuple_less(a, b); }
template <typename... T> bool operator==(const __wb_tied<T...>& a, const __wb_tied<T...>& b) { return a.values() == b.values(); }
template <typename... T> bool operator!=(const __wb_tied<T...>& a, const __wb_tied<T...>& b) { return a.values() != b.values(); }
template <typename... T> bool operator<(const __wb_tied<T...>& a, const __wb_tied<T...>& b) { return a.values() < b.values(); }
template <typename... T> bool operator>(const __wb_tied<T...>& a, const __wb_tied<T...>& b) { return b.values() < a.values(); }
template <typename... T> __wb_tied<T...> tie(T&... places) { return __wb_tied<T...>{{(void*)&places...}}; }

// Exceptions that end a call, by Python's classes as in pybind11: the number is the run time's.
#define __WB_EXCEPTION(name, base, kind) \
    struct name : base { \
        static constexpr int __wb_kind = kind; \
        explicit name(const char* what) : base(what) {} \
        explicit name(const string& what) : base(what) {} \
    };
struct exception {
    static constexpr int __wb_kind = 0;
    string __wb_what;
    exception() : __wb_what("std::exception") {}
    exception(const char* what) : __wb_what(what) {}
    exception(const string& what) : __wb_what(what) {}
    const char* what() const { return __wb_what.c_str(); }
};
__WB_EXCEPTION(runtime_error, exception, 0)
__WB_EXCEPTION(logic_error, exception, 0)
__WB_EXCEPTION(invalid_argument, logic_error, 1)
__WB_EXCEPTION(domain_error, logic_error, 1)
__WB_EXCEPTION(length_error, logic_error, 1)
__WB_EXCEPTION(out_of_range, logic_error, 3)
__WB_EXCEPTION(range_error, runtime_error, 1)
__WB_EXCEPTION(overflow_error, runtime_error, 6)
__WB_EXCEPTION(underflow_error, runtime_error, 0)
#undef __WB_EXCEPTION
#define __WB_BAD(name, kind) \
    struct name : exception { \
        static constexpr int __wb_kind = kind; \
        name() : exception("std::" #name) {} \
    };
__WB_BAD(bad_alloc, 5)
__WB_BAD(bad_cast, 0)
__WB_BAD(bad_function_call, 0)
__WB_BAD(bad_optional_access, 0)
#undef __WB_BAD
[[noreturn]] inline void terminate() {
    __wb_push_c_string("std::terminate was called");
    __wb_raise(32, 1);
}

// A map sorted by key, in one block of memory.
template <typename K, typename V> class map {
public:
    using value_type = pair<K, V>;
    using key_type = K;
    using mapped_type = V;
    using iterator = pair<K, V>*;
    using const_iterator = const pair<K, V>*;

private:
    vector<value_type> all_;

public:
    map() {}
    map(initializer_list<value_type> list) {
        for (const value_type& entry : list) insert(entry);
    }
    iterator begin() { return all_.begin(); }
    iterator end() { return all_.end(); }
    const_iterator begin() const { return all_.begin(); }
    const_iterator end() const { return all_.end(); }
    __wb_reverse<value_type> rbegin() { return __wb_reverse<value_type>{end()}; }
    __wb_reverse<value_type> rend() { return __wb_reverse<value_type>{begin()}; }
    __wb_reverse<const value_type> rbegin() const { return __wb_reverse<const value_type>{end()}; }
    __wb_reverse<const value_type> rend() const { return __wb_reverse<const value_type>{begin()}; }
    size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    void clear() { all_.clear(); }
    size_t __wb_place(const K& key) const {
        size_t low = 0, high = all_.size();
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (all_[middle].first < key) low = middle + 1;
            else high = middle;
        }
        return low;
    }
    bool contains(const K& key) const {
        size_t at = __wb_place(key);
        return at < all_.size() && !(key < all_[at].first);
    }
    size_t count(const K& key) const { return contains(key) ? 1 : 0; }
    iterator find(const K& key) { return contains(key) ? begin() + __wb_place(key) : end(); }
    const_iterator find(const K& key) const { return contains(key) ? begin() + __wb_place(key) : end(); }
    iterator lower_bound(const K& key) { return begin() + __wb_place(key); }
    iterator upper_bound(const K& key) { return begin() + __wb_place(key) + contains(key); }
    const_iterator lower_bound(const K& key) const { return begin() + __wb_place(key); }
    const_iterator upper_bound(const K& key) const { return begin() + __wb_place(key) + contains(key); }
    V& operator[](const K& key) {
        size_t at = __wb_place(key);
        if (__wb_is_new(at, key)) all_.insert(all_.begin() + at, value_type(key, V()));
        return all_[at].second;
    }
    bool __wb_is_new(size_t at, const K& key) const { return at == all_.size() || key < all_[at].first; }
    V& at(const K& key) {
        check(key);
        return all_[__wb_place(key)].second;
    }
    const V& at(const K& key) const {
        check(key);
        return all_[__wb_place(key)].second;
    }
    void check(const K& key) const {
        if (!contains(key)) {
            __wb_push_c_string("map::at");
            __wb_raise(19, 1);
        }
    }
    pair<iterator, bool> insert(const value_type& entry) {
        size_t at = __wb_place(entry.first);
        bool fresh = __wb_is_new(at, entry.first);
        if (fresh) all_.insert(all_.begin() + at, entry);
        return pair<iterator, bool>(begin() + at, fresh);
    }
    pair<iterator, bool> insert(value_type&& entry) {
        size_t at = __wb_place(entry.first);
        bool fresh = __wb_is_new(at, entry.first);
        if (fresh) all_.insert(all_.begin() + at, std::move(entry));
        return pair<iterator, bool>(begin() + at, fresh);
    }
    template <typename A, typename B> pair<iterator, bool> emplace(A&& key, B&& value) {
        return insert(value_type(K(std::forward<A>(key)), V(std::forward<B>(value))));
    }
    template <typename... A> pair<iterator, bool> try_emplace(const K& key, A&&... args) {
        size_t at = __wb_place(key);
        bool fresh = __wb_is_new(at, key);
        if (fresh) all_.insert(all_.begin() + at, value_type(key, V(std::forward<A>(args)...)));
        return pair<iterator, bool>(begin() + at, fresh);
    }
    template <typename B> pair<iterator, bool> insert_or_assign(const K& key, B&& value) {
        bool fresh = !contains(key);
        (*this)[key] = std::forward<B>(value);
        return pair<iterator, bool>(begin() + __wb_place(key), fresh);
    }
    iterator erase(const_iterator place) { return all_.erase(place); }
    size_t erase(const K& key) {
        if (!contains(key)) return 0;
        all_.erase(all_.begin() + __wb_place(key));
        return 1;
    }
};
template <typename K, typename V> using unordered_map = map<K, V>;
// A map with several values per key, in the order in which they came.
template <typename K, typename V> class multimap {
    vector<pair<K, V>> all_;

public:
    using value_type = pair<K, V>;
    using iterator = value_type*;
    using const_iterator = const value_type*;
    multimap() {}
    iterator begin() { return all_.begin(); }
    iterator end() { return all_.end(); }
    const_iterator begin() const { return all_.begin(); }
    const_iterator end() const { return all_.end(); }
    size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    void clear() { all_.clear(); }
    size_t __wb_place(const K& key, bool after) const {
        size_t low = 0, high = all_.size();
        while (low < high) {
            size_t middle = (low + high) / 2;
            bool below = after ? !(key < all_[middle].first) : all_[middle].first < key;
            if (below) low = middle + 1;
            else high = middle;
        }
        return low;
    }
    iterator lower_bound(const K& key) { return begin() + __wb_place(key, false); }
    iterator upper_bound(const K& key) { return begin() + __wb_place(key, true); }
    pair<iterator, iterator> equal_range(const K& key) {
        return pair<iterator, iterator>(lower_bound(key), upper_bound(key));
    }
    size_t count(const K& key) const { return __wb_place(key, true) - __wb_place(key, false); }
    iterator find(const K& key) { return count(key) > 0 ? lower_bound(key) : end(); }
    iterator insert(const value_type& entry) { return insert(value_type(entry)); }
    iterator insert(value_type&& entry) {
        size_t at = __wb_place(entry.first, true);
        all_.insert(all_.begin() + at, std::move(entry));
        return begin() + at;
    }
    template <typename A, typename B> iterator emplace(A&& key, B&& value) {
        return insert(value_type(K(std::forward<A>(key)), V(std::forward<B>(value))));
    }
    iterator erase(const_iterator place) { return all_.erase(place); }
};
template <typename K, typename V> using unordered_multimap = multimap<K, V>;
template <typename K> class set {
    vector<K> all_;

public:
    using value_type = K;
    using const_iterator = const K*;
    set() {}
    set(initializer_list<K> list) {
        for (const K& key : list) insert(key);
    }
    template <typename U> set(const U* first, const U* last) {
        for (; first != last; ++first) insert(*first);
    }
    const K* begin() const { return all_.begin(); }
    const K* end() const { return all_.end(); }
    __wb_reverse<const K> rbegin() const { return __wb_reverse<const K>{end()}; }
    __wb_reverse<const K> rend() const { return __wb_reverse<const K>{begin()}; }
    size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    void clear() { all_.clear(); }
    size_t __wb_place(const K& key) const {
        size_t low = 0, high = all_.size();
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (all_[middle] < key) low = middle + 1;
            else high = middle;
        }
        return low;
    }
    bool contains(const K& key) const {
        size_t at = __wb_place(key);
        return at < all_.size() && !(key < all_[at]);
    }
    size_t count(const K& key) const { return contains(key) ? 1 : 0; }
    const K* lower_bound(const K& key) const { return begin() + __wb_place(key); }
    const K* upper_bound(const K& key) const { return begin() + __wb_place(key) + contains(key); }
    const K* find(const K& key) const { return contains(key) ? begin() + __wb_place(key) : end(); }
    pair<const K*, bool> insert(const K& key) {
        size_t at = __wb_place(key);
        bool fresh = at == all_.size() || key < all_[at];
        if (fresh) all_.insert(all_.begin() + at, key);
        return pair<const K*, bool>(begin() + at, fresh);
    }
    pair<const K*, bool> insert(K&& key) {
        size_t at = __wb_place(key);
        bool fresh = at == all_.size() || key < all_[at];
        if (fresh) all_.insert(all_.begin() + at, std::move(key));
        return pair<const K*, bool>(begin() + at, fresh);
    }
    const K* erase(const K* place) { return all_.erase(place); }
    template <typename A> pair<const K*, bool> emplace(A&& key) { return insert(K(std::forward<A>(key))); }
    size_t erase(const K& key) {
        if (!contains(key)) return 0;
        all_.erase(all_.begin() + __wb_place(key));
        return 1;
    }
};
template <typename K> using unordered_set = set<K>;

inline int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
inline int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
inline int isdigit(int c) { return c >= '0' && c <= '9'; }
inline int isspace(int c) { return c == ' ' || (c >= 9 && c <= 13); }
inline int isalpha(int c) { return tolower(c) >= 'a' && tolower(c) <= 'z'; }
inline int isalnum(int c) { return isalpha(c) || isdigit(c); }

// Algorithms on ranges of pointers.
template <typename I, typename F> void sort(I first, I last, F less) {
    // Heap sort: in place, and never slower than n log n.
    size_t n = last - first;
    auto sift = [&](size_t root, size_t end) {
        while (2 * root + 1 < end) {
            size_t child = 2 * root + 1;
            if (child + 1 < end && less(first[child], first[child + 1])) ++child;
            if (!less(first[root], first[child])) return;
            std::swap(first[root], first[child]);
            root = child;
        }
    };
    for (size_t i = n / 2; i > 0; --i) sift(i - 1, n);
    for (size_t end = n; end > 1; --end) {
        std::swap(first[0], first[end - 1]);
        sift(0, end - 1);
    }
}
template <typename I> void sort(I first, I last) {
    std::sort(first, last, [](const auto& a, const auto& b) { return a < b; });
}
template <typename I, typename F> void stable_sort(I first, I last, F less) {
    // Runs of 1, 2, 4, .. elements are merged by way of a copy.
    using T = decay_t<decltype(*first)>;
    size_t n = last - first;
    vector<T> copy;
    copy.reserve(n);
    for (size_t i = 0; i < n; ++i) copy.push_back(first[i]);
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t from = 0; from < n; from += 2 * run) {
            size_t middle = from + run < n ? from + run : n;
            size_t end = middle + run < n ? middle + run : n;
            size_t a = from, b = middle;
            for (size_t i = from; i < end; ++i) {
                bool second = a == middle || (b < end && less(first[b], first[a]));
                size_t place = second ? b++ : a++;
                copy[i] = first[place];
            }
        }
        for (size_t i = 0; i < n; ++i) first[i] = copy[i];
    }
}
template <typename I> void stable_sort(I first, I last) {
    std::stable_sort(first, last, [](const auto& a, const auto& b) { return a < b; });
}
template <typename I, typename T, typename F> T accumulate(I first, I last, T sum, F op) {
    for (; first != last; ++first) sum = op(sum, *first);
    return sum;
}
template <typename I, typename T> T accumulate(I first, I last, T sum) {
    for (; first != last; ++first) sum = sum + *first;
    return sum;
}
template <typename I, typename J, typename T> T inner_product(I first, I last, J other, T sum) {
    for (; first != last; ++first, ++other) sum = sum + *first * *other;
    return sum;
}
template <typename I, typename O> O partial_sum(I first, I last, O out) {
    if (first == last) return out;
    auto sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = sum + *first;
    return ++out;
}
template <typename I, typename T> void fill(I first, I last, const T& value) {
    for (; first != last; ++first) *first = value;
}
template <typename I, typename N, typename T> I fill_n(I first, N n, const T& value) {
    for (; n > 0; --n, ++first) *first = value;
    return first;
}
template <typename I, typename O> O copy(I first, I last, O out) {
    for (; first != last; ++first, ++out) *out = *first;
    return out;
}
template <typename I, typename N, typename O> O copy_n(I first, N n, O out) {
    for (; n > 0; --n, ++first, ++out) *out = *first;
    return out;
}
template <typename I, typename T> void iota(I first, I last, T value) {
    for (; first != last; ++first, ++value) *first = value;
}
template <typename I, typename O, typename F> O transform(I first, I last, O out, F f) {
    for (; first != last; ++first, ++out) *out = f(*first);
    return out;
}
template <typename I, typename J, typename O, typename F> O transform(I first, I last, J other, O out, F f) {
    for (; first != last; ++first, ++other, ++out) *out = f(*first, *other);
    return out;
}
template <typename I, typename F> F for_each(I first, I last, F f) {
    for (; first != last; ++first) f(*first);
    return f;
}
template <typename I, typename T> void replace(I first, I last, const T& old, const T& value) {
    for (; first != last; ++first) {
        if (*first == old) *first = value;
    }
}
template <typename I, typename F, typename T> void replace_if(I first, I last, F is_so, const T& value) {
    for (; first != last; ++first) {
        if (is_so(*first)) *first = value;
    }
}
template <typename I> void reverse(I first, I last) {
    while (first != last && first != --last) {
        std::swap(*first, *last);
        ++first;
    }
}
template <typename I, typename T> I find(I first, I last, const T& value) {
    while (first != last && !(*first == value)) ++first;
    return first;
}
template <typename I, typename F> I find_if(I first, I last, F f) {
    while (first != last && !f(*first)) ++first;
    return first;
}
template <typename I, typename T> int64_t count(I first, I last, const T& value) {
    int64_t n = 0;
    for (; first != last; ++first) n += *first == value;
    return n;
}
template <typename I, typename F> int64_t count_if(I first, I last, F f) {
    int64_t n = 0;
    for (; first != last; ++first) n += f(*first) ? 1 : 0;
    return n;
}
template <typename I, typename F> bool any_of(I first, I last, F f) { return std::find_if(first, last, f) != last; }
template <typename I, typename F> bool none_of(I first, I last, F f) { return std::find_if(first, last, f) == last; }
template <typename I, typename F> bool all_of(I first, I last, F f) { return std::count_if(first, last, f) == last - first; }
template <typename I> int64_t distance(I first, I last) { return last - first; }
template <typename I> I next(I at, int64_t n = 1) { return at + n; }
template <typename I> I prev(I at, int64_t n = 1) { return at - n; }
template <typename I, typename T> I lower_bound(I first, I last, const T& value) {
    while (first != last) {
        I middle = first + (last - first) / 2;
        if (*middle < value) first = middle + 1;
        else last = middle;
    }
    return first;
}
template <typename I, typename T> I upper_bound(I first, I last, const T& value) {
    while (first != last) {
        I middle = first + (last - first) / 2;
        if (value < *middle) last = middle;
        else first = middle + 1;
    }
    return first;
}
template <typename I, typename T> bool binary_search(I first, I last, const T& value) {
    I at = std::lower_bound(first, last, value);
    return at != last && !(value < *at);
}
template <typename I> I unique(I first, I last) {
    if (first == last) return last;
    I kept = first;
    while (++first != last)
        if (!(*kept == *first)) *++kept = *first;
    return ++kept;
}
template <typename I, typename O, typename F> O copy_if(I first, I last, O out, F f) {
    for (; first != last; ++first) {
        if (f(*first)) {
            *out = *first;
            ++out;
        }
    }
    return out;
}
template <typename I, typename T> I remove(I first, I last, const T& value) {
    T wanted(value);
    I kept = first;
    for (; first != last; ++first)
        if (!(*first == wanted)) *kept++ = *first;
    return kept;
}
template <typename I, typename F> I remove_if(I first, I last, F f) {
    I kept = first;
    for (; first != last; ++first)
        if (!f(*first)) *kept++ = *first;
    return kept;
}
template <typename I> void nth_element(I first, I, I last) { std::sort(first, last); }
template <typename I, typename F> void nth_element(I first, I, I last, F less) { std::sort(first, last, less); }
template <typename I> void partial_sort(I first, I, I last) { std::sort(first, last); }
template <typename I, typename F> void partial_sort(I first, I, I last, F less) { std::sort(first, last, less); }
template <typename I> I max_element(I first, I last) {
    I best = first;
    for (; first != last; ++first)
        if (*best < *first) best = first;
    return best;
}
template <typename I> I min_element(I first, I last) {
    I best = first;
    for (; first != last; ++first)
        if (*first < *best) best = first;
    return best;
}

}

// The end of a call by `throw`.
template <typename E> inline void __wb_throw(const E& e) {
    if constexpr (__wb_is_derived(*(E*)nullptr, *(std::exception*)nullptr)) {
        __wb_push_c_string(e.what());
        __wb_raise(E::__wb_kind, 1);
    } else {
        __wb_push_c_string("Caught an unknown exception!");
        __wb_raise(0, 1);
    }
}
inline void __wb_throw() {
    __wb_push_c_string("std::terminate: `throw` without anything to throw");
    __wb_raise(32, 1);
}

template <typename T> inline void __wb_destroy_thrown(void* object) { __wb_delete((T*)object); }

// The same in a text with handlers, which see the object. `what` is called once, on the thrown object: its bases give the same answer.
template <typename E> inline void __wb_throw_object(E&& e) {
    using T = std::decay_t<E>;
    T* object = __wb_room<T>(1);
    __wb_construct(object, T(std::forward<E>(e)));
    if constexpr (__wb_is_derived(*(T*)nullptr, *(std::exception*)nullptr)) {
        std::string what(object->what());
        ((std::exception*)object)->__wb_what = what;
    }
    __wb_thrown(object, (const void*)&__wb_destroy_thrown<T>);
    __wb_throw(*object);
}
inline void __wb_throw_object() { __wb_rethrow(); }

// The end of a handler.
inline void __wb_handled() {
    void* object = __wb_end_catch();
    if (object == nullptr) return;
    void (*destroy)(void*) = (void (*)(void*))__wb_destroyer();
    destroy(object);
}

// Objects for exceptions that the run time raises by a number.
template <typename E> inline void __wb_embody_as(const std::string& what) {
    __wb_embody(__wb_new<E>(what), (const void*)&__wb_destroy_thrown<E>);
}
template <typename E> inline void __wb_embody_bad() { __wb_embody(__wb_new<E>(), (const void*)&__wb_destroy_thrown<E>); }
template <bool> struct __wb_raised {
    static void embody(int64_t, const std::string& what) { __wb_embody_as<std::runtime_error>(what); }
};
inline void __wb_land() {
    int64_t kind = __wb_caught_kind();
    if (kind < 0) return;
    __wb_caught_text();
    int64_t size = __wb_text_size();
    const char* text = (const char*)__wb_pop_text();
    std::string what(text, size);
    __wb_free(text);
    switch (kind) {
        case 48: return __wb_embody_bad<std::bad_optional_access>();
        case 64: return __wb_embody_bad<std::bad_function_call>();
        case 81: return __wb_embody_as<std::length_error>(what);
        case 16: return __wb_embody_as<std::runtime_error>(what);
        case 17: return __wb_embody_as<std::invalid_argument>(what);
        case 19: return __wb_embody_as<std::out_of_range>(what);
        case 21: return __wb_embody_bad<std::bad_alloc>();
        case 22: return __wb_embody_as<std::overflow_error>(what);
        default: return __wb_raised<true>::embody(kind, what);
    }
}

// Arguments of `snprintf` and its like: numbers as they are, texts by their addresses, other pointers as addresses.
template <typename T> inline void __wb_put_formatted(T value) {
    if constexpr (std::is_same_v<T, const char*> || std::is_same_v<T, char*>) {
        if (value == nullptr) {
            __wb_push_none();
        } else {
            __wb_push_int(reinterpret_cast<long>(value));
            __wb_push_c_string(value);
            __wb_push_tuple(2);
        }
    } else if constexpr (std::is_pointer_v<T>) {
        __wb_push_int(reinterpret_cast<long>(value));
        __wb_push_tuple(1);
    } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
        __wb_push_none();
    } else if constexpr (std::is_floating_point_v<T>) {
        __wb_push_float(value);
    } else {
        __wb_push_int((long)value);
    }
}

namespace std {

template <typename... A> inline int snprintf(char* out, size_t size, const char* format, A... args) {
    __wb_push_c_string(format);
    (__wb_put_formatted<A>(args), ...);
    __wb_run_op(__wb_host_op("format"), 1 + sizeof...(A));
    size_t n = __wb_text_size();
    const char* text = (const char*)__wb_pop_text();
    if (size > 0) {
        size_t kept = n < size - 1 ? n : size - 1;
        for (size_t i = 0; i < kept; ++i) out[i] = text[i];
        out[kept] = 0;
    }
    __wb_free(text);
    return (int)n;
}
template <typename... A> inline int sprintf(char* out, const char* format, A... args) {
    return std::snprintf(out, (size_t)1 << 62, format, args...);
}

// Templates are used, so that a text's own functions of these names are preferred.
template <typename T> inline size_t strlen(const T* text) {
    size_t n = 0;
    while (text[n] != 0) ++n;
    return n;
}
template <typename T> inline int strncmp(const T* a, const T* b, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
        if (a[i] == 0) return 0;
    }
    return 0;
}
template <typename T> inline int strcmp(const T* a, const T* b) { return std::strncmp(a, b, ~(size_t)0); }
template <typename T> inline T* strcpy(T* to, const T* from) {
    size_t i = 0;
    for (; from[i] != 0; ++i) to[i] = from[i];
    to[i] = 0;
    return to;
}


// The C library's heap: memory of the call, as for all host code.
template <typename N> inline void* malloc(N bytes) { return __wb_alloc_from((int64_t)bytes, 0); }
template <typename N, typename M> inline void* calloc(N count, M bytes) {
    if (bytes != 0 && (size_t)count > ((size_t)1 << 40) / (size_t)bytes) return nullptr;
    void* made = __wb_alloc_from((int64_t)(count * bytes), 0);
    if (made != nullptr) __builtin_memset(made, 0, count * bytes);
    return made;
}
template <typename T> inline void free(T* memory) { __wb_free((const void*)memory); }
inline void free(nullptr_t) {}
template <typename T, typename N> inline void* realloc(T* memory, N bytes) {
    void* made = __wb_alloc_from((int64_t)bytes, 0);
    if (made != nullptr && memory != nullptr) {
        int64_t old = __wb_block_size((const void*)memory);
        __builtin_memcpy(made, (const void*)memory, old < (int64_t)bytes ? old : (int64_t)bytes);
        __wb_free((const void*)memory);
    }
    return made;
}

// The process goes on; the call ends.
inline void exit(int status) {
    __wb_push_c_string("exit(");
    __wb_push_int(status);
    __wb_push_c_string(") was called");
    __wb_raise(32, 3);
}
inline void abort() {
    __wb_push_c_string("abort() was called");
    __wb_raise(32, 1);
}

// The generator given as an example in the C standard.
inline unsigned long __wb_rand_state = 1;
inline void srand(unsigned int seed) { __wb_rand_state = seed; }
inline int rand() {
    __wb_rand_state = __wb_rand_state * 1103515245ul + 12345ul;
    return (int)(__wb_rand_state / 65536ul % 32768ul);
}
// Seconds since 1970.
using time_t = long;
inline time_t time(time_t* out) {
    __wb_run_op(__wb_host_op("time"), 0);
    time_t now = __wb_pop_int();
    if (out != nullptr) *out = now;
    return now;
}
inline double atof(const char* text) {
    while (*text == ' ' || *text == '\t' || *text == '\n') ++text;
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') ++text;
    double value = 0, scale = 1;
    while (*text >= '0' && *text <= '9') value = value * 10 + (*text++ - '0');
    if (*text == '.') {
        ++text;
        while (*text >= '0' && *text <= '9') {
            value = value * 10 + (*text++ - '0');
            scale *= 10;
        }
    }
    int exponent = 0;
    if (*text == 'e' || *text == 'E') {
        ++text;
        bool down = *text == '-';
        if (*text == '-' || *text == '+') ++text;
        while (*text >= '0' && *text <= '9' && exponent < 1000) exponent = exponent * 10 + (*text++ - '0');
        if (down) exponent = -exponent;
    }
    value = exponent == 0 ? value / scale : value / scale * ::pow(10.0, (double)exponent);
    return negative ? -value : value;
}
inline int atoi(const char* text) { return (int)atof(text); }
inline int puts(const char* text) { return printf("%s\n", text); }
inline int putchar(int c) {
    printf("%c", c);
    return c;
}
}
using std::abort;
using std::atof;
using std::atoi;
using std::calloc;
using std::exit;
using std::free;
using std::malloc;
using std::putchar;
using std::puts;
using std::rand;
using std::realloc;
using std::srand;
using std::time;
using std::time_t;
using std::snprintf;
using std::sprintf;
using std::strcmp;
using std::strcpy;
using std::strlen;
using std::strncmp;

// `new` and `delete`
template <typename T> inline T* __wb_room(size_t count) {
    if (count > ((size_t)1 << 40) / sizeof(T)) {
        __wb_push_c_string("new: an array of more than memory holds");
        __wb_raise(21, 1);
    }
    return (T*)__wb_alloc((int64_t)(count * sizeof(T)));
}
template <typename T, typename... A> inline T* __wb_new(A&&... args) {
    T* made;
    if constexpr (__wb_has_new(*(T*)nullptr)) made = (T*)T::operator new(sizeof(T));
    else made = __wb_room<T>(1);
    __wb_construct(made, T(std::forward<A>(args)...));
    return made;
}
// Arrays by the class's own `operator new[]`: the number of elements stands before the array if `delete[]` needs it (Itanium C++ ABI 2.7).
template <typename T> constexpr size_t __wb_before() {
    bool asks = __wb_has_destructor(*(T*)nullptr) || __wb_has_sized_delete_array(*(T*)nullptr);
    return !asks ? 0 : alignof(T) > 8 ? alignof(T) : 8;
}
template <typename T> inline T* __wb_own_array(size_t count) {
    constexpr size_t before = __wb_before<T>();
    char* memory = (char*)T::operator new[](count * sizeof(T) + before);
    T* made = (T*)(memory + before);
    if constexpr (before > 0) *(size_t*)(memory + before - 8) = count;
    for (size_t i = 0; i < count; ++i) __wb_construct(made + i, T());
    return made;
}
template <typename T> inline T* __wb_new_zeroed(size_t count) {
    if constexpr (__wb_has_new_array(*(T*)nullptr)) return __wb_own_array<T>(count);
    T* made = __wb_room<T>(count);
    for (size_t i = 0; i < count; ++i) __wb_construct(made + i, T());
    return made;
}
template <typename T> inline T* __wb_new_array(size_t count) {
    if constexpr (std::is_arithmetic_v<T> || std::is_pointer_v<T>) return __wb_room<T>(count);
    else return __wb_new_zeroed<T>(count);
}
template <typename T> inline T* __wb_new_plain() {
    if constexpr (std::is_arithmetic_v<T> || std::is_pointer_v<T>) return __wb_room<T>(1);
    else return __wb_new<T>();
}
// `new (std::nothrow)`: null if there is no memory.
template <typename T> inline T* __wb_room_or_null(size_t count) {
    return count > ((size_t)1 << 40) / sizeof(T) ? nullptr : (T*)__wb_alloc_from((int64_t)(count * sizeof(T)), 0);
}
template <typename T, typename... A> inline T* __wb_new_nothrow(A&&... args) {
    static_assert(!__wb_has_new(*(T*)nullptr), "the class has an operator new of its own, which takes no std::nothrow");
    T* made = __wb_room_or_null<T>(1);
    if (made != nullptr) __wb_construct(made, T(args...));
    return made;
}
template <typename T> inline T* __wb_new_zeroed_nothrow(size_t count) {
    static_assert(!__wb_has_new_array(*(T*)nullptr), "the class has an operator new[] of its own, which takes no std::nothrow");
    T* made = __wb_room_or_null<T>(count);
    if (made != nullptr)
        for (size_t i = 0; i < count; ++i) __wb_construct(made + i, T());
    return made;
}
template <typename T> inline T* __wb_new_array_nothrow(size_t count) {
    if constexpr (std::is_arithmetic_v<T> || std::is_pointer_v<T>) return __wb_room_or_null<T>(count);
    else return __wb_new_zeroed_nothrow<T>(count);
}
template <typename T> inline T* __wb_new_plain_nothrow() { return __wb_new_array_nothrow<T>(1); }
template <typename T> inline void __wb_own_delete_array(T* memory) {
    constexpr size_t before = __wb_before<T>();
    char* start = (char*)memory - before;
    size_t count = 0;
    if constexpr (before > 0) {
        count = *(size_t*)((char*)memory - 8);
        for (size_t i = count; i > 0; --i) __wb_destroy(memory + (i - 1));
    }
    if constexpr (__wb_has_sized_delete_array(*(T*)nullptr)) T::operator delete[]((void*)start, count * sizeof(T) + before);
    else T::operator delete[]((void*)start);
}
// Memory of the library, for any number of objects.
template <typename T> inline void __wb_end(T* memory) {
    if constexpr (!(std::is_arithmetic_v<T> || std::is_pointer_v<T>)) {
        int64_t count = __wb_block_size((const void*)memory) / (int64_t)sizeof(T);
        for (int64_t i = count - 1; i >= 0; --i) __wb_destroy(memory + i);
    }
    __wb_free((const void*)memory);
}
template <typename T> inline void __wb_delete_array(T* memory) {
    if (memory == nullptr) return;
    if constexpr (__wb_has_delete_array(*memory)) __wb_own_delete_array(memory);
    else __wb_end(memory);
}
template <typename T> inline void __wb_delete(T* memory) {
    if (memory == nullptr) return;
    if constexpr (__wb_has_delete(*memory)) {
        __wb_destroy(memory);
        if constexpr (__wb_has_sized_delete(*memory)) T::operator delete((void*)memory, sizeof(T));
        else T::operator delete((void*)memory);
    } else {
        __wb_end(memory);
    }
}
// The operators by their names, for all classes.
inline void* operator new(unsigned long bytes) { return (void*)__wb_room<char>(bytes); }
inline void* operator new[](unsigned long bytes) { return (void*)__wb_room<char>(bytes); }
inline void operator delete(void* memory) { __wb_free((const void*)memory); }
inline void operator delete[](void* memory) { __wb_free((const void*)memory); }
inline void operator delete(void* memory, unsigned long) { __wb_free((const void*)memory); }
inline void operator delete[](void* memory, unsigned long) { __wb_free((const void*)memory); }
