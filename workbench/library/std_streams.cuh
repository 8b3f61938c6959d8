// Streams, for host code: texts that values are written to and read from, and the call's output.
namespace std {

// Formatting of values.
class ios_base {
public:
    using fmtflags = unsigned;
    using iostate = unsigned;
    using openmode = unsigned;
    static constexpr fmtflags dec = 1, hex = 2, oct = 4, basefield = 7, left = 8, right = 16, internal = 32, adjustfield = 56;
    static constexpr fmtflags fixed = 64, scientific = 128, floatfield = 192, boolalpha = 256;
    static constexpr fmtflags showpos = 512, showbase = 1024, showpoint = 2048, uppercase = 4096, skipws = 8192, unitbuf = 16384;
    static constexpr iostate goodbit = 0, badbit = 1, eofbit = 2, failbit = 4;
    static constexpr openmode app = 1, ate = 2, binary = 4, in = 8, out = 16, trunc = 32;

protected:
    fmtflags flags_ = dec | skipws;
    iostate state_ = goodbit;
    long precision_ = 6, width_ = 0;
    char fill_ = ' ';

public:
    constexpr ios_base() {}
    fmtflags flags() const { return flags_; }
    fmtflags flags(fmtflags all) { return exchange(flags_, all); }
    fmtflags setf(fmtflags set) { return exchange(flags_, flags_ | set); }
    fmtflags setf(fmtflags set, fmtflags of) { return exchange(flags_, (flags_ & ~of) | (set & of)); }
    void unsetf(fmtflags of) { flags_ &= ~of; }
    long precision() const { return precision_; }
    long precision(long n) { return exchange(precision_, n); }
    long width() const { return width_; }
    long width(long n) { return exchange(width_, n); }
    char fill() const { return fill_; }
    char fill(char c) { return exchange(fill_, c); }
    void copyfmt(const ios_base& other) {
        flags_ = other.flags_;
        precision_ = other.precision_;
        width_ = other.width_;
        fill_ = other.fill_;
    }
    static bool sync_with_stdio(bool = true) { return true; }
    iostate rdstate() const { return state_; }
    void clear(iostate state = goodbit) { state_ = state; }
    void setstate(iostate more) { state_ |= more; }
    bool good() const { return state_ == goodbit; }
    bool eof() const { return state_ & eofbit; }
    bool fail() const { return state_ & (failbit | badbit); }
    bool bad() const { return state_ & badbit; }
    explicit operator bool() const { return !fail(); }
    bool operator!() const { return fail(); }
};
using ios = ios_base;

// Flags that a manipulator clears and sets, and manipulators with a value.
struct __wb_flags {
    unsigned clear, set;
    ios_base& operator()(ios_base& s) const {
        s.setf(set, clear | set);
        return s;
    }
};
#define __WB_MANIPULATOR(name, clear, set) inline constexpr __wb_flags name{clear, set};
__WB_MANIPULATOR(dec, 7, 1)
__WB_MANIPULATOR(hex, 7, 2)
__WB_MANIPULATOR(oct, 7, 4)
__WB_MANIPULATOR(left, 56, 8)
__WB_MANIPULATOR(right, 56, 16)
__WB_MANIPULATOR(internal, 56, 32)
__WB_MANIPULATOR(fixed, 192, 64)
__WB_MANIPULATOR(scientific, 192, 128)
__WB_MANIPULATOR(hexfloat, 192, 192)
__WB_MANIPULATOR(defaultfloat, 192, 0)
__WB_MANIPULATOR(boolalpha, 0, 256)
__WB_MANIPULATOR(noboolalpha, 256, 0)
__WB_MANIPULATOR(showpos, 0, 512)
__WB_MANIPULATOR(noshowpos, 512, 0)
__WB_MANIPULATOR(showbase, 0, 1024)
__WB_MANIPULATOR(noshowbase, 1024, 0)
__WB_MANIPULATOR(showpoint, 0, 2048)
__WB_MANIPULATOR(noshowpoint, 2048, 0)
__WB_MANIPULATOR(uppercase, 0, 4096)
__WB_MANIPULATOR(nouppercase, 4096, 0)
__WB_MANIPULATOR(skipws, 0, 8192)
__WB_MANIPULATOR(noskipws, 8192, 0)
__WB_MANIPULATOR(unitbuf, 0, 16384)
__WB_MANIPULATOR(nounitbuf, 16384, 0)
#undef __WB_MANIPULATOR
struct __wb_setting {
    int what;
    long n;
};
inline __wb_setting setprecision(int n) { return __wb_setting{0, n}; }
inline __wb_setting setw(int n) { return __wb_setting{1, n}; }
inline __wb_setting setfill(char c) { return __wb_setting{2, c}; }
inline __wb_flags setbase(int n) { return __wb_flags{7, n == 16 ? 2u : n == 8 ? 4u : n == 10 ? 1u : 0u}; }
inline __wb_flags setiosflags(unsigned flags) { return __wb_flags{0, flags}; }
inline __wb_flags resetiosflags(unsigned flags) { return __wb_flags{flags, 0}; }
struct __wb_endl {};
struct __wb_flush {};
struct __wb_ws {};
inline constexpr __wb_endl endl{};
inline constexpr __wb_flush flush{};
inline constexpr __wb_ws ws{};

// A stream writes to and reads from a text; one without a text prints, as kernels do.
class ostream : public ios_base {
protected:
    string* text_ = nullptr;
    size_t to_ = 0, at_ = 0, count_ = 0;

    // A formatted value, whose first characters stay ahead of an inner filling.
    void padded(const char* text, size_t n, size_t ahead) {
        size_t more = width_ > (long)n ? width_ - n : 0;
        width_ = 0;
        unsigned side = flags_ & adjustfield;
        size_t first = side == left ? n : side == internal ? ahead : 0;
        write(text, first);
        if (more > 0) {
            string filling(more, fill_);
            write(filling.data(), more);
        }
        write(text + first, n - first);
    }
    void integer(unsigned long value, bool negative, bool is_signed) {
        char digits[32];
        unsigned base = flags_ & hex ? 16 : flags_ & oct ? 8 : 10;
        size_t at = 32, ahead = 0;
        const char* all = flags_ & uppercase ? "0123456789ABCDEF" : "0123456789abcdef";
        bool zero = value == 0;
        do digits[--at] = all[value % base];
        while ((value /= base) > 0);
        if ((flags_ & showbase) && !zero && base == 8) digits[--at] = '0';
        if ((flags_ & showbase) && !zero && base == 16) {
            digits[--at] = flags_ & uppercase ? 'X' : 'x';
            digits[--at] = '0';
            ahead = 2;
        }
        if (base == 10 && (negative || ((flags_ & showpos) && is_signed))) {
            digits[--at] = negative ? '-' : '+';
            ahead = 1;
        }
        padded(digits + at, 32 - at, ahead);
    }
    void real(double value) {
        char format[8];
        size_t n = 0;
        unsigned kind = flags_ & floatfield, up = flags_ & uppercase;
        format[n++] = '%';
        if (flags_ & showpos) format[n++] = '+';
        if (flags_ & showpoint) format[n++] = '#';
        if (kind != floatfield) {
            format[n++] = '.';
            format[n++] = '*';
        }
        format[n++] = kind == fixed ? 'f' : kind == scientific ? (up ? 'E' : 'e') : kind == floatfield ? (up ? 'A' : 'a') : up ? 'G' : 'g';
        format[n] = 0;
        __wb_push_c_string(format);
        if (kind != floatfield) __wb_push_int(precision_ < 0 ? 6 : precision_);
        __wb_push_float(value);
        __wb_run_op(__wb_host_op("format"), kind != floatfield ? 3 : 2);
        size_t size = __wb_text_size();
        const char* text = (const char*)__wb_pop_text();
        bool sign = text[0] == '-' || text[0] == '+';
        bool prefix = size > 2 && text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X');
        padded(text, size, sign + 2 * prefix);
        __wb_free(text);
    }

public:
    ostream() {}
    ostream(const ostream&) = delete;
    ostream& write(const char* text, size_t n) {
        if (n == 0) return *this;
        if (text_ == nullptr) {
            string copy(text, n);
            printf("%s", copy.c_str());
            return *this;
        }
        if (flags_ & 1u << 31) to_ = text_->size();
        size_t over = text_->size() - to_ < n ? text_->size() - to_ : n;
        for (size_t i = 0; i < over; ++i) (*text_)[to_ + i] = text[i];
        if (over < n) text_->append(string(text + over, n - over));
        to_ += n;
        return *this;
    }
    ostream& put(char c) { return write(&c, 1); }
    ostream& flush() { return *this; }
    long tellp() const { return fail() ? -1 : (long)to_; }
    ostream& seekp(long to) {
        to_ = to;
        return *this;
    }
    template <typename T> void __wb_show(const T& value) {
        using U = decay_t<T>;
        if constexpr (is_same_v<U, char> || is_same_v<U, signed char> || is_same_v<U, unsigned char>) {
            char c = (char)value;
            padded(&c, 1, 0);
        } else if constexpr (is_same_v<U, bool>) {
            if (flags_ & boolalpha) padded(value ? "true" : "false", value ? 4 : 5, 0);
            else integer(value, false, true);
        } else if constexpr (__wb_is_enum(value) && __wb_is_made_of(*(long long*)nullptr, value)) {
            __wb_show((long long)value);
        } else if constexpr (is_integral_v<U>) {
            bool negative = is_signed_v<U> && value < (U)0;
            // Hexadecimal and octal show a negative number's own bits.
            if (negative && !(flags_ & (hex | oct))) integer(0ul - (unsigned long)value, true, true);
            else integer((unsigned long)(make_unsigned_t<U>)value, false, is_signed_v<U>);
        } else if constexpr (is_floating_point_v<U>) {
            real(value);
        } else if constexpr (is_same_v<U, const char*> || is_same_v<U, char*>) {
            const char* text = value;
            if (text == nullptr) setstate(badbit);
            else padded(text, std::strlen(text), 0);
        } else if constexpr (is_same_v<U, string>) {
            padded(value.data(), value.size(), 0);
        } else if constexpr (is_pointer_v<U>) {
            unsigned kept = setf(hex | showbase, basefield | showbase | uppercase);
            integer(reinterpret_cast<unsigned long>(value), false, false);
            flags_ = kept;
        } else if constexpr (is_same_v<U, nullptr_t>) {
            padded("nullptr", 7, 0);
        } else if constexpr (!__wb_is_class(*(U*)nullptr) && __wb_is_made_of(*(long*)nullptr, *(const U*)nullptr)) {
            __wb_show((long)value);
        } else {
            __wb::Value<U>::put(value);
            __wb_run_op(__wb_host_op("streamed"), 1);
            string text = __wb::Value<string>::get();
            write(text.data(), text.size());
        }
    }
    void __wb_set(const __wb_setting& set) {
        if (set.what == 0) precision_ = set.n;
        else if (set.what == 1) width_ = set.n;
        else fill_ = (char)set.n;
    }

    // Reading. The longest text that may be a number is taken.
    int peek() {
        if (!good()) return -1;
        if (text_ != nullptr && at_ < text_->size()) return (unsigned char)(*text_)[at_];
        setstate(eofbit);
        return -1;
    }
    int get() {
        int c = peek();
        count_ = c >= 0;
        if (c < 0) setstate(failbit);
        else ++at_;
        return c;
    }
    ostream& get(char& c) {
        int next = get();
        if (next >= 0) c = (char)next;
        return *this;
    }
    ostream& unget() {
        state_ &= ~eofbit;
        if (at_ > 0) --at_;
        else setstate(badbit);
        return *this;
    }
    ostream& ignore(long n = 1, int until = -1) {
        for (count_ = 0; (long)count_ < n && peek() >= 0;) {
            ++count_;
            if ((unsigned char)(*text_)[at_++] == until) break;
        }
        return *this;
    }
    ostream& read(char* to, long n) {
        for (count_ = 0; (long)count_ < n && peek() >= 0; ++count_) to[count_] = (*text_)[at_++];
        if ((long)count_ < n) setstate(failbit);
        return *this;
    }
    long gcount() const { return count_; }
    long tellg() const { return fail() ? -1 : (long)at_; }
    ostream& seekg(long to) {
        state_ &= ~eofbit;
        at_ = to;
        return *this;
    }
    // Skips blanks; true if anything follows.
    bool __wb_begin() {
        if (good() && (flags_ & skipws))
            while (isspace(peek())) ++at_;
        if (peek() < 0) setstate(failbit);
        return good();
    }
    void __wb_take(string& word) {
        if (!__wb_begin()) return;
        word.clear();
        long most = exchange(width_, 0l);
        while (peek() >= 0 && !isspace(peek()) && (most <= 0 || (long)word.size() < most)) word += (char)get();
    }
    void __wb_take(char& c) {
        if (__wb_begin()) c = (char)get();
    }
    template <typename T> void __wb_take(T& value) {
        if (!__wb_begin()) return;
        if constexpr (is_same_v<T, bool>) {
            if (flags_ & boolalpha) {
                string name;
                while (isalpha(peek()) && name != "true" && name != "false") name += (char)get();
                value = name == "true";
                if (!value && name != "false") setstate(failbit);
            } else {
                long n = 0;
                __wb_take(n);
                value = n != 0;
                if (n != 0 && n != 1) setstate(failbit);
            }
        } else if constexpr (is_floating_point_v<T>) {
            string taken;
            bool point = false, digits = false, ended = false;
            while (peek() >= 0) {
                char c = (char)peek(), last = taken.empty() ? 'e' : taken.back();
                bool exponent = (c == 'e' || c == 'E') && digits && !ended, sign = (c == '-' || c == '+') && (last == 'e' || last == 'E');
                if (!isdigit(c) && !exponent && !sign && !(c == '.' && !point && !ended)) break;
                if (exponent) ended = true;
                point = point || c == '.';
                digits = digits || isdigit(c);
                taken += c;
                ++at_;
            }
            value = 0;
            if (!digits || !isdigit(taken.back() == '.' ? '0' : taken.back())) return setstate(failbit);
            __wb_push_text(taken.data() + (taken[0] == '+'), taken.size() - (taken[0] == '+'));
            __wb_push_bool(is_same_v<T, float>);
            __wb_run_op(__wb_host_op("number"), 2);
            double read = __wb_pop_float();
            value = (T)read;
            if (read - read != 0) {
                value = read > 0 ? numeric_limits<T>::max() : numeric_limits<T>::lowest();
                setstate(failbit);
            }
        } else {
            unsigned base = flags_ & hex ? 16 : flags_ & oct ? 8 : 10;
            bool negative = peek() == '-', any = false, fits = true;
            if (negative || peek() == '+') ++at_;
            unsigned long all = 0, limit = (unsigned long)numeric_limits<T>::max() + (negative && is_signed_v<T> ? 1 : 0);
            if (base == 16 && peek() == '0') {
                any = true;
                ++at_;
                if (peek() == 'x' || peek() == 'X') {
                    any = false;
                    ++at_;
                }
            }
            for (;; ++at_) {
                int c = peek();
                unsigned digit = isdigit(c) ? c - '0' : c >= 0 && isalpha(c) ? tolower(c) - 'a' + 10 : 99;
                if (digit >= base) break;
                any = true;
                if (digit > limit || all > (limit - digit) / base) fits = false;
                all = all * base + digit;
            }
            value = negative ? (T)(0 - all) : (T)all;
            if (!any) value = 0;
            if (!fits) value = negative && is_signed_v<T> ? numeric_limits<T>::min() : numeric_limits<T>::max();
            if (!any || !fits) setstate(failbit);
        }
    }
};
// The operators are no members, so that a text's own ones are preferred.
template <typename T> ostream& operator<<(ostream& s, const T& value) {
    s.__wb_show(value);
    return s;
}
inline ostream& operator<<(ostream& s, const __wb_endl&) { return s.write("\n", 1); }
inline ostream& operator<<(ostream& s, const __wb_flush&) { return s; }
inline ostream& operator<<(ostream& s, const __wb_flags& flags) {
    flags(s);
    return s;
}
inline ostream& operator<<(ostream& s, const __wb_setting& set) {
    s.__wb_set(set);
    return s;
}
inline ostream& operator<<(ostream& s, ostream& (*manipulator)(ostream&)) { return manipulator(s); }
template <typename T, typename = enable_if_t<is_arithmetic_v<T> || is_same_v<T, string>>> ostream& operator>>(ostream& s, T& value) {
    s.__wb_take(value);
    return s;
}
inline ostream& operator>>(ostream& s, const __wb_ws&) {
    while (isspace(s.peek())) s.get();
    return s;
}
inline ostream& operator>>(ostream& s, const __wb_flags& flags) {
    flags(s);
    return s;
}
inline ostream& operator>>(ostream& s, const __wb_setting& set) {
    s.__wb_set(set);
    return s;
}
using istream = ostream;
using iostream = ostream;
inline ostream cout, cerr, clog;

inline ostream& getline(ostream& s, string& line, char end = '\n') {
    if (s.peek() < 0) {
        s.setstate(ios_base::failbit);
        return s;
    }
    line.clear();
    while (s.peek() >= 0) {
        char c = (char)s.get();
        if (c == end) break;
        line += c;
    }
    return s;
}

// Writes each value, with a text after it.
template <typename T, typename C = char> class ostream_iterator {
    ostream* to_;
    const char* after_;

public:
    ostream_iterator(ostream& to, const char* after = nullptr) : to_(&to), after_(after) {}
    ostream_iterator& operator*() { return *this; }
    ostream_iterator& operator++() { return *this; }
    ostream_iterator& operator++(int) { return *this; }
    ostream_iterator& operator=(const T& value) {
        *to_ << value;
        if (after_ != nullptr) *to_ << after_;
        return *this;
    }
};

class stringstream : public ostream {
    string own_;

public:
    stringstream() { text_ = &own_; }
    explicit stringstream(const string& text, openmode mode = 0) : own_(text) {
        text_ = &own_;
        if (mode & (ate | app)) to_ = own_.size();
        if (mode & app) flags_ |= 1u << 31;
    }
    explicit stringstream(openmode) : stringstream() {}
    string str() const { return own_; }
    void str(const string& text) {
        own_ = text;
        to_ = 0;
        at_ = 0;
    }
};
using ostringstream = stringstream;
using istringstream = stringstream;

}
