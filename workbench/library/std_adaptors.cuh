// More of the standard library's containers, for host code: adaptors, lists, owners, callables.
namespace std {

// `back_inserter(v)`
template <typename C> struct __wb_back_inserter {
    C* to;
    __wb_back_inserter& operator*() { return *this; }
    __wb_back_inserter& operator++() { return *this; }
    __wb_back_inserter operator++(int) { return *this; }
    template <typename T> __wb_back_inserter& operator=(const T& value) {
        to->push_back(value);
        return *this;
    }
};
template <typename C> inline __wb_back_inserter<C> back_inserter(C& to) { return __wb_back_inserter<C>{&to}; }

// A deque that grows at both ends: elements lie together, with room before and after them.
template <typename T> class deque {
    static constexpr bool __wb_goes_in_parts = true;
    T* all_ = nullptr;
    size_t first_ = 0, size_ = 0, capacity_ = 0;

    void grow() {
        size_t wanted = capacity_ == 0 ? 8 : 3 * capacity_;
        T* made = (T*)__wb_alloc((int64_t)(wanted * sizeof(T)));
        size_t first = (wanted - size_) / 2;
        if (size_ > 0) __builtin_memcpy((void*)(made + first), (const void*)(all_ + first_), size_ * sizeof(T));
        __wb_free(all_);
        all_ = made;
        first_ = first;
        capacity_ = wanted;
    }
    void check(const char* what) const {
        if (size_ == 0) {
            __wb_push_c_string(what);
            __wb_push_c_string(" of an empty deque");
            __wb_raise(16, 2);
        }
    }

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;
    deque() {}
    explicit deque(size_t n) {
        for (size_t i = 0; i < n; ++i) push_back(T());
    }
    deque(size_t n, const T& value) {
        for (size_t i = 0; i < n; ++i) push_back(value);
    }
    deque(initializer_list<T> list) {
        for (const T& value : list) push_back(value);
    }
    deque(const deque& other) {
        for (const T& value : other) push_back(value);
    }
    template <typename U> deque(const U* first, const U* last) {
        for (; first != last; ++first) push_back(*first);
    }
    deque(deque&& other) { swap(other); }
    ~deque() {
        clear();
        __wb_free(all_);
    }
    deque& operator=(const deque& other) {
        if (this != &other) {
            clear();
            for (const T& value : other) push_back(value);
        }
        return *this;
    }
    deque& operator=(deque&& other) {
        if (this != &other) {
            clear();
            swap(other);
        }
        return *this;
    }
    void swap(deque& other) {
        std::swap(all_, other.all_);
        std::swap(first_, other.first_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() { return all_ + first_; }
    T* end() { return all_ + first_ + size_; }
    const T* begin() const { return all_ + first_; }
    const T* end() const { return all_ + first_ + size_; }
    T& operator[](size_t i) { return all_[first_ + i]; }
    const T& operator[](size_t i) const { return all_[first_ + i]; }
    T& front() {
        check("front");
        return all_[first_];
    }
    const T& front() const {
        check("front");
        return all_[first_];
    }
    T& back() {
        check("back");
        return all_[first_ + size_ - 1];
    }
    const T& back() const {
        check("back");
        return all_[first_ + size_ - 1];
    }
    void push_back(const T& value) { push_back(T(value)); }
    void push_back(T&& value) {
        T copy(std::move(value));
        if (first_ + size_ == capacity_) grow();
        __wb_construct(all_ + first_ + size_, T(std::move(copy)));
        ++size_;
    }
    void push_front(const T& value) { push_front(T(value)); }
    void push_front(T&& value) {
        T copy(std::move(value));
        if (first_ == 0) grow();
        __wb_construct(all_ + first_ - 1, T(std::move(copy)));
        --first_;
        ++size_;
    }
    template <typename... A> T& emplace_back(A&&... args) {
        push_back(T{std::forward<A>(args)...});
        return back();
    }
    template <typename... A> T& emplace_front(A&&... args) {
        push_front(T{std::forward<A>(args)...});
        return front();
    }
    void pop_front() {
        check("pop_front");
        __wb_destroy(all_ + first_);
        ++first_;
        --size_;
    }
    void pop_back() {
        check("pop_back");
        --size_;
        __wb_destroy(all_ + first_ + size_);
    }
    void clear() {
        size_t end = size_;
        size_ = 0;
        for (size_t i = 0; i < end; ++i) __wb_destroy(all_ + first_ + i);
    }
};

template <typename T, typename C = deque<T>> class queue {
    C all_;

public:
    queue() {}
    size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    T& front() { return all_.front(); }
    T& back() { return all_.back(); }
    void push(const T& value) { all_.push_back(value); }
    void push(T&& value) { all_.push_back(std::move(value)); }
    template <typename... A> void emplace(A&&... args) { all_.push_back(T{std::forward<A>(args)...}); }
    void pop() { all_.pop_front(); }
};
template <typename T, typename C = deque<T>> class stack {
    C all_;

public:
    stack() {}
    size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    T& top() { return all_.back(); }
    const T& top() const { return all_.back(); }
    void push(const T& value) { all_.push_back(value); }
    void push(T&& value) { all_.push_back(std::move(value)); }
    template <typename... A> void emplace(A&&... args) { all_.push_back(T{std::forward<A>(args)...}); }
    void pop() { all_.pop_back(); }
};

// A heap with the largest element on top.
template <typename T> struct __wb_less {
    bool operator()(const T& a, const T& b) const { return a < b; }
};
template <typename T, typename C = vector<T>, typename L = __wb_less<T>> class priority_queue {
    C all_;
    L less_;

    void sift(size_t root) {
        size_t n = all_.size();
        while (2 * root + 1 < n) {
            size_t child = 2 * root + 1;
            if (child + 1 < n && less_(all_[child], all_[child + 1])) ++child;
            if (!less_(all_[root], all_[child])) return;
            std::swap(all_[root], all_[child]);
            root = child;
        }
    }

public:
    priority_queue() : less_() {}
    explicit priority_queue(const L& compare) : less_(compare) {}
    priority_queue(const L& compare, const C& all) : all_(all), less_(compare) {
        for (size_t i = all_.size() / 2; i > 0; --i) sift(i - 1);
    }
    template <typename I> priority_queue(I first, I last) : less_() {
        for (; first != last; ++first) push(*first);
    }
    size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }
    const T& top() const { return all_[0]; }
    void push(const T& value) { push(T(value)); }
    void push(T&& value) {
        all_.push_back(std::move(value));
        for (size_t i = all_.size() - 1; i > 0;) {
            size_t up = (i - 1) / 2;
            if (!less_(all_[up], all_[i])) return;
            std::swap(all_[up], all_[i]);
            i = up;
        }
    }
    template <typename... A> void emplace(A&&... args) { push(T{std::forward<A>(args)...}); }
    void pop() {
        std::swap(all_[0], all_[all_.size() - 1]);
        all_.pop_back();
        sift(0);
    }
};

// A doubly linked list: elements and their iterators keep their places.
template <typename T> struct __wb_node {
    __wb_node* previous;
    __wb_node* next;
    T value;
};
template <typename T> struct __wb_list_iterator {
    __wb_node<T>* at;
    T& operator*() const { return at->value; }
    T* operator->() const { return &at->value; }
    __wb_list_iterator& operator++() {
        at = at->next;
        return *this;
    }
    __wb_list_iterator operator++(int) {
        __wb_list_iterator before = *this;
        at = at->next;
        return before;
    }
    __wb_list_iterator& operator--() {
        at = at->previous;
        return *this;
    }
    bool operator==(const __wb_list_iterator& other) const { return at == other.at; }
    bool operator!=(const __wb_list_iterator& other) const { return at != other.at; }
};
template <typename T> class list {
    static constexpr bool __wb_goes_in_parts = true;
    // The node before the first and after the last; it holds no value.
    __wb_node<T>* edge_;
    size_t size_ = 0;

    void make() {
        edge_ = (__wb_node<T>*)__wb_alloc(sizeof(__wb_node<T>));
        edge_->previous = edge_;
        edge_->next = edge_;
    }
    static void link(__wb_node<T>* node, __wb_node<T>* before) {
        node->next = before;
        node->previous = before->previous;
        before->previous->next = node;
        before->previous = node;
    }
    static void unlink(__wb_node<T>* node) {
        node->previous->next = node->next;
        node->next->previous = node->previous;
    }
    void check(const char* what) const {
        if (size_ == 0) {
            __wb_push_c_string(what);
            __wb_push_c_string(" of an empty list");
            __wb_raise(16, 2);
        }
    }

public:
    using value_type = T;
    using iterator = __wb_list_iterator<T>;
    using const_iterator = __wb_list_iterator<T>;
    list() { make(); }
    list(initializer_list<T> all) {
        make();
        for (const T& value : all) push_back(value);
    }
    list(const list& other) {
        make();
        for (const T& value : other) push_back(value);
    }
    list(list&& other) {
        make();
        swap(other);
    }
    ~list() {
        clear();
        __wb_free(edge_);
    }
    list& operator=(const list& other) {
        if (this != &other) {
            clear();
            for (const T& value : other) push_back(value);
        }
        return *this;
    }
    list& operator=(list&& other) {
        if (this != &other) {
            clear();
            swap(other);
        }
        return *this;
    }
    void swap(list& other) {
        std::swap(edge_, other.edge_);
        std::swap(size_, other.size_);
    }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    iterator begin() const { return iterator{edge_->next}; }
    iterator end() const { return iterator{edge_}; }
    T& front() {
        check("front");
        return edge_->next->value;
    }
    T& back() {
        check("back");
        return edge_->previous->value;
    }
    iterator insert(iterator place, const T& value) { return insert(place, T(value)); }
    iterator insert(iterator place, T&& value) {
        __wb_node<T>* node = (__wb_node<T>*)__wb_alloc(sizeof(__wb_node<T>));
        __wb_construct(&node->value, T(std::move(value)));
        link(node, place.at);
        ++size_;
        return iterator{node};
    }
    iterator erase(iterator place) {
        if (place.at == edge_) {
            __wb_push_c_string("erase of the end of a list");
            __wb_raise(16, 1);
        }
        iterator after{place.at->next};
        unlink(place.at);
        __wb_destroy(&place.at->value);
        __wb_free(place.at);
        --size_;
        return after;
    }
    void push_back(const T& value) { insert(end(), value); }
    void push_back(T&& value) { insert(end(), std::move(value)); }
    void push_front(const T& value) { insert(begin(), value); }
    void push_front(T&& value) { insert(begin(), std::move(value)); }
    template <typename... A> T& emplace_back(A&&... args) {
        push_back(T{std::forward<A>(args)...});
        return back();
    }
    template <typename... A> T& emplace_front(A&&... args) {
        push_front(T{std::forward<A>(args)...});
        return front();
    }
    void pop_back() {
        check("pop_back");
        erase(iterator{edge_->previous});
    }
    void pop_front() {
        check("pop_front");
        erase(begin());
    }
    void clear() {
        while (size_ > 0) erase(begin());
    }
    // One element of a list, put before a place.
    void splice(iterator place, list& other, iterator one) {
        if (place.at == one.at) return;
        unlink(one.at);
        link(one.at, place.at);
        --other.size_;
        ++size_;
    }
};

// A function object for any callable with such a signature; copies share it.
template <typename F> class function;
template <typename R, typename... A> class function<R(A...)> {
    void* object_ = nullptr;
    R (*call_)(void*, A...) = nullptr;

    template <typename F> static R run(void* object, A... args) { return (*(F*)object)(args...); }

public:
    function() {}
    function(nullptr_t) {}
    function(const function& other) : object_(other.object_), call_(other.call_) {}
    template <typename F> function(F f) {
        object_ = __wb_new<F>(std::move(f));
        call_ = &function::template run<F>;
    }
    function& operator=(const function& other) {
        object_ = other.object_;
        call_ = other.call_;
        return *this;
    }
    explicit operator bool() const { return object_ != nullptr; }
    R operator()(A... args) const {
        if (object_ == nullptr) {
            __wb_push_c_string("bad_function_call");
            __wb_raise(64, 1);
        }
        return call_(object_, args...);
    }
};

template <size_t N> class bitset {
    unsigned long words_[(N + 63) / 64 + (N == 0)];

    void check(size_t i) const {
        if (i >= N) {
            __wb_push_c_string("bitset::test: argument is out of range");
            __wb_raise(19, 1);
        }
    }

public:
    struct reference {
        bitset* of;
        size_t at;
        operator bool() const { return of->test(at); }
        reference& operator=(bool value) {
            of->set(at, value);
            return *this;
        }
        reference& flip() {
            of->flip(at);
            return *this;
        }
    };
    bitset() {
        for (unsigned long& word : words_) word = 0;
    }
    bitset(unsigned long value) : bitset() {
        words_[0] = N < 64 ? value & ((1ul << (N % 64)) - 1) : value;
    }
    size_t size() const { return N; }
    bool test(size_t i) const {
        check(i);
        return words_[i / 64] >> (i % 64) & 1;
    }
    bool operator[](size_t i) const { return test(i); }
    reference operator[](size_t i) { return reference{this, i}; }
    bitset& set(size_t i, bool value = true) {
        check(i);
        if (value) words_[i / 64] |= 1ul << (i % 64);
        else words_[i / 64] &= ~(1ul << (i % 64));
        return *this;
    }
    bitset& reset(size_t i) { return set(i, false); }
    bitset& set() {
        for (size_t i = 0; i < N; ++i) set(i);
        return *this;
    }
    bitset& reset() {
        for (unsigned long& word : words_) word = 0;
        return *this;
    }
    bitset& flip(size_t i) { return set(i, !test(i)); }
    size_t count() const {
        size_t n = 0;
        for (unsigned long word : words_)
            for (; word != 0; word &= word - 1) ++n;
        return n;
    }
    bool any() const { return count() > 0; }
    bool none() const { return count() == 0; }
    bool all() const { return count() == N; }
    unsigned long to_ulong() const { return words_[0]; }
    unsigned long to_ullong() const { return words_[0]; }
    bitset& operator|=(const bitset& other) {
        for (size_t i = 0; i < (N + 63) / 64; ++i) words_[i] |= other.words_[i];
        return *this;
    }
    bitset& operator&=(const bitset& other) {
        for (size_t i = 0; i < (N + 63) / 64; ++i) words_[i] &= other.words_[i];
        return *this;
    }
    bitset& operator^=(const bitset& other) {
        for (size_t i = 0; i < (N + 63) / 64; ++i) words_[i] ^= other.words_[i];
        return *this;
    }
    bool operator==(const bitset& other) const {
        for (size_t i = 0; i < (N + 63) / 64; ++i)
            if (words_[i] != other.words_[i]) return false;
        return true;
    }
};
template <size_t N> bitset<N> operator|(bitset<N> a, const bitset<N>& b) { return a |= b; }
template <size_t N> bitset<N> operator&(bitset<N> a, const bitset<N>& b) { return a &= b; }
template <size_t N> bitset<N> operator^(bitset<N> a, const bitset<N>& b) { return a ^= b; }

}
