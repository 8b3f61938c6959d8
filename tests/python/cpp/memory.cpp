// Owners: each case is a function `void name(Log&)` after a line `//: name`. The system's compiler says what is right.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <stack>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using Log = std::vector<std::string>;

struct Trace {
    Log* log;
    int n;
    Trace(Log* l, int k) : log(l), n(k) { log->push_back("+" + std::to_string(n)); }
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    ~Trace() { log->push_back("-" + std::to_string(n)); }
};
struct Wide : Trace {
    double extra;
    Wide(Log* l, int k, double e) : Trace(l, k), extra(e) {}
    ~Wide() { log->push_back("wide"); }
};
static void say(Log& log, const char* what, int64_t n) { log.push_back(std::string(what) + std::to_string(n)); }

//: shared_counts
void shared_counts(Log& log) {
    std::shared_ptr<Trace> a(new Trace(&log, 1));
    say(log, "one ", a.use_count());
    {
        std::shared_ptr<Trace> b = a, c(b);
        say(log, "three ", a.use_count());
        c = b;
        say(log, "three ", c.use_count());
        c = nullptr;
        say(log, "two ", b.use_count());
        b = std::make_shared<Trace>(&log, 2);
        say(log, "one ", a.use_count());
    }
    say(log, "one ", a.use_count());
    a = a;
    say(log, "one ", a.use_count());
    a.reset(new Trace(&log, 3));
    a.reset();
    say(log, "none ", a.use_count());
    say(log, "bool ", bool(a));
    say(log, "null ", a == nullptr);
}

//: shared_moves
void shared_moves(Log& log) {
    auto a = std::make_shared<Trace>(&log, 1);
    auto b = std::move(a);
    say(log, "moved ", a == nullptr);
    say(log, "count ", b.use_count());
    a = std::move(b);
    say(log, "moved ", !b);
    auto c = std::make_shared<Trace>(&log, 2);
    a.swap(c);
    say(log, "n ", a->n);
    std::swap(a, c);
    say(log, "n ", (*a).n);
    c = std::move(a);
    say(log, "n ", c->n);
}

//: shared_compare
void shared_compare(Log& log) {
    auto a = std::make_shared<int>(1), b = std::make_shared<int>(1), c = a;
    std::shared_ptr<int> none;
    say(log, "", a == b);
    say(log, "", a == c);
    say(log, "", a != b);
    say(log, "", (a < b) != (b < a));
    say(log, "", a <= c && a >= c);
    say(log, "", none == nullptr);
    say(log, "", nullptr == a);
    say(log, "", nullptr != a);
    std::map<std::shared_ptr<int>, int> m;
    m[a] = 1;
    m[b] = 2;
    m[c] = 3;
    say(log, "size ", m.size());
    say(log, "at ", m[a]);
}

//: shared_deleter
void shared_deleter(Log& log) {
    int calls = 0;
    {
        std::shared_ptr<int> p(new int(3), [&](int* q) {
            ++calls;
            say(log, "deleter ", *q);
            delete q;
        });
        auto q = p;
        say(log, "calls ", calls);
    }
    say(log, "calls ", calls);
    {
        std::shared_ptr<int> none(nullptr, [&](int* q) { say(log, "of null ", q == nullptr); });
        say(log, "count ", none.use_count());
    }
    int local = 5;
    {
        std::shared_ptr<int> view(&local, [](int*) {});
        *view += 1;
    }
    say(log, "local ", local);
    std::shared_ptr<Trace> t;
    t.reset(new Trace(&log, 4), std::default_delete<Trace>());
}

//: shared_alias
void shared_alias(Log& log) {
    std::shared_ptr<int> part;
    {
        auto whole = std::make_shared<Trace>(&log, 8);
        part = std::shared_ptr<int>(whole, &whole->n);
        say(log, "count ", part.use_count());
    }
    say(log, "still ", *part);
    part = nullptr;
    log.push_back("end");
}

//: shared_bases
void shared_bases(Log& log) {
    std::shared_ptr<Trace> base = std::make_shared<Wide>(&log, 1, 2.5);
    say(log, "n ", base->n);
    auto wide = std::static_pointer_cast<Wide>(base);
    say(log, "extra ", int64_t(wide->extra * 2));
    say(log, "count ", base.use_count());
    std::shared_ptr<const Trace> constant = base;
    auto back = std::const_pointer_cast<Trace>(constant);
    back->n = 9;
    say(log, "count ", base.use_count());
    std::shared_ptr<void> any = base;
    base = wide = nullptr;
    constant.reset();
    back.reset();
    say(log, "count ", any.use_count());
    say(log, "n ", std::static_pointer_cast<Trace>(any)->n);
}

//: shared_of_unique
void shared_of_unique(Log& log) {
    auto u = std::make_unique<Trace>(&log, 1);
    std::shared_ptr<Trace> s = std::move(u);
    say(log, "taken ", u == nullptr);
    say(log, "count ", s.use_count());
    s = std::make_unique<Wide>(&log, 2, 1.0);
    say(log, "n ", s->n);
    std::unique_ptr<Trace> none;
    std::shared_ptr<Trace> empty(std::move(none));
    say(log, "count ", empty.use_count());
}

//: shared_arrays
void shared_arrays(Log& log) {
    std::shared_ptr<int[]> a(new int[7]);
    for (int i = 0; i < 7; ++i) a[i] = i * i;
    auto b = a;
    b[2] = 40;
    say(log, "", a[2] + a[6]);
    say(log, "count ", b.use_count());
}

//: weak
void weak(Log& log) {
    std::weak_ptr<Trace> w, none;
    say(log, "expired ", none.expired());
    say(log, "lock ", none.lock() == nullptr);
    {
        auto a = std::make_shared<Trace>(&log, 1);
        w = a;
        std::weak_ptr<Trace> v = w, u(std::move(v));
        say(log, "expired ", v.expired());
        say(log, "count ", u.use_count());
        auto b = u.lock();
        say(log, "count ", w.use_count());
        std::shared_ptr<Trace> c(w);
        say(log, "count ", c.use_count());
        std::weak_ptr<const Trace> wide = a;
        say(log, "n ", wide.lock()->n);
        u.reset();
        say(log, "count ", u.use_count());
    }
    say(log, "expired ", w.expired());
    say(log, "lock ", bool(w.lock()));
    w.reset();
}

//: weak_that_expired
void weak_that_expired(Log& log) {
    std::weak_ptr<int> w = std::make_shared<int>(3);
    try {
        std::shared_ptr<int> p(w);
        log.push_back("not here");
    } catch (const std::exception& e) {
        log.push_back(e.what());
    }
}

struct Node {
    int value;
    std::vector<std::shared_ptr<Node>> children;
    std::weak_ptr<Node> parent;
    Log* log;
    Node(Log* l, int v) : value(v), log(l) {}
    ~Node() { log->push_back("~" + std::to_string(value)); }
};

//: tree
void tree(Log& log) {
    auto root = std::make_shared<Node>(&log, 0);
    for (int i = 1; i < 4; ++i) {
        auto child = std::make_shared<Node>(&log, i);
        child->parent = root;
        root->children.push_back(child);
    }
    say(log, "root ", root.use_count());
    say(log, "parent ", root->children[1]->parent.lock()->value);
    auto kept = root->children[2];
    root->children.erase(root->children.begin());
    say(log, "left ", root->children.size());
    root.reset();
    say(log, "orphan ", kept->parent.expired());
}

//: a_list
struct Link {
    int value;
    std::shared_ptr<Link> next;
};
void a_list(Log& log) {
    std::shared_ptr<Link> head;
    for (int i = 0; i < 50; ++i) {
        auto link = std::make_shared<Link>();
        link->value = i;
        link->next = head;
        head = link;
    }
    int64_t sum = 0;
    for (auto at = head; at; at = at->next) sum += at->value;
    say(log, "sum ", sum);
}

struct Self : std::enable_shared_from_this<Self> {
    int n = 4;
    std::shared_ptr<Self> me() { return shared_from_this(); }
};

//: self
void self(Log& log) {
    auto a = std::make_shared<Self>();
    auto b = a->me();
    say(log, "same ", a == b);
    say(log, "count ", a.use_count());
    std::weak_ptr<Self> w = a->weak_from_this();
    a.reset();
    say(log, "count ", w.use_count());
    b = nullptr;
    say(log, "expired ", w.expired());
    try {
        Self alone;
        alone.me();
    } catch (const std::exception& e) {
        log.push_back(e.what());
    }
}

struct Say {
    Log* log;
    void operator()(int* p) const {
        say(*log, "freed ", *p);
        delete p;
    }
};
static Log* freed;
static void plain(int* p) {
    say(*freed, "plain ", *p);
    delete p;
}

//: unique_deleter
void unique_deleter(Log& log) {
    {
        std::unique_ptr<int, Say> a(new int(1), Say{&log});
        std::unique_ptr<int, Say> b = std::move(a);
        say(log, "gone ", a == nullptr);
        b.reset(new int(2));
        a = std::move(b);
    }
    freed = &log;
    {
        std::unique_ptr<int, void (*)(int*)> c(new int(3), plain);
        std::unique_ptr<int, void (*)(int*)> d(nullptr, &plain);
        c.swap(d);
    }
    auto gone = [&](int* p) { say(log, "lambda ", *p); delete p; };
    std::unique_ptr<int, decltype(gone)> e(new int(5), gone);
    int* f = e.release();
    say(log, "released ", *f);
    e.get_deleter()(f);
}

//: unique_forms
void unique_forms(Log& log) {
    std::unique_ptr<Trace> a = std::make_unique<Trace>(&log, 1);
    std::unique_ptr<Trace> b(std::move(a));
    say(log, "", !a);
    say(log, "", nullptr != b);
    b = nullptr;
    say(log, "", b == nullptr);
    auto n = std::make_unique<int[]>(5);
    n[3] = 4;
    say(log, "", n[0] + n[3]);
    std::vector<std::unique_ptr<Trace>> all;
    for (int i = 2; i < 5; ++i) all.push_back(std::make_unique<Trace>(&log, i));
    all.emplace_back(new Trace(&log, 5));
    all.erase(all.begin() + 1);
    say(log, "size ", all.size());
    std::swap(all[0], all[2]);
    say(log, "n ", all[0]->n);
    all.pop_back();
    all.pop_back();
    std::map<std::string, std::unique_ptr<Trace>> named;
    named["x"] = std::make_unique<Trace>(&log, 10);
    named["x"] = std::make_unique<Trace>(&log, 11);
    say(log, "n ", named["x"]->n);
    named.erase("x");
}

struct MovesOnly {
    std::string s;
    explicit MovesOnly(std::string x) : s(std::move(x)) {}
    MovesOnly(MovesOnly&& other) : s(std::move(other.s)) {}
    MovesOnly(const MovesOnly&) = delete;
};
struct Holder {
    MovesOnly held;
    int& counter;
    Holder(MovesOnly&& m, int& c) : held(std::move(m)), counter(c) { ++counter; }
};

//: forwarding
void forwarding(Log& log) {
    int n = 0;
    MovesOnly a("a"), b("b");
    auto p = std::make_shared<Holder>(std::move(a), n);
    auto q = std::make_unique<Holder>(std::move(b), n);
    log.push_back(p->held.s + q->held.s);
    say(log, "n ", n);
}

//: factories
static std::shared_ptr<Trace> factory(Log& log, int n) { return n > 0 ? std::make_shared<Trace>(&log, n) : nullptr; }
void factories(Log& log) {
    std::vector<std::shared_ptr<Trace>> all{factory(log, 1), factory(log, 0), factory(log, 2)};
    for (const auto& p : all) say(log, "n ", p ? p->n : -1);
    auto f = [p = all[2]] { return p.use_count(); };
    say(log, "held ", f());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return (a ? a->n : 0) > (b ? b->n : 0); });
    say(log, "first ", all[0]->n);
    all.clear();
    log.push_back("cleared");
}

//: thrown_through
void thrown_through(Log& log) {
    try {
        auto a = std::make_shared<Trace>(&log, 1);
        auto b = a;
        std::unique_ptr<Trace> c(new Trace(&log, 2));
        throw std::runtime_error("out");
    } catch (const std::runtime_error& e) {
        log.push_back(e.what());
    }
}

using Alone = std::unique_ptr<int>;
struct Keeper {
    Alone held;
};
static Alone alone(int n) { return Alone(new int(n)); }

//: moved_into_containers
void moved_into_containers(Log& log) {
    std::vector<Alone> v;
    v.push_back(alone(1));
    v.emplace_back(new int(2));
    v.emplace_back(alone(3));
    v.insert(v.begin(), alone(4));
    auto w = std::move(v);
    say(log, "left ", v.size());
    for (const auto& p : w) say(log, "vector ", *p);
    std::sort(w.begin(), w.end(), [](const Alone& a, const Alone& b) { return *a < *b; });
    for (const auto& p : w) say(log, "sorted ", *p);
    std::map<int, Alone> m;
    m[1] = alone(1);
    m.emplace(2, alone(2));
    m.insert({3, alone(3)});
    m.try_emplace(4, alone(4));
    m.insert_or_assign(1, alone(5));
    auto n = std::move(m);
    for (const auto& entry : n) say(log, "map ", *entry.second);
    std::deque<Alone> d;
    d.push_back(alone(1));
    d.push_front(alone(2));
    d.emplace_back(alone(3));
    auto e = std::move(d);
    for (const auto& p : e) say(log, "deque ", *p);
    std::list<Alone> l;
    l.push_back(alone(1));
    l.push_front(alone(2));
    auto k = std::move(l);
    for (const auto& p : k) say(log, "list ", *p);
    std::queue<Alone> q;
    q.push(alone(7));
    Alone first = std::move(q.front());
    q.pop();
    std::stack<Alone> s;
    s.push(alone(8));
    say(log, "queue ", *first);
    say(log, "stack ", *s.top());
}

//: moved_in_parts
void moved_in_parts(Log& log) {
    Keeper a{alone(1)};
    Keeper b = std::move(a);
    say(log, "gone ", a.held == nullptr);
    a = std::move(b);
    say(log, "back ", *a.held);
    std::pair<int, Alone> p(1, alone(2));
    auto q = std::move(p);
    auto r = std::make_pair(alone(3), 4);
    say(log, "pair ", *q.second * 10 + *r.first);
    int five = 5;
    std::tuple<int, Alone> t(five, alone(6));
    auto u = std::make_tuple(alone(7), 8);
    Alone seven = std::get<0>(std::move(u));
    say(log, "tuple ", *std::get<1>(t) * 10 + *seven);
    std::optional<Alone> o = alone(9);
    auto o2 = std::move(o);
    say(log, "optional ", **o2);
    auto f = [held = alone(10)] { return *held; };
    auto g = std::move(f);
    say(log, "lambda ", g());
    auto made = std::make_unique<Keeper>(Keeper{alone(11)});
    Keeper* raw = new Keeper{alone(12)};
    say(log, "made ", *made->held + *raw->held);
    delete raw;
    std::shared_ptr<int> shared = alone(13);
    shared = alone(14);
    say(log, "shared ", *shared);
}

// Classes with memory of their own.
static Log* heap_log = nullptr;
static char heap_room[4096];
static size_t heap_used = 0;
struct Pooled {
    int n;
    explicit Pooled(int k = 0) : n(k) {}
    static void* operator new(size_t bytes) {
        say(*heap_log, "new ", bytes);
        heap_used += 64;
        return heap_room + heap_used - 64;
    }
    void operator delete(void* p) { say(*heap_log, "delete ", (char*)p - heap_room); }
    void* operator new[](size_t bytes);
    void operator delete[](void* p, size_t bytes) { say(*heap_log, "delete[] ", (char*)p - heap_room); }
};
void* Pooled::operator new[](size_t bytes) {
    say(*heap_log, "new[] ", bytes);
    heap_used += 256;
    return heap_room + heap_used - 256;
}
struct Counts : Pooled {
    double more;
    explicit Counts(int k = 0) : Pooled(k), more(k) { say(*heap_log, "made ", k); }
    ~Counts() { say(*heap_log, "gone ", n); }
};
template <typename T> struct FromHeap {
    T value{};
    void* operator new(size_t bytes) {
        say(*heap_log, "template ", bytes);
        return ::operator new(bytes);
    }
    void operator delete(void* p, size_t bytes) {
        say(*heap_log, "given back ", bytes);
        ::operator delete(p);
    }
};
struct Apart {
    Pooled held;
};

//: memory_of_a_class
void memory_of_a_class(Log& log) {
    heap_log = &log;
    heap_used = 0;
    Pooled* a = new Pooled(3);
    Pooled* b = new Pooled;
    Counts* c = new Counts(4);
    say(log, "", a->n * 100 + b->n * 10 + c->n);
    delete b;
    delete a;
    delete c;
    Counts* none = nullptr;
    delete none;
    Counts* all = new Counts[3];
    all[2].n = 7;
    delete[] all;
    Pooled* plain = new Pooled[2];
    say(log, "", plain[1].n);
    delete[] plain;
    auto* t = new FromHeap<double>();
    t->value = 2;
    say(log, "", (int64_t)t->value);
    delete t;
    auto owned = std::make_unique<Counts>(5);
    auto shared = std::make_shared<Counts>(6);
    shared.reset();
    owned.reset();
    delete new Apart();
    void* raw = operator new(sizeof(int));
    *(int*)raw = 9;
    say(log, "", *(int*)raw);
    operator delete(raw);
}
