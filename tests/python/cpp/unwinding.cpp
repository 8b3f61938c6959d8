// Parts that are destroyed when an exception leaves an object half made: each case is a function `void name(Log&)` after a line `//: name`. The system's
// compiler says what is right.
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

// An object that one made after it may fail to follow.
struct Fails {
    Trace t;
    Fails(Log& l, std::string n, bool fails) : t(l, std::move(n)) {
        if (fails) throw std::runtime_error("no " + t.name);
    }
};
struct Pair {
    Trace a;
    Fails b;
};
struct Nested : Trace {
    Pair pair;
    Fails last[2];
};

//: parts_of_an_aggregate
void parts_of_an_aggregate(Log& log) {
    for (int fails = 0; fails < 5; ++fails) {
        try {
            Nested n{{log, "base"}, {{log, "a"}, {log, "b", fails == 1}}, {{log, "l0", fails == 2}, {log, "l1", fails == 3}}};
            log.push_back("made");
            if (fails == 4) throw std::runtime_error("after");
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
    }
}

//: parts_of_an_array
void parts_of_an_array(Log& log) {
    for (int round = 0; round < 2; ++round) {
        try {
            Fails all[4] = {{log, "0", false}, {log, "1", false}, {log, "2", round == 0}, {log, "3", round == 1}};
            log.push_back("made");
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
    }
}

static Log* counted_log = nullptr;
static int counted_left = 0;
struct Limited {
    Trace t;
    Limited() : t(*counted_log, std::to_string(counted_left)) {
        if (--counted_left == 0) throw std::runtime_error("enough");
    }
};
struct Holds {
    Trace first;
    Limited many[20];
    Holds() : first(*counted_log, "first") {}
};
struct Implicit {
    Limited one;
    Limited two;
};
struct Late {
    Implicit implicit;
    Limited three;
    Late() { throw std::runtime_error("late"); }
};

//: parts_without_arguments
void parts_without_arguments(Log& log) {
    counted_log = &log;
    for (int left : {1, 2, 3, 4, 25}) {
        counted_left = left;
        try {
            Limited all[3];
            log.push_back("array");
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
        counted_left = left;
        try {
            Implicit i;
            log.push_back("implicit");
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
        counted_left = left;
        try {
            Late l;
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
        counted_left = left;
        try {
            Holds h;
            log.push_back("holds");
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
    }
}

//: elements_of_a_vector
void elements_of_a_vector(Log& log) {
    counted_log = &log;
    for (int left : {1, 2, 3, 4}) {
        counted_left = left;
        try {
            std::vector<Limited> v(3);
            log.push_back("vector");
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
    }
}

static Fails made_or_not(Log& log, const char* name, bool fails) { return Fails(log, name, fails); }

//: captures_of_a_lambda
void captures_of_a_lambda(Log& log) {
    for (int fails = 0; fails < 3; ++fails) {
        try {
            auto f = [a = made_or_not(log, "a", false), b = made_or_not(log, "b", fails == 1), c = made_or_not(log, "c", fails == 2)] {
                return a.t.name + b.t.name + c.t.name;
            };
            log.push_back(f());
        } catch (const std::exception& e) {
            log.push_back(e.what());
        }
    }
}

static int takes_care(bool throws) noexcept {
    try {
        if (throws) throw 3;
    } catch (int n) {
        return n;
    }
    return 0;
}
static int lets_through(bool throws) noexcept(false) {
    if (throws) throw 4;
    return 1;
}
//: no_exception_leaves_these
void no_exception_leaves_these(Log& log) {
    log.push_back(std::to_string(takes_care(true)) + std::to_string(takes_care(false)));
    auto f = [](int n) noexcept { return n + 1; };
    log.push_back(std::to_string(f(1)));
    try {
        lets_through(false);
        lets_through(true);
    } catch (int n) {
        log.push_back(std::to_string(n));
    }
}
