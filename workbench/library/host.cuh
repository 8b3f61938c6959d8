// The standard library's containers, for host code. Their memory is the run time's, which takes all of it back when the call ends.
namespace std {

template <typename T> class initializer_list {
    const T* begin_;
    size_t size_;

public:
    const T* begin() const { return begin_; }
    const T* end() const { return begin_ + size_; }
    size_t size() const { return size_; }
};

template <typename T> class vector {
    T* begin_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;

    void grow(size_t wanted) {
        if (wanted <= capacity_) return;
        reserve(wanted < 2 * capacity_ ? 2 * capacity_ : wanted);
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
    vector(const T* first, const T* last) { assign(first, last); }
    vector(const vector& other) { assign(other.begin(), other.end()); }
    ~vector() {
        clear();
        __wb_free(begin_);
    }
    vector& operator=(const vector& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    void assign(const T* first, const T* last) {
        clear();
        reserve(last - first);
        for (; first != last; ++first) push_back(*first);
    }
    void reserve(size_t wanted) {
        if (wanted <= capacity_) return;
        T* fresh = (T*)__wb_alloc(wanted * sizeof(T));
        if (size_ > 0) memcpy((void*)fresh, (const void*)begin_, size_ * sizeof(T));
        __wb_free(begin_);
        begin_ = fresh;
        capacity_ = wanted;
    }
    void resize(size_t n) {
        while (size_ > n) pop_back();
        grow(n);
        for (; size_ < n; ++size_) __wb_construct(begin_ + size_, T());
    }
    void resize(size_t n, const T& value) {
        while (size_ > n) pop_back();
        grow(n);
        for (; size_ < n; ++size_) __wb_construct(begin_ + size_, T(value));
    }
    void push_back(const T& value) {
        grow(size_ + 1);
        __wb_construct(begin_ + size_, T(value));
        ++size_;
    }
    template <typename... A> T& emplace_back(const A&... args) {
        push_back(T(args...));
        return back();
    }
    void pop_back() {
        if (size_ == 0) {
            __wb_push_c_string("pop_back of an empty vector");
            __wb_raise(0, 1);
        }
        __wb_destroy(begin_ + --size_);
    }
    void clear() {
        while (size_ > 0) pop_back();
    }
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
    void check(size_t i) const {
        if (i >= size_) {
            __wb_push_c_string("vector::at: index ");
            __wb_push_int(i);
            __wb_push_c_string(" of a vector of ");
            __wb_push_int(size_);
            __wb_raise(3, 4);
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
    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }
};
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
    char& operator[](size_t i) { return text_[i]; }
    const char& operator[](size_t i) const { return text_[i]; }
    char* begin() { return text_.begin(); }
    char* end() { return text_.end(); }
    const char* begin() const { return text_.begin(); }
    const char* end() const { return text_.end(); }
    void push_back(char c) { text_.push_back(c); }
    void pop_back() { text_.pop_back(); }
    char& front() { return text_.front(); }
    char& back() { return text_.back(); }
    void clear() { text_.clear(); }
    string& append(const string& other) {
        for (size_t i = 0; i < other.size(); ++i) text_.push_back(other[i]);
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
inline bool operator==(const string& a, const string& b) { return a.compare(b) == 0; }
inline bool operator==(const string& a, const char* b) { return a.compare(string(b)) == 0; }
inline bool operator!=(const string& a, const string& b) { return a.compare(b) != 0; }
inline bool operator!=(const string& a, const char* b) { return a.compare(string(b)) != 0; }
inline bool operator<(const string& a, const string& b) { return a.compare(b) < 0; }
template <typename T> string to_string(T value) {
    __wb::Value<T>::put(value);
    __wb_op("workbench::to_string", 1);
    return __wb::Value<string>::get();
}

struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <typename T> class optional {
    bool has_ = false;
    alignas(T) unsigned char memory_[sizeof(T)];

    T* place() const { return (T*)memory_; }
    void make(const T& value) {
        __wb_construct(place(), T(value));
        has_ = true;
    }

public:
    using value_type = T;
    optional() {}
    optional(nullopt_t) {}
    optional(const T& value) { make(value); }
    optional(const optional& other) {
        if (other.has_) make(*other.place());
    }
    ~optional() { reset(); }
    optional& operator=(const optional& other) {
        if (this != &other) {
            reset();
            if (other.has_) make(*other.place());
        }
        return *this;
    }
    bool has_value() const { return has_; }
    explicit operator bool() const { return has_; }
    void check() const {
        if (!has_) {
            __wb_push_c_string("bad optional access: it holds nothing");
            __wb_raise(0, 1);
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
    T value_or(const T& other) const { return has_ ? *place() : other; }
    void reset() {
        if (has_) __wb_destroy(place());
        has_ = false;
    }
};

template <typename... T> struct tuple;
template <> struct tuple<> {};
template <typename A> struct tuple<A> {
    A _0;
    tuple() : _0() {}
    tuple(const A& a) : _0(a) {}
};
template <typename A, typename B> struct tuple<A, B> {
    A _0;
    B _1;
    tuple() : _0(), _1() {}
    tuple(const A& a, const B& b) : _0(a), _1(b) {}
};
template <typename A, typename B, typename C> struct tuple<A, B, C> {
    A _0;
    B _1;
    C _2;
    tuple() : _0(), _1(), _2() {}
    tuple(const A& a, const B& b, const C& c) : _0(a), _1(b), _2(c) {}
};
template <typename A, typename B, typename C, typename D> struct tuple<A, B, C, D> {
    A _0;
    B _1;
    C _2;
    D _3;
    tuple() : _0(), _1(), _2(), _3() {}
    tuple(const A& a, const B& b, const C& c, const D& d) : _0(a), _1(b), _2(c), _3(d) {}
};
template <typename A, typename B, typename C, typename D, typename E> struct tuple<A, B, C, D, E> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    tuple() : _0(), _1(), _2(), _3(), _4() {}
    tuple(const A& a, const B& b, const C& c, const D& d, const E& e) : _0(a), _1(b), _2(c), _3(d), _4(e) {}
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
};
template <typename... T> tuple<decay_t<T>...> make_tuple(const T&... values) { return tuple<decay_t<T>...>(values...); }
template <size_t I, typename... T> auto& get(tuple<T...>& t) {
    if constexpr (I == 0) return t._0;
    else if constexpr (I == 1) return t._1;
    else if constexpr (I == 2) return t._2;
    else if constexpr (I == 3) return t._3;
    else if constexpr (I == 4) return t._4;
    else return t._5;
}
template <size_t I, typename... T> const auto& get(const tuple<T...>& t) {
    if constexpr (I == 0) return t._0;
    else if constexpr (I == 1) return t._1;
    else if constexpr (I == 2) return t._2;
    else if constexpr (I == 3) return t._3;
    else if constexpr (I == 4) return t._4;
    else return t._5;
}

}
