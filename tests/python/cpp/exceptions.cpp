// Exceptions: each case is a function `void name(Log&)` after a line `//: name`. The system's compiler says what is right.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Log = std::vector<std::string>;

struct Trace {
    Log& log;
    std::string name;
    Trace(Log& l, std::string n) : log(l), name(std::move(n)) { log.push_back("+" + name); }
    Trace(const Trace& other) : log(other.log), name(other.name + "'") { log.push_back("+" + name); }
    ~Trace() { log.push_back("-" + name); }
};

struct Base : std::runtime_error {
    int code;
    Base(const std::string& what, int c) : std::runtime_error(what), code(c) {}
};
struct Derived : Base {
    double extra;
    explicit Derived(double e) : Base("derived", 7), extra(e) {}
};
struct Plain {
    int value;
};
struct Told : std::exception {
    std::string text;
    explicit Told(std::string t) : text(std::move(t)) {}
    const char* what() const noexcept override { return text.c_str(); }
};

static int depth(Log& log, int n) {
    Trace t(log, std::to_string(n));
    if (n == 0) throw Derived(0.5);
    int below = depth(log, n - 1);
    log.push_back("never");
    return below + 1;
}

//: levels
void levels(Log& log) {
    try {
        depth(log, 4);
    } catch (const Base& e) {
        log.push_back(std::string(e.what()) + " " + std::to_string(e.code));
    }
}

//: order_of_handlers
static void thrown(int i) {
    switch (i) {
        case 0: throw Derived(1);
        case 1: throw Base("base", 3);
        case 2: throw std::out_of_range("range");
        case 3: throw Plain{5};
        case 4: throw 'c';
        case 5: throw 1.5f;
        case 6: throw 1u;
        case 7: throw true;
        case 8: throw Told("told");
        case 9: throw std::string("text");
        case 10: throw std::logic_error("logic");
        case 11: throw std::bad_alloc();
        case 12: throw std::invalid_argument("argument");
        case 13: throw std::overflow_error("overflow");
        case 14: throw std::length_error("length");
        default: break;
    }
}
void order_of_handlers(Log& log) {
    for (int i = 0; i < 16; ++i) {
        try {
            thrown(i);
            log.push_back("nothing");
        } catch (Derived& e) {
            log.push_back("Derived");
        } catch (const Base& e) {
            log.push_back("Base " + std::to_string(e.code));
        } catch (const std::invalid_argument& e) {
            log.push_back(std::string("invalid_argument ") + e.what());
        } catch (const std::logic_error& e) {
            log.push_back(std::string("logic_error ") + e.what());
        } catch (const std::runtime_error& e) {
            log.push_back(std::string("runtime_error ") + e.what());
        } catch (const std::exception& e) {
            log.push_back(std::string("exception ") + e.what());
        } catch (Plain p) {
            log.push_back("Plain " + std::to_string(p.value));
        } catch (int i) {
            log.push_back("int");
        } catch (char c) {
            log.push_back("char " + std::to_string((int)c));
        } catch (double d) {
            log.push_back("double");
        } catch (float f) {
            log.push_back("float " + std::to_string(f));
        } catch (unsigned u) {
            log.push_back("unsigned " + std::to_string(u));
        } catch (bool b) {
            log.push_back(b ? "true" : "false");
        } catch (const std::string& s) {
            log.push_back("string " + s);
        } catch (...) {
            log.push_back("...");
        }
    }
}

//: loops
void loops(Log& log) {
    int sum = 0;
    for (int i = 0; i < 20; ++i) {
        Trace round(log, "round" + std::to_string(i));
        try {
            Trace inner(log, "inner");
            if (i == 2) continue;
            if (i == 7) break;
            if (i % 3 == 1) throw i;
            sum += i;
        } catch (int k) {
            sum += 100 * k;
            if (k == 4) continue;
            log.push_back("caught " + std::to_string(k));
        }
        log.push_back("end of round");
    }
    log.push_back(std::to_string(sum));
}

//: returns
static std::string out_of_try(Log& log, int how) {
    Trace whole(log, "whole");
    try {
        Trace inner(log, "inner");
        if (how == 0) return "from try";
        if (how == 1) throw 1;
        if (how == 2) throw 2.0;
        log.push_back("through");
    } catch (int) {
        Trace handler(log, "handler");
        return "from handler";
    } catch (double d) {
        log.push_back("double");
    }
    return "from end";
}
void returns(Log& log) {
    for (int how = 0; how < 4; ++how) log.push_back(out_of_try(log, how));
}

//: rethrow
static void changes(Log& log) {
    try {
        Trace t(log, "changes");
        throw Base("first", 1);
    } catch (Base& e) {
        e.code += 10;
        Trace t(log, "handler");
        throw;
    }
}
static void again() { throw; }
void rethrow(Log& log) {
    try {
        try {
            changes(log);
        } catch (const std::runtime_error& e) {
            log.push_back(e.what());
            again();
        }
    } catch (Base e) {
        log.push_back(std::to_string(e.code));
        e.code = 0;
    }
    try {
        try {
            throw 5;
        } catch (...) {
            throw;
        }
    } catch (int i) {
        log.push_back(std::to_string(i));
    }
}

//: within_handlers
void within_handlers(Log& log) {
    try {
        try {
            throw Base("a", 1);
        } catch (const Base& e) {
            Trace t(log, "t");
            try {
                throw Base("b", 2);
            } catch (const Base& inner) {
                log.push_back(inner.what() + std::string(e.what()));
            }
            log.push_back(e.what());
            if (e.code == 1) throw Derived(2);
            log.push_back("never");
        } catch (const Derived& d) {
            log.push_back("handlers of one try do not see one another's");
        }
    } catch (const Derived& d) {
        log.push_back("derived " + std::to_string(d.extra) + " " + std::to_string(d.code));
    }
}

//: constructors
struct Member {
    Log& log;
    int id;
    Member(Log& l, int i) : log(l), id(i) {
        log.push_back("make " + std::to_string(id));
        if (i < 0) throw i;
    }
    ~Member() { log.push_back("unmake " + std::to_string(id)); }
};
struct Root {
    Log& log;
    explicit Root(Log& l) : log(l) { log.push_back("root"); }
    ~Root() { log.push_back("unroot"); }
};
struct Whole : Root {
    Member a, b;
    std::vector<int> numbers;
    Whole(Log& l, int x, int y, bool fails) : Root(l), a(l, x), b(l, y), numbers(3) {
        Trace local(log, "local");
        if (fails) throw std::string("body");
        log.push_back("whole");
    }
    ~Whole() { log.push_back("unwhole"); }
};
void constructors(Log& log) {
    for (int i = 0; i < 4; ++i) {
        try {
            Whole w(log, i == 1 ? -1 : 1, i == 2 ? -2 : 2, i == 3);
            log.push_back("there");
        } catch (int k) {
            log.push_back("int " + std::to_string(k));
        } catch (const std::string& s) {
            log.push_back(s);
        }
    }
    try {
        std::unique_ptr<Whole> p(new Whole(log, 1, 2, false));
        std::unique_ptr<Whole> q(new Whole(log, 1, -2, false));
    } catch (int k) {
        log.push_back("int " + std::to_string(k));
    }
}

//: parts
struct Quiet {
    Log* log = nullptr;
    ~Quiet() {
        if (log) log->push_back("quiet");
    }
};
static Log* current = nullptr;
struct Silent {
    ~Silent() { current->push_back("silent"); }
};
struct Holder {
    Silent s;
    Quiet q;
    explicit Holder(Log& log) {
        q.log = &log;
        throw 1;
    }
};
struct Under : Silent {
    Under() { throw 2; }
};
struct Delegates {
    int x;
    explicit Delegates(int k) : x(k) {}
    Delegates() : Delegates(4) { throw x; }
    ~Delegates() { current->push_back("delegated"); }
};
void parts(Log& log) {
    current = &log;
    for (int i = 0; i < 3; ++i) {
        try {
            if (i == 0) Holder h(log);
            if (i == 1) Under u;
            if (i == 2) Delegates d;
        } catch (int k) {
            log.push_back(std::to_string(k));
        }
    }
}

//: base_names
namespace far {
struct Origin {
    int n;
    explicit Origin(int k) : n(k) {}
};
template <typename T> struct Typed {
    T t;
    explicit Typed(T v) : t(v) {}
};
}
struct Origin : far::Origin {
    int twice;
    explicit Origin(int k) : far::Origin(k), twice(2 * k) {}
    Origin() : Origin(6) {}
};
struct Near : far::Origin, far::Typed<int> {
    Near() : Origin(4), Typed(5) {}
};
struct Named : std::runtime_error {
    explicit Named(const std::string& s) : runtime_error("named " + s) {}
};
void base_names(Log& log) {
    Near n;
    log.push_back(std::to_string(n.n) + std::to_string(n.t));
    ::Origin o;
    log.push_back(std::to_string(o.n) + std::to_string(o.twice));
    try {
        throw Named("x");
    } catch (const std::runtime_error& e) {
        log.push_back(e.what());
    }
}

//: constexpr_functions
constexpr int positive(int x) {
    if (x < 0) throw std::invalid_argument("negative");
    return 2 * x;
}
struct Ranged {
    int v;
    constexpr explicit Ranged(int x) : v(x) {
        if (x > 9) throw x;
    }
};
constexpr int known = positive(21);
void constexpr_functions(Log& log) {
    static_assert(positive(4) == 8, "");
    int table[positive(3)] = {};
    log.push_back(std::to_string(known + (int)(sizeof(table) / sizeof(int))));
    for (int i = -1; i < 2; ++i) {
        try {
            log.push_back(std::to_string(positive(i)) + std::to_string(Ranged(10 * i).v));
        } catch (const std::exception& e) {
            log.push_back(e.what());
        } catch (int k) {
            log.push_back("ranged " + std::to_string(k));
        }
    }
}

//: moved
struct Owner {
    std::unique_ptr<int> p;
    explicit Owner(int k) : p(new int(k)) {}
    Owner(Owner&& other) : p(std::move(other.p)) {}
};
void moved(Log& log) {
    Owner o(3);
    try {
        throw std::move(o);
    } catch (const Owner& e) {
        log.push_back(std::to_string(*e.p) + (o.p ? " kept" : " gone"));
    }
}

//: pointers
struct First {
    int a = 1;
};
struct Second : First {
    int b = 2;
};
void pointers(Log& log) {
    static Second object;
    static int number = 4;
    try {
        throw &object;
    } catch (const First* f) {
        log.push_back("first " + std::to_string(f->a));
    } catch (...) {
        log.push_back("...");
    }
    try {
        throw &number;
    } catch (double*) {
        log.push_back("double");
    } catch (const void* p) {
        log.push_back("void " + std::to_string(*(const int*)p));
    }
    try {
        throw "text";
    } catch (char*) {
        log.push_back("char");
    } catch (const char* s) {
        log.push_back(s);
    }
    const int* constant = &number;
    try {
        throw constant;
    } catch (int*) {
        log.push_back("int");
    } catch (const int* p) {
        log.push_back("const int");
    }
}

//: temporaries
static int uses(const Trace& t, int n) { return (int)t.name.size() + n; }
static int raises(Log& log, int n) {
    if (n > 0) throw n;
    return n;
}
void temporaries(Log& log) {
    try {
        int n = uses(Trace(log, "one"), 1);
        n += uses(Trace(log, "three"), n) + raises(log, n);
        log.push_back("never");
    } catch (int n) {
        log.push_back(std::to_string(n));
    }
    try {
        Trace a(log, "a");
        Trace b(a);
        Trace c = raises(log, 0) == 0 ? Trace(log, "c") : b;
        raises(log, 3);
    } catch (int n) {
        log.push_back(std::to_string(n));
    }
}

//: lambdas
void lambdas(Log& log) {
    std::vector<int> v{3, 1, 2};
    try {
        std::for_each(v.begin(), v.end(), [&](int x) {
            Trace t(log, std::to_string(x));
            if (x == 1) throw Plain{x};
        });
    } catch (const Plain& p) {
        log.push_back("plain " + std::to_string(p.value));
    }
    std::function<int(int)> f = [&](int x) {
        try {
            if (x > 1) throw x;
        } catch (int y) {
            return -y;
        }
        return x;
    };
    log.push_back(std::to_string(f(1)) + std::to_string(f(2)));
    auto thrower = [&log](const char* text) { throw std::runtime_error(text); };
    try {
        thrower("from lambda");
    } catch (const std::exception& e) {
        log.push_back(e.what());
    }
    try {
        std::sort(v.begin(), v.end(), [&](int a, int b) {
            if (a + b == 3) throw a + b;
            return a < b;
        });
        log.push_back("never");
    } catch (int n) {
        log.push_back("sort " + std::to_string(n));
    }
}

//: function_try
static int whole_function(Log& log, int n) try {
    Trace t(log, "body");
    if (n > 0) throw n;
    return 1;
} catch (int k) {
    log.push_back("caught " + std::to_string(k));
    return k + n;
}
struct Method {
    int n;
    int half() const try {
        if (n % 2) throw std::string("odd");
        return n / 2;
    } catch (const std::string& s) {
        return -(int)s.size();
    }
};
void function_try(Log& log) {
    log.push_back(std::to_string(whole_function(log, 0)));
    log.push_back(std::to_string(whole_function(log, 4)));
    log.push_back(std::to_string(Method{6}.half()) + std::to_string(Method{7}.half()));
}

//: destructors
struct Careful {
    Log& log;
    int n;
    ~Careful() {
        try {
            Trace t(log, "careful");
            if (n > 1) throw n;
        } catch (int k) {
            log.push_back("inside " + std::to_string(k));
        }
    }
};
void destructors(Log& log) {
    try {
        Careful a{log, 1};
        Careful b{log, 2};
        throw Base("outside", 9);
    } catch (const Base& e) {
        log.push_back(std::string(e.what()) + std::to_string(e.code));
    }
}

//: objects_of_exceptions
struct Counted {
    Log& log;
    int id;
    Counted(Log& l, int i) : log(l), id(i) {}
    Counted(const Counted& o) : log(o.log), id(o.id) {}
    ~Counted() { log.push_back("gone " + std::to_string(id)); }
};
void objects_of_exceptions(Log& log) {
    try {
        Counted c(log, 1);
        c.id = 2;
        throw c;
    } catch (const Counted& c) {
        log.push_back("caught " + std::to_string(c.id));
    }
    log.push_back("between");
    try {
        try {
            Counted c(log, 3);
            throw c;
        } catch (Counted& c) {
            c.id = 4;
            log.push_back("again");
            throw;
        }
    } catch (Counted& c) {
        log.push_back("caught " + std::to_string(c.id));
    }
    log.push_back("end");
}

//: templates
template <typename E> void raise_it(const char* text) { throw E(text); }
template <typename E, typename F> bool catches(F f) {
    try {
        f();
    } catch (const E&) {
        return true;
    }
    return false;
}
void templates(Log& log) {
    log.push_back(catches<std::runtime_error>([] { raise_it<std::range_error>("r"); }) ? "yes" : "no");
    log.push_back(catches<std::exception>([] { raise_it<Told>("r"); }) ? "yes" : "no");
    try {
        log.push_back(catches<std::logic_error>([] { raise_it<std::range_error>("range"); }) ? "yes" : "no");
    } catch (const std::range_error& e) {
        log.push_back(e.what());
    }
    log.push_back(catches<int>([] {}) ? "yes" : "no");
}

//: local_types
void local_types(Log& log) {
    struct Here {
        int a;
        const char* b;
    };
    enum Colour { red, green };
    enum class Size { small, large };
    try {
        throw Here{3, "here"};
    } catch (const Here& h) {
        log.push_back(std::to_string(h.a) + h.b);
    }
    try {
        throw green;
    } catch (int) {
        log.push_back("int");
    } catch (Colour c) {
        log.push_back(c == green ? "green" : "red");
    }
    try {
        throw Size::large;
    } catch (Size s) {
        log.push_back(s == Size::large ? "large" : "small");
    }
    static int place = 4;
    try {
        throw &place;
    } catch (const int* p) {
        log.push_back("pointer " + std::to_string(*p));
    }
    try {
        throw nullptr;
    } catch (...) {
        log.push_back("null");
    }
}

//: expressions
static int chosen(int n) { return n > 0 ? n : throw std::invalid_argument("not positive"); }
void expressions(Log& log) {
    for (int n = 1; n >= -1; --n) {
        try {
            int twice = 2 * chosen(n);
            log.push_back(std::to_string(twice));
        } catch (std::logic_error& e) {
            log.push_back(e.what());
        }
    }
    int n = 3;
    for (int i = 0; i < 3; ++i) {
        try {
            int& place = i == 1 ? throw 4 : n;
            place += i;
            std::string text = i > 1 ? throw Plain{i} : std::string("text");
            log.push_back(text + std::to_string(n));
            i == 0 ? (void)++n : throw 1.0;
        } catch (int k) {
            log.push_back("int");
        } catch (Plain p) {
            log.push_back("plain " + std::to_string(p.value));
        }
    }
    n = 3;
    switch (n) {
        case 3:
            try {
                chosen(-3);
            } catch (...) {
                log.push_back("three");
            }
            break;
        default: log.push_back("default");
    }
    bool ok = true;
    do {
        try {
            if (ok) throw 1;
            log.push_back("second");
        } catch (int) {
            ok = false;
            continue;
        }
    } while (!ok && (ok = true, false));
    log.push_back("done");
}

//: library
void library(Log& log) {
    std::vector<int> v{1, 2, 3};
    std::optional<int> none;
    for (int i = 0; i < 15; ++i) {
        try {
            if (i == 0) v.at(7) = 1;
            if (i == 1) std::stoi("no number");
            if (i == 2) none.value();
            if (i == 3) std::string("abc").substr(9);
            if (i == 4) std::stoi("99999999999999999999");
            if (i == 5) std::stoll("9223372036854775808");
            if (i == 6) std::stod("1e999");
            if (i == 7) std::stof("1e99");
            if (i == 8) std::string("abc").erase(5);
            if (i == 9) v.resize((size_t)-1);
            if (i == 10) v.reserve((size_t)-1);
            if (i == 11) std::function<int(int)>()(3);
            if (i == 12) none.value();
            if (i == 13) std::stoul("x1");
            if (i == 14) v.resize((size_t)1 << 45);
        } catch (const std::out_of_range&) {
            log.push_back("out_of_range");
        } catch (const std::invalid_argument&) {
            log.push_back("invalid_argument");
        } catch (const std::length_error&) {
            log.push_back("length_error");
        } catch (const std::logic_error&) {
            log.push_back("logic_error");
        } catch (const std::runtime_error&) {
            log.push_back("runtime_error");
        } catch (const std::bad_alloc&) {
            log.push_back("bad_alloc");
        } catch (const std::bad_optional_access&) {
            log.push_back("bad_optional_access");
        } catch (const std::bad_function_call&) {
            log.push_back("bad_function_call");
        } catch (const std::exception&) {
            log.push_back("exception");
        }
    }
}

//: values_survive
void values_survive(Log& log) {
    int64_t count = 0;
    double x = 1.5;
    std::string text = "a";
    int array[4] = {1, 2, 3, 4};
    for (int i = 0; i < 6; ++i) {
        try {
            ++count;
            text += std::to_string(i);
            array[i % 4] *= 2;
            x *= 2;
            if (i % 2) throw i;
            count += 10;
        } catch (int k) {
            count += 100 * k;
            array[k % 4] += 1;
        }
    }
    log.push_back(std::to_string(count) + " " + text + " " + std::to_string(x));
    for (int a : array) log.push_back(std::to_string(a));
}

//: many
void many(Log& log) {
    int64_t sum = 0;
    for (int i = 0; i < 2000; ++i) {
        try {
            std::vector<int> v(i % 7 + 1, i);
            if (i % 2) throw Base("many", v[0]);
            sum += v.back();
        } catch (const Base& e) {
            sum -= e.code;
        }
    }
    log.push_back(std::to_string(sum));
}

//: bases
struct Left {
    int l = 1;
};
struct Right {
    int r = 2;
};
struct Both : Left, Right, std::runtime_error {
    Both() : std::runtime_error("both") { r = 5; }
};
void bases(Log& log) {
    try {
        throw Both();
    } catch (const Right& r) {
        log.push_back("right " + std::to_string(r.r));
    }
    try {
        throw Both();
    } catch (const std::exception& e) {
        log.push_back(e.what());
    }
    try {
        throw Both();
    } catch (Left l) {
        log.push_back("left " + std::to_string(l.l));
    }
}
