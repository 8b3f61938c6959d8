// The place of an iterator's elements: anywhere, with the host, on the device.
enum __wb_place { __wb_anywhere, __wb_with_host, __wb_on_device };
template <typename I, typename = void> struct __wb_traits {
    static constexpr bool wraps = false;
    static constexpr __wb_place place = __wb_anywhere;
};
template <typename T> struct __wb_traits<T*, void> {
    using value_type = std::remove_cv_t<T>;
    using reference = T&;
    using raw_reference = T&;
    using raw = T*;
    using pointer = T*;
    using difference_type = ptrdiff_t;
    static constexpr bool wraps = false;
    static constexpr __wb_place place = __wb_with_host;
};
template <typename I> struct __wb_traits<I, std::void_t<typename I::__wb_iterator>> {
    using value_type = typename I::value_type;
    using reference = typename I::reference;
    using raw_reference = typename I::__raw_reference;
    using raw = typename I::__raw_type;
    using pointer = typename I::pointer;
    using difference_type = ptrdiff_t;
    static constexpr bool wraps = true;
    static constexpr __wb_place place = I::__place;
};
struct __wb_no_values {};
template <> struct __wb_traits<__wb_no_values, void> {
    using value_type = char;
    static constexpr bool wraps = false;
    static constexpr __wb_place place = __wb_anywhere;
};
template <typename I> using iterator_traits = __wb_traits<I>;
template <typename I> using __wb_raw_of = typename __wb_traits<I>::raw;
template <typename I> struct iterator_value { using type = typename __wb_traits<I>::value_type; };
template <typename I> using iterator_value_t = typename __wb_traits<I>::value_type;
template <typename I> struct iterator_difference { using type = ptrdiff_t; };
template <typename I> struct iterator_reference { using type = typename __wb_traits<I>::reference; };
template <typename I> struct iterator_pointer { using type = typename __wb_traits<I>::pointer; };
template <typename I> using __wb_value_of = typename __wb_traits<I>::value_type;
template <typename... I> struct __wb_places {
    static constexpr bool device = (false || ... || (__wb_traits<I>::place == __wb_on_device));
    static constexpr bool host = (false || ... || (__wb_traits<I>::place == __wb_with_host));
    static constexpr __wb_place place = device ? __wb_on_device : host ? __wb_with_host : __wb_anywhere;
};
// The iterator with plain pointers inside, for kernels.
template <typename I> __thrust_HD constexpr auto __wb_raw(const I& i) {
    if constexpr (__wb_traits<I>::wraps) return i.__raw();
    else return i;
}
struct use_default {};
struct random_access_traversal_tag {};
struct any_system_tag {};
struct host_system_tag {};
struct device_system_tag {};

// The members of an iterator besides `__move`, `__since` and `operator*`.
#define __thrust_ITERATOR(NAME)                                                                                         \
    using __wb_iterator = void;                                                                                         \
    using difference_type = ptrdiff_t;                                                                                  \
    __thrust_HD constexpr NAME& operator++() { __move(1); return *this; }                                               \
    __thrust_HD constexpr NAME& operator--() { __move(-1); return *this; }                                              \
    __thrust_HD constexpr NAME operator++(int) { NAME old(*this); __move(1); return old; }                              \
    __thrust_HD constexpr NAME operator--(int) { NAME old(*this); __move(-1); return old; }                             \
    __thrust_HD constexpr NAME& operator+=(ptrdiff_t n) { __move(n); return *this; }                                    \
    __thrust_HD constexpr NAME& operator-=(ptrdiff_t n) { __move(-n); return *this; }                                   \
    __thrust_HD constexpr NAME operator+(ptrdiff_t n) const { NAME to(*this); to.__move(n); return to; }                \
    __thrust_HD constexpr NAME operator-(ptrdiff_t n) const { NAME to(*this); to.__move(-n); return to; }               \
    __thrust_HD constexpr ptrdiff_t operator-(const NAME& o) const { return __since(o); }                               \
    __thrust_HD constexpr reference operator[](ptrdiff_t n) const { return *(*this + n); }                              \
    __thrust_HD constexpr bool operator==(const NAME& o) const { return __since(o) == 0; }                              \
    __thrust_HD constexpr bool operator!=(const NAME& o) const { return __since(o) != 0; }                              \
    __thrust_HD constexpr bool operator<(const NAME& o) const { return __since(o) < 0; }                                \
    __thrust_HD constexpr bool operator>(const NAME& o) const { return __since(o) > 0; }                                \
    __thrust_HD constexpr bool operator<=(const NAME& o) const { return __since(o) <= 0; }                              \
    __thrust_HD constexpr bool operator>=(const NAME& o) const { return __since(o) >= 0; }

// Memory of the device is the host's as well here. In host code its elements keep a type of their own, as in CUDA: the
// element itself under another name, so `&v[0]` is a pointer. A copy is a value, and nothing can be written through it.
template <typename T> class device_ptr;
template <typename T> class device_reference {
    T __element;

public:
    using value_type = std::remove_cv_t<T>;
    using pointer = device_ptr<T>;
    __thrust_HD constexpr operator T&() const { return *(T*)this; }
    __thrust_HD constexpr const device_reference& operator=(const device_reference& x) const {
        *(T*)this = *(const T*)&x;
        return *this;
    }
#define __thrust_ASSIGN(SIGN)                                                                                           \
    template <typename U> __thrust_HD constexpr const device_reference& operator SIGN(const U& x) const {               \
        *(T*)this SIGN x;                                                                                               \
        return *this;                                                                                                   \
    }                                                                                                                   \
    template <typename U> __thrust_HD constexpr void operator SIGN(const U&) {                                          \
        static_assert(sizeof(U) == 0, "this is a copy of an element of the device, and writing to it would change nothing"); \
    }
    __thrust_ASSIGN(=)
    __thrust_ASSIGN(+=)
    __thrust_ASSIGN(-=)
    __thrust_ASSIGN(*=)
    __thrust_ASSIGN(/=)
    __thrust_ASSIGN(%=)
    __thrust_ASSIGN(&=)
    __thrust_ASSIGN(|=)
    __thrust_ASSIGN(^=)
    __thrust_ASSIGN(<<=)
    __thrust_ASSIGN(>>=)
#undef __thrust_ASSIGN
    __thrust_HD constexpr const device_reference& operator++() const { ++*(T*)this; return *this; }
    __thrust_HD constexpr const device_reference& operator--() const { --*(T*)this; return *this; }
    __thrust_HD constexpr value_type operator++(int) const { return (*(T*)this)++; }
    __thrust_HD constexpr value_type operator--(int) const { return (*(T*)this)--; }
};
template <typename T> __thrust_HD constexpr void swap(const device_reference<T>& a, const device_reference<T>& b) {
    std::swap((T&)a, (T&)b);
}
template <typename T> class device_ptr {
    T* __at = nullptr;
    __thrust_HD constexpr void __move(ptrdiff_t n) { __at += n; }
    __thrust_HD constexpr ptrdiff_t __since(const device_ptr& o) const { return __at - o.__at; }

public:
    using value_type = std::remove_cv_t<T>;
    using element_type = T;
    using reference = const device_reference<T>&;
    using __raw_reference = T&;
    using __raw_type = T*;
    using pointer = device_ptr<T>;
    using raw_pointer = T*;
    static constexpr __wb_place __place = __wb_on_device;
    __thrust_HD constexpr device_ptr() {}
    __thrust_HD constexpr device_ptr(std::nullptr_t) {}
    // Elements that the text has allocated are reached by references in host code, from here on.
    template <typename U> explicit device_ptr(U* at) : __at((T*)at) { __wb_register((const void*)at, 2); }
    __thrust_HD constexpr device_ptr(const device_reference<T>* at) : __at((T*)at) {}
    template <typename U, std::enable_if_t<std::is_same_v<const U, T> || std::is_same_v<T, void>, int> = 0>
    __thrust_HD constexpr device_ptr(const device_ptr<U>& o) : __at(o.get()) {}
    __thrust_ITERATOR(device_ptr)
    __thrust_HD constexpr reference operator*() const { return *(const device_reference<T>*)__at; }
    __thrust_HD constexpr T* operator->() const { return __at; }
    __thrust_HD constexpr T* get() const { return __at; }
    __thrust_HD constexpr device_ptr base() const { return *this; }
    __thrust_HD constexpr explicit operator bool() const { return __at != nullptr; }
    __thrust_HD constexpr T* __raw() const { return __at; }
};
template <> class device_ptr<void> {
    void* __at = nullptr;

public:
    __thrust_HD constexpr device_ptr() {}
    __thrust_HD constexpr explicit device_ptr(void* at) : __at(at) {}
    template <typename U> __thrust_HD constexpr device_ptr(const device_ptr<U>& o) : __at(o.get()) {}
    __thrust_HD constexpr void* get() const { return __at; }
};
template <typename T> inline device_ptr<T> device_pointer_cast(T* at) { return device_ptr<T>(at); }
template <typename T> __thrust_HD constexpr device_ptr<T> device_pointer_cast(const device_ptr<T>& at) { return at; }
template <typename T> __thrust_HD constexpr device_ptr<T> device_pointer_cast(const device_reference<T>* at) { return device_ptr<T>(at); }
template <typename T> __thrust_HD constexpr T* raw_pointer_cast(T* at) { return at; }
template <typename T> __thrust_HD constexpr T* raw_pointer_cast(const device_reference<T>* at) { return (T*)at; }
template <typename T> __thrust_HD constexpr T* raw_pointer_cast(const device_ptr<T>& at) { return at.get(); }
template <typename T> __thrust_HD constexpr T& raw_reference_cast(T& x) { return x; }
template <typename T> __thrust_HD constexpr T& raw_reference_cast(const device_reference<T>& x) { return (T&)x; }
// Memory for so many elements, which both sides may access; an exception if there is none.
template <typename T> inline T* __wb_shared_room(size_t n) {
    T* at = nullptr;
    if (n > ((size_t)1 << 40) / sizeof(T) || cudaMallocManaged(&at, n * sizeof(T)) != cudaSuccess) {
        cudaGetLastError();
        __wb_push_c_string("bad allocation: out of memory");
        __wb_raise(21, 1);
    }
    return at;
}
template <typename T> inline device_ptr<T> device_malloc(size_t n) {
    return device_ptr<T>((device_reference<T>*)__wb_shared_room<T>(n));
}
template <typename T> inline device_ptr<T> device_new(size_t n = 1) {
    device_ptr<T> made = device_malloc<T>(n);
    for (size_t i = 0; i < n; ++i) __wb_construct(made.get() + i, T());
    return made;
}
template <typename T> inline void device_free(const device_ptr<T>& at) { cudaFree((void*)at.get()); }
template <typename T> inline void device_delete(const device_ptr<T>& at, size_t = 0) { cudaFree((void*)at.get()); }

template <typename T, typename S = use_default, typename V = use_default, typename D = use_default> class counting_iterator {
    T __at;
    __thrust_HD constexpr void __move(ptrdiff_t n) { __at = (T)(__at + n); }
    __thrust_HD constexpr ptrdiff_t __since(const counting_iterator& o) const { return (ptrdiff_t)__at - (ptrdiff_t)o.__at; }

public:
    using value_type = T;
    using reference = T;
    using __raw_reference = T;
    using __raw_type = counting_iterator;
    using pointer = const T*;
    static constexpr __wb_place __place = __wb_anywhere;
    __thrust_HD constexpr counting_iterator() : __at() {}
    __thrust_HD constexpr explicit counting_iterator(T at) : __at(at) {}
    __thrust_ITERATOR(counting_iterator)
    __thrust_HD constexpr T operator*() const { return __at; }
    __thrust_HD constexpr T base() const { return __at; }
    __thrust_HD constexpr counting_iterator __raw() const { return *this; }
};
template <typename T> __thrust_HD constexpr counting_iterator<T> make_counting_iterator(T at) { return counting_iterator<T>(at); }

template <typename T, typename D = use_default, typename S = use_default> class constant_iterator {
    T __held;
    ptrdiff_t __at;
    __thrust_HD constexpr void __move(ptrdiff_t n) { __at += n; }
    __thrust_HD constexpr ptrdiff_t __since(const constant_iterator& o) const { return __at - o.__at; }

public:
    using value_type = T;
    using reference = T;
    using __raw_reference = T;
    using __raw_type = constant_iterator;
    using pointer = const T*;
    static constexpr __wb_place __place = __wb_anywhere;
    __thrust_HD constexpr constant_iterator() : __held(), __at(0) {}
    __thrust_HD constexpr constant_iterator(const T& held, ptrdiff_t at = 0) : __held(held), __at(at) {}
    __thrust_ITERATOR(constant_iterator)
    __thrust_HD constexpr T operator*() const { return __held; }
    __thrust_HD constexpr T value() const { return __held; }
    __thrust_HD constexpr constant_iterator __raw() const { return *this; }
};
template <typename T> __thrust_HD constexpr constant_iterator<T> make_constant_iterator(T held, ptrdiff_t at = 0) {
    return constant_iterator<T>(held, at);
}

// An output that takes any value and keeps none.
struct __wb_discarded {
    template <typename T> __thrust_HD constexpr const __wb_discarded& operator=(const T&) const { return *this; }
};
template <typename S = use_default> class discard_iterator {
    ptrdiff_t __at;
    __thrust_HD constexpr void __move(ptrdiff_t n) { __at += n; }
    __thrust_HD constexpr ptrdiff_t __since(const discard_iterator& o) const { return __at - o.__at; }

public:
    using value_type = __wb_discarded;
    using reference = __wb_discarded;
    using __raw_reference = __wb_discarded;
    using __raw_type = discard_iterator;
    using pointer = void;
    static constexpr __wb_place __place = __wb_anywhere;
    __thrust_HD constexpr discard_iterator(ptrdiff_t at = 0) : __at(at) {}
    __thrust_ITERATOR(discard_iterator)
    __thrust_HD constexpr __wb_discarded operator*() const { return __wb_discarded(); }
    __thrust_HD constexpr discard_iterator __raw() const { return *this; }
};
__thrust_HD constexpr discard_iterator<> make_discard_iterator(ptrdiff_t at = 0) { return discard_iterator<>(at); }

template <typename F, typename I, typename R = use_default, typename V = use_default> class transform_iterator {
    I __at;
    F __f;
    __thrust_HD constexpr void __move(ptrdiff_t n) { __at += n; }
    __thrust_HD constexpr ptrdiff_t __since(const transform_iterator& o) const { return __at - o.__at; }

public:
    // The functor sees values and plain references.
    using reference = decltype(std::declval<F&>()(std::declval<typename __wb_traits<I>::raw_reference>()));
    using __raw_reference = reference;
    using __raw_type = transform_iterator<F, __wb_raw_of<I>, R, V>;
    using value_type = std::decay_t<reference>;
    using pointer = void;
    static constexpr __wb_place __place = __wb_traits<I>::place;
    __thrust_HD constexpr transform_iterator() : __at(), __f() {}
    __thrust_HD constexpr explicit transform_iterator(const I& at) : __at(at), __f() {}
    __thrust_HD constexpr transform_iterator(const I& at, F f) : __at(at), __f(f) {}
    __thrust_ITERATOR(transform_iterator)
    __thrust_HD constexpr reference operator*() const { return F(__f)(*__wb_raw(__at)); }
    __thrust_HD constexpr const I& base() const { return __at; }
    __thrust_HD constexpr F functor() const { return __f; }
    __thrust_HD constexpr __raw_type __raw() const { return __raw_type(__wb_raw(__at), __f); }
};
template <typename I, typename F> __thrust_HD constexpr transform_iterator<F, I> make_transform_iterator(I at, F f) {
    return transform_iterator<F, I>(at, f);
}
template <typename F, typename I> __thrust_HD constexpr transform_iterator<F, I> make_transform_iterator(I at) {
    return transform_iterator<F, I>(at);
}

template <typename E, typename I> class permutation_iterator {
    E __elements;
    I __at;
    __thrust_HD constexpr void __move(ptrdiff_t n) { __at += n; }
    __thrust_HD constexpr ptrdiff_t __since(const permutation_iterator& o) const { return __at - o.__at; }

public:
    using value_type = __wb_value_of<E>;
    using reference = typename __wb_traits<E>::reference;
    using __raw_reference = typename __wb_traits<E>::raw_reference;
    using __raw_type = permutation_iterator<__wb_raw_of<E>, __wb_raw_of<I>>;
    using pointer = typename __wb_traits<E>::pointer;
    static constexpr __wb_place __place = __wb_places<E, I>::place;
    __thrust_HD constexpr permutation_iterator() : __elements(), __at() {}
    __thrust_HD constexpr permutation_iterator(E elements, I at) : __elements(elements), __at(at) {}
    __thrust_ITERATOR(permutation_iterator)
    __thrust_HD constexpr reference operator*() const { return __elements[(ptrdiff_t)*__wb_raw(__at)]; }
    __thrust_HD constexpr const I& base() const { return __at; }
    __thrust_HD constexpr __raw_type __raw() const { return __raw_type(__wb_raw(__elements), __wb_raw(__at)); }
};
template <typename E, typename I> __thrust_HD constexpr permutation_iterator<E, I> make_permutation_iterator(E elements, I at) {
    return permutation_iterator<E, I>(elements, at);
}

template <typename I> class reverse_iterator {
    I __at;
    __thrust_HD constexpr void __move(ptrdiff_t n) { __at = __at - n; }
    __thrust_HD constexpr ptrdiff_t __since(const reverse_iterator& o) const { return o.__at - __at; }

public:
    using value_type = __wb_value_of<I>;
    using reference = typename __wb_traits<I>::reference;
    using __raw_reference = typename __wb_traits<I>::raw_reference;
    using __raw_type = reverse_iterator<__wb_raw_of<I>>;
    using pointer = typename __wb_traits<I>::pointer;
    static constexpr __wb_place __place = __wb_traits<I>::place;
    __thrust_HD constexpr reverse_iterator() : __at() {}
    __thrust_HD constexpr explicit reverse_iterator(I at) : __at(at) {}
    __thrust_ITERATOR(reverse_iterator)
    __thrust_HD constexpr reference operator*() const { return *(__at - 1); }
    __thrust_HD constexpr const I& base() const { return __at; }
    __thrust_HD constexpr __raw_type __raw() const { return __raw_type(__wb_raw(__at)); }
};
template <typename I> __thrust_HD constexpr reverse_iterator<I> make_reverse_iterator(I at) { return reverse_iterator<I>(at); }

template <typename T> class zip_iterator;
template <typename... I> class zip_iterator<tuple<I...>> {
    tuple<I...> __at;
    template <size_t... N> __thrust_HD constexpr void __move(std::index_sequence<N...>, ptrdiff_t n) {
        ((__at.template get<N>() += n), ...);
    }
    __thrust_HD constexpr void __move(ptrdiff_t n) { __move(std::index_sequence_for<I...>(), n); }
    __thrust_HD constexpr ptrdiff_t __since(const zip_iterator& o) const { return __at.__head - o.__at.__head; }

public:
    using value_type = tuple<__wb_value_of<I>...>;
    using reference = tuple<typename __wb_traits<I>::reference...>;
    using __raw_reference = tuple<typename __wb_traits<I>::raw_reference...>;
    using __raw_type = zip_iterator<tuple<__wb_raw_of<I>...>>;
    using pointer = void;
    static constexpr __wb_place __place = __wb_places<I...>::place;

private:
    template <size_t... N> __thrust_HD constexpr reference __all(std::index_sequence<N...>) const {
        return reference(*__at.template get<N>()...);
    }
    template <size_t... N> __thrust_HD constexpr __raw_type __raws(std::index_sequence<N...>) const {
        return __raw_type(tuple<__wb_raw_of<I>...>(__wb_raw(__at.template get<N>())...));
    }

public:
    __thrust_HD constexpr zip_iterator() : __at() {}
    __thrust_HD constexpr zip_iterator(tuple<I...> at) : __at(at) {}
    __thrust_ITERATOR(zip_iterator)
    __thrust_HD constexpr reference operator*() const { return __all(std::index_sequence_for<I...>()); }
    __thrust_HD constexpr const tuple<I...>& get_iterator_tuple() const { return __at; }
    __thrust_HD constexpr __raw_type __raw() const { return __raws(std::index_sequence_for<I...>()); }
};
template <typename... I> __thrust_HD constexpr zip_iterator<tuple<I...>> make_zip_iterator(tuple<I...> at) {
    return zip_iterator<tuple<I...>>(at);
}
template <typename I, typename... R, std::enable_if_t<__wb_traits<I>::wraps || std::is_pointer_v<I>, int> = 0>
__thrust_HD constexpr zip_iterator<tuple<I, R...>> make_zip_iterator(I first, R... rest) {
    return zip_iterator<tuple<I, R...>>(tuple<I, R...>(first, rest...));
}
#undef __thrust_ITERATOR

template <typename I> __thrust_HD constexpr ptrdiff_t distance(I first, I last) { return last - first; }
template <typename I> __thrust_HD constexpr void advance(I& at, ptrdiff_t n) { at += n; }
template <typename I> __thrust_HD constexpr I next(I at, ptrdiff_t n = 1) { return at + n; }
template <typename I> __thrust_HD constexpr I prev(I at, ptrdiff_t n = 1) { return at - n; }
