// Initialisers that run before any function: each case is a function `void name(Log&)` after a line `//: name`. The system's compiler says what is right.
#include <string>
#include <vector>

using Log = std::vector<std::string>;
static void say(Log& log, const char* what, long n) { log.push_back(std::string(what) + std::to_string(n)); }

// Digits by the order in which they came.
static long& order() {
    static long digits = 0;
    return digits;
}
static int next(int digit) {
    order() = order() * 10 + digit;
    return digit;
}
int third();
int first_ = next(1);
static const int second = next(2);
int from_third = third();
int third_ = next(3);
int third() { return third_; }
struct Registrar {
    int digit;
    explicit Registrar(int d) : digit(next(d)) {}
    ~Registrar() {}
};
namespace {
Registrar fourth(4);
const Registrar fifth{5};
}
struct Plain {
    int digit = next(6);
};
Plain sixth;
namespace inner {
struct Counts {
    Counts() { next(7); }
};
Counts pair_of[2];
}
static int& aliased = (next(8), first_);
inline int ninth = next(9);

//: in_order_of_definition
void in_order_of_definition(Log& log) { say(log, "", order()); }

//: what_a_later_one_has_is_zero_before
void what_a_later_one_has_is_zero_before(Log& log) {
    say(log, "", from_third);
    say(log, "", third_);
}

int changed = 0;
static int changes() {
    changed = 3;
    return 1;
}
int changer = changes();

//: one_that_nobody_names
void one_that_nobody_names(Log& log) { say(log, "", changed); }

int base = 1;
int bumped() { return base++; }
int one_more = bumped();
int two_more = bumped();
int sum = one_more * 10 + base;

//: used_backwards
void used_backwards(Log& log) {
    say(log, "", sum);
    say(log, "", two_more);
    say(log, "", one_more);
}

int table[3] = {1, 2, 3};
static int changes_table() {
    table[1] = 7;
    return table[0];
}
int copies[2] = {changes_table(), table[1]};

//: lists
void lists(Log& log) {
    say(log, "", copies[0]);
    say(log, "", copies[1]);
}

