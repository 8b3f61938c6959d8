// Owners of objects, for host code.
namespace std {

template <typename T> struct remove_extent<T[]> { using type = T; };
template <typename T> struct is_array<T[]> : true_type {};

template <typename T> struct default_delete {
    void operator()(T* held) const { __wb_delete(held); }
};
template <typename T> struct default_delete<T[]> {
    void operator()(T* held) const { __wb_delete_array(held); }
};
// True if a pointer to a `U` converts to a pointer to a `T`.
template <typename U, typename T> struct __wb_points {
    using From = remove_extent_t<U>;
    using To = remove_extent_t<T>;
    static constexpr bool value = is_array_v<U> == is_array_v<T> && __wb_is_made_of(*(To**)nullptr, *(From**)nullptr);
};
// The single owner of an object: it moves, and is not copied.
template <typename T, typename D = default_delete<T>> class unique_ptr {
public:
    using element_type = remove_extent_t<T>;
    using pointer = element_type*;
    using deleter_type = D;

private:
    pointer held_ = nullptr;
    D deleter_;

public:
    unique_ptr() : deleter_() {}
    unique_ptr(nullptr_t) : deleter_() {}
    explicit unique_ptr(pointer held) : held_(held), deleter_() {}
    unique_ptr(pointer held, const D& deleter) : held_(held), deleter_(deleter) {}
    unique_ptr(const unique_ptr&) = delete;
    unique_ptr(unique_ptr&& other) : held_(other.release()), deleter_(other.deleter_) {}
    template <typename U, typename E, typename = enable_if_t<__wb_points<U, T>::value>>
    unique_ptr(unique_ptr<U, E>&& other) : held_(other.release()), deleter_(other.get_deleter()) {}
    ~unique_ptr() { reset(); }
    unique_ptr& operator=(const unique_ptr&) = delete;
    unique_ptr& operator=(unique_ptr&& other) {
        if (this != &other) {
            reset(other.release());
            deleter_ = other.deleter_;
        }
        return *this;
    }
    unique_ptr& operator=(nullptr_t) {
        reset();
        return *this;
    }
    pointer get() const { return held_; }
    D& get_deleter() { return deleter_; }
    const D& get_deleter() const { return deleter_; }
    element_type& operator*() const { return *held_; }
    pointer operator->() const { return held_; }
    element_type& operator[](size_t i) const { return held_[i]; }
    explicit operator bool() const { return held_ != nullptr; }
    bool operator!() const { return held_ == nullptr; }
    pointer release() {
        pointer held = held_;
        held_ = nullptr;
        return held;
    }
    void reset(pointer held = nullptr) {
        pointer old = held_;
        held_ = held;
        if (old != nullptr) deleter_(old);
    }
    void swap(unique_ptr& other) {
        std::swap(held_, other.held_);
        std::swap(deleter_, other.deleter_);
    }
};
template <typename T> struct __wb_made {
    template <typename... A> static unique_ptr<T> make(A&&... args) {
        return unique_ptr<T>(__wb_new<T>(std::forward<A>(args)...));
    }
};
template <typename T> struct __wb_made<T[]> {
    static unique_ptr<T[]> make(size_t n) { return unique_ptr<T[]>(__wb_new_zeroed<T>(n)); }
};
template <typename T, typename... A> inline auto make_unique(A&&... args) { return __wb_made<T>::make(std::forward<A>(args)...); }
template <typename T, typename D> void swap(unique_ptr<T, D>& a, unique_ptr<T, D>& b) { a.swap(b); }
#define __WB_UNIQUE(sign) \
    template <typename T, typename D, typename U, typename E> bool operator sign(const unique_ptr<T, D>& a, const unique_ptr<U, E>& b) { \
        return a.get() sign b.get(); \
    }
__WB_UNIQUE(==)
__WB_UNIQUE(!=)
__WB_UNIQUE(<)
__WB_UNIQUE(>)
__WB_UNIQUE(<=)
__WB_UNIQUE(>=)
#undef __WB_UNIQUE
template <typename T, typename D> bool operator==(const unique_ptr<T, D>& a, nullptr_t) { return a.get() == nullptr; }
template <typename T, typename D> bool operator!=(const unique_ptr<T, D>& a, nullptr_t) { return a.get() != nullptr; }
template <typename T, typename D> bool operator==(nullptr_t, const unique_ptr<T, D>& b) { return b.get() == nullptr; }
template <typename T, typename D> bool operator!=(nullptr_t, const unique_ptr<T, D>& b) { return b.get() != nullptr; }

// The counts of owners: the object is destroyed with the last `shared_ptr`, this with the last `weak_ptr`; all owners together count as one of those.
struct __wb_owners {
    long shared = 1, weak = 1;
    void (*end)(__wb_owners*, bool);
    void leave() {
        if (--shared == 0) {
            end(this, false);
            forget();
        }
    }
    void forget() {
        if (--weak == 0) end(this, true);
    }
};
// The owners' record with a deleter, which destroys the object. It is freed when no `weak_ptr` is left.
template <typename P, typename D> struct __wb_owned : __wb_owners {
    P held;
    D deleter;
    __wb_owned(P h, const D& d) : held(h), deleter(d) {}
    static void finish(__wb_owners* owners, bool all) {
        __wb_owned* self = (__wb_owned*)owners;
        if (all) __wb_delete(self);
        else self->deleter(self->held);
    }
    static __wb_owners* make(P held, const D& deleter) {
        __wb_owned* made = __wb_new<__wb_owned>(held, deleter);
        made->end = &__wb_owned::finish;
        return made;
    }
};

template <typename T> class weak_ptr;
template <typename T> class shared_ptr;
// A base of classes that hand out owners of their objects.
template <typename T> class enable_shared_from_this {
    weak_ptr<T> __wb_self;

public:
    using __wb_shares = T;
    enable_shared_from_this() {}
    enable_shared_from_this(const enable_shared_from_this&) {}
    enable_shared_from_this& operator=(const enable_shared_from_this&) { return *this; }
    shared_ptr<T> shared_from_this() { return shared_ptr<T>(__wb_self); }
    shared_ptr<const T> shared_from_this() const { return shared_ptr<const T>(__wb_self); }
    weak_ptr<T> weak_from_this() { return __wb_self; }
    void __wb_note(T* self, __wb_owners* owners) { __wb_self.__wb_note(self, owners); }
};
template <typename T, typename = void> struct __wb_shared_from_this {
    static void note(T*, __wb_owners*) {}
};
template <typename T> struct __wb_shared_from_this<T, void_t<typename T::__wb_shares>> {
    using U = typename T::__wb_shares;
    static void note(T* held, __wb_owners* owners) { ((enable_shared_from_this<U>*)held)->__wb_note((U*)held, owners); }
};

template <typename T> class shared_ptr {
public:
    using element_type = remove_extent_t<T>;
    using weak_type = weak_ptr<T>;
    using __wb_Element = conditional_t<is_void_v<T>, char, element_type>;

private:
    element_type* held_ = nullptr;
    __wb_owners* owners_ = nullptr;

public:
    shared_ptr() {}
    shared_ptr(nullptr_t) {}
    template <typename U> explicit shared_ptr(U* held) : shared_ptr(held, default_delete<conditional_t<is_array_v<T>, U[], U>>()) {}
    template <typename U, typename D> shared_ptr(U* held, D deleter) : held_(held), owners_(__wb_owned<U*, D>::make(held, deleter)) {
        if (held != nullptr) __wb_shared_from_this<remove_cv_t<U>>::note((remove_cv_t<U>*)held, owners_);
    }
    template <typename D> shared_ptr(nullptr_t, D deleter) : owners_(__wb_owned<element_type*, D>::make(nullptr, deleter)) {}
    // The pointer may point to a part of the owned object.
    template <typename U> shared_ptr(const shared_ptr<U>& other, element_type* held) : held_(held), owners_(other.__wb_count()) { join(); }
    shared_ptr(const shared_ptr& other) : held_(other.held_), owners_(other.owners_) { join(); }
    shared_ptr(shared_ptr&& other) { swap(other); }
    template <typename U, typename = enable_if_t<__wb_points<U, T>::value>>
    shared_ptr(const shared_ptr<U>& other) : held_(other.get()), owners_(other.__wb_count()) { join(); }
    template <typename U> explicit shared_ptr(const weak_ptr<U>& other) : held_(other.__wb_get()), owners_(other.__wb_count()) {
        if (other.expired()) {
            __wb_push_c_string("bad_weak_ptr");
            __wb_raise(16, 1);
        }
        join();
    }
    template <typename U, typename D, typename = enable_if_t<__wb_points<U, T>::value>> shared_ptr(unique_ptr<U, D>&& other) {
        if (other.get() != nullptr) shared_ptr(other.release(), other.get_deleter()).swap(*this);
    }
    ~shared_ptr() {
        if (owners_ != nullptr) owners_->leave();
    }
    shared_ptr& operator=(const shared_ptr& other) {
        shared_ptr(other).swap(*this);
        return *this;
    }
    shared_ptr& operator=(shared_ptr&& other) {
        shared_ptr(std::move(other)).swap(*this);
        return *this;
    }
    void join() {
        if (owners_ != nullptr) ++owners_->shared;
    }
    void swap(shared_ptr& other) {
        std::swap(held_, other.held_);
        std::swap(owners_, other.owners_);
    }
    void reset() { shared_ptr().swap(*this); }
    template <typename U> void reset(U* held) { shared_ptr(held).swap(*this); }
    template <typename U, typename D> void reset(U* held, D deleter) { shared_ptr(held, deleter).swap(*this); }
    element_type* get() const { return held_; }
    __wb_Element& operator*() const { return *(__wb_Element*)held_; }
    element_type* operator->() const { return held_; }
    __wb_Element& operator[](ptrdiff_t i) const { return ((__wb_Element*)held_)[i]; }
    long use_count() const { return owners_ == nullptr ? 0 : owners_->shared; }
    bool unique() const { return use_count() == 1; }
    explicit operator bool() const { return held_ != nullptr; }
    template <typename U> bool owner_before(const shared_ptr<U>& other) const { return owners_ < other.__wb_count(); }
    __wb_owners* __wb_count() const { return owners_; }
};

template <typename T> class weak_ptr {
    remove_extent_t<T>* held_ = nullptr;
    __wb_owners* owners_ = nullptr;

    void join() {
        if (owners_ != nullptr) ++owners_->weak;
    }

public:
    using element_type = remove_extent_t<T>;
    weak_ptr() {}
    weak_ptr(const weak_ptr& other) : held_(other.held_), owners_(other.owners_) { join(); }
    weak_ptr(weak_ptr&& other) { swap(other); }
    template <typename U, typename = enable_if_t<__wb_points<U, T>::value>>
    weak_ptr(const weak_ptr<U>& other) : held_(other.__wb_get()), owners_(other.__wb_count()) { join(); }
    template <typename U, typename = enable_if_t<__wb_points<U, T>::value>>
    weak_ptr(const shared_ptr<U>& other) : held_(other.get()), owners_(other.__wb_count()) { join(); }
    ~weak_ptr() {
        if (owners_ != nullptr) owners_->forget();
    }
    weak_ptr& operator=(const weak_ptr& other) {
        weak_ptr(other).swap(*this);
        return *this;
    }
    weak_ptr& operator=(weak_ptr&& other) {
        weak_ptr(std::move(other)).swap(*this);
        return *this;
    }
    void swap(weak_ptr& other) {
        std::swap(held_, other.held_);
        std::swap(owners_, other.owners_);
    }
    void reset() { weak_ptr().swap(*this); }
    long use_count() const { return owners_ == nullptr ? 0 : owners_->shared; }
    bool expired() const { return use_count() == 0; }
    shared_ptr<T> lock() const { return expired() ? shared_ptr<T>() : shared_ptr<T>(*this); }
    element_type* __wb_get() const { return held_; }
    __wb_owners* __wb_count() const { return owners_; }
    void __wb_note(element_type* held, __wb_owners* owners) {
        if (!expired()) return;
        ++owners->weak;
        reset();
        held_ = held;
        owners_ = owners;
    }
};

// The object of `make_shared` lies in the library's memory, not in the class's own.
template <typename T> struct __wb_shared_end {
    void operator()(T* held) const { __wb_end(held); }
};
template <typename T> struct __wb_shares {
    template <typename... A> static shared_ptr<T> make(A&&... args) {
        T* made = __wb_room<T>(1);
        __wb_construct(made, T(std::forward<A>(args)...));
        return shared_ptr<T>(made, __wb_shared_end<T>());
    }
};
template <typename T> struct __wb_shares<T[]> {
    static shared_ptr<T[]> make(size_t n) { return shared_ptr<T[]>(__wb_new_zeroed<T>(n)); }
};
template <typename T, typename... A>
inline shared_ptr<T> make_shared(A&&... args) { return __wb_shares<T>::make(std::forward<A>(args)...); }

template <typename T, typename U> shared_ptr<T> static_pointer_cast(const shared_ptr<U>& other) {
    return shared_ptr<T>(other, static_cast<remove_extent_t<T>*>(other.get()));
}
template <typename T, typename U> shared_ptr<T> const_pointer_cast(const shared_ptr<U>& other) {
    return shared_ptr<T>(other, const_cast<remove_extent_t<T>*>(other.get()));
}
template <typename T, typename U> shared_ptr<T> reinterpret_pointer_cast(const shared_ptr<U>& other) {
    return shared_ptr<T>(other, reinterpret_cast<remove_extent_t<T>*>(other.get()));
}
template <typename T> void swap(shared_ptr<T>& a, shared_ptr<T>& b) { a.swap(b); }
template <typename T> void swap(weak_ptr<T>& a, weak_ptr<T>& b) { a.swap(b); }
#define __WB_SHARED(sign) \
    template <typename T, typename U> bool operator sign(const shared_ptr<T>& a, const shared_ptr<U>& b) { return a.get() sign b.get(); }
__WB_SHARED(==)
__WB_SHARED(!=)
__WB_SHARED(<)
__WB_SHARED(>)
__WB_SHARED(<=)
__WB_SHARED(>=)
#undef __WB_SHARED
template <typename T> bool operator==(const shared_ptr<T>& a, nullptr_t) { return a.get() == nullptr; }
template <typename T> bool operator!=(const shared_ptr<T>& a, nullptr_t) { return a.get() != nullptr; }
template <typename T> bool operator==(nullptr_t, const shared_ptr<T>& b) { return b.get() == nullptr; }
template <typename T> bool operator!=(nullptr_t, const shared_ptr<T>& b) { return b.get() != nullptr; }

}
