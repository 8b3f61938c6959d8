// The standard library of host code: each case is a function `void name(Log&)` after a line `//: name`.
#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Log = std::vector<std::string>;

//: comparisons
template <typename A, typename B> static std::string six(const A& a, const B& b) {
    std::string s;
    for (bool x : {a == b, a != b, a < b, a > b, a <= b, a >= b}) s += x ? '1' : '0';
    return s;
}
struct Point {
    int x;
    bool operator==(const Point& o) const { return x == o.x; }
};
void comparisons(Log& log) {
    std::optional<int> none, one = 1, two = 2;
    std::optional<double> none2, half = 1.5;
    for (auto& a : {none, one, two})
        for (auto& b : {none, one, two}) log.push_back(six(a, b));
    for (auto& a : {none, one, two}) {
        log.push_back(six(a, half));
        log.push_back(six(none2, a));
        log.push_back(six(a, 1));
        log.push_back(six(1.5, a));
        log.push_back(six(a, std::nullopt));
        log.push_back(six(std::nullopt, a));
    }
    std::optional<std::string> text = std::string("b");
    log.push_back(six(text, std::string("a")));
    log.push_back(six(text, "c"));
    log.push_back(six(std::string("ab"), std::string("b")));
    std::optional<Point> p = Point{3}, q = Point{3}, r;
    log.push_back(p == q ? "same" : "other");
    log.push_back(p == r ? "same" : "other");
    log.push_back(p == Point{4} ? "same" : "other");
    log.push_back(std::to_string(p.emplace(Point{9}).x));
    log.push_back(std::to_string(text.emplace("emplaced").size()));
    std::array<int, 3> a{1, 2, 3}, b{1, 2, 4}, c{0, 9, 9};
    log.push_back(six(a, b));
    log.push_back(six(a, a));
    log.push_back(six(a, c));
    log.push_back(six(c, b));
    std::vector<std::optional<int>> v{two, none, one};
    log.push_back(v == std::vector<std::optional<int>>{two, none, one} ? "equal" : "not");
}

//: numbers_from_texts
void numbers_from_texts(Log& log) {
    for (const char* text : {"0", "-1", "+17", "  42rest", "9007199254740993", "-9223372036854775808", "9223372036854775807",
                             "2147483647", "-2147483648", "2147483648", "-2147483649", "18446744073709551615", "1e3", "-2.5e-3x",
                             ".5", "5.", "", " ", "-", "x", "99999999999999999999999",
                             "0.1", "123456.789", "16777217", "0e5", "1e-400", "1e40", "-1e400", "1e+", "1e-2"}) {
        for (int how = 0; how < 7; ++how) {
            size_t used = 77;
            std::string s;
            try {
                if (how == 0) s = std::to_string(std::stoi(text, &used));
                if (how == 1) s = std::to_string(std::stol(text, &used));
                if (how == 2) s = std::to_string(std::stoll(text, &used));
                if (how == 3) s = std::to_string(std::stoul(text, &used));
                if (how == 4) s = std::to_string(std::stoull(text, &used));
                if (how == 5) s = std::to_string(std::stod(text, &used));
                if (how == 6) s = std::to_string(std::stof(text, &used));
                s += " " + std::to_string(used);
            } catch (const std::invalid_argument&) {
                s = "invalid";
            } catch (const std::out_of_range&) {
                s = "range";
            }
            log.push_back(s);
        }
    }
}

//: large_numbers
void large_numbers(Log& log) {
    unsigned long big = 18446744073709551615ul, edge = 9223372036854775808ul, small = 7;
    unsigned long long other = edge + 1;
    for (unsigned long n : {big, edge, small}) {
        std::ostringstream s;
        s << n << " " << other;
        log.push_back(s.str() + " " + std::to_string(n) + " " + std::to_string(-(long)small));
    }
}
