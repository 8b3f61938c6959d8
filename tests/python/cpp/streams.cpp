// Streams: each case is a function `void name(Log&)` after a line `//: name`. The system's compiler says what is right.
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Log = std::vector<std::string>;

struct Point {
    int x, y;
};
std::ostream& operator<<(std::ostream& os, const Point& p) { return os << '(' << p.x << ", " << p.y << ')'; }
std::istream& operator>>(std::istream& is, Point& p) { return is >> p.x >> p.y; }
template <typename T> std::ostream& operator<<(std::ostream& os, const std::vector<T>& v) {
    os << "[";
    for (size_t i = 0; i < v.size(); ++i) os << (i ? ", " : "") << v[i];
    return os << "]";
}
enum Colour { red, green = 7 };

//: plain
void plain(Log& log) {
    std::ostringstream s;
    s << 1 << ' ' << -2l << ' ' << 3u << ' ' << 18446744073709551615ul << ' ' << (short)-4 << ' ' << true << ' ' << 'c' << " text " << std::string("string");
    s << ' ' << (unsigned char)65 << (signed char)66 << ' ' << INT64_MIN << ' ' << green << ' ' << (const char*)"p" << nullptr << ' ' << (void*)0x1234;
    char room[] = "array";
    s << room << std::endl << std::flush;
    log.push_back(s.str().substr(0, s.str().size() - 1));
    log.push_back(std::to_string(s.str().size()));
}

//: reals
void reals(Log& log) {
    for (double x : {0.0, -0.0, 1.0, 0.1, 1.0 / 3, 123456.0, 1234567.0, 1e-5, 0.0001, 1e100, -2.5, 1e15, 99999.95, 0.000012345678, 1e-320, 3.14159265358979}) {
        std::ostringstream s;
        s << x << ' ' << (float)x << ' ' << std::fixed << x << ' ' << std::scientific << x << ' ' << std::defaultfloat << x << ' ' << std::hexfloat << x;
        s << std::defaultfloat;
        for (int p : {0, 1, 3, 10, 17}) s << ' ' << std::setprecision(p) << x << ' ' << std::fixed << x << ' ' << std::scientific << x << std::defaultfloat;
        s << std::showpoint << std::setprecision(4) << ' ' << x << std::showpos << ' ' << x << std::uppercase << ' ' << std::scientific << x;
        log.push_back(s.str());
    }
    double inf = std::numeric_limits<double>::infinity();
    std::ostringstream s;
    s << inf << ' ' << -inf << ' ' << std::numeric_limits<double>::quiet_NaN() << ' ' << std::fixed << inf << ' ' << std::uppercase << inf << std::setw(8) << -inf;
    log.push_back(s.str());
}

//: widths
void widths(Log& log) {
    std::ostringstream s;
    s << '|' << std::setw(6) << 42 << '|' << std::left << std::setw(6) << 42 << '|' << std::right << std::setw(6) << 42 << '|' << std::internal << std::setw(6) << -42 << '|';
    s << std::setfill('*') << std::setw(8) << -1.5 << '|' << std::setw(3) << 12345 << '|' << 7 << '|' << std::left << std::setw(7) << "ab" << '|' << std::setw(5) << 'c' << '|';
    s << std::right << std::setw(10) << std::string("str") << '|' << std::setw(7) << true << '|' << std::boolalpha << std::setw(7) << true << false << std::noboolalpha << false;
    s << std::setw(4) << "" << '|' << std::setw(0) << 5 << std::setw(-3) << 5 << '|';
    s << std::internal << std::setfill('0') << std::hex << std::showbase << std::setw(10) << 255 << '|' << std::setw(12) << std::dec << std::showpos << 3.25;
    log.push_back(s.str());
}

//: bases
void bases(Log& log) {
    std::ostringstream s;
    for (long n : {0l, 1l, 8l, 255l, -1l, 123456789l}) {
        s << std::hex << n << ' ' << (int)n << ' ' << (short)n << ' ' << std::oct << n << ' ' << std::dec << n << ' ';
        s << std::showbase << std::hex << n << ' ' << std::uppercase << n << ' ' << std::oct << n << std::nouppercase << std::noshowbase << ' ';
        s << std::dec << std::showpos << n << ' ' << (unsigned long)n << ' ' << std::hex << n << std::noshowpos << std::dec << std::setbase(16) << n << std::setbase(10) << n << '/';
    }
    log.push_back(s.str());
    std::ostringstream h;
    h << "0x" << std::hex << std::setw(8) << std::setfill('0') << 0xbeefu << std::dec << ' ' << 12;
    log.push_back(h.str());
}

//: members
void members(Log& log) {
    std::ostringstream s;
    s.precision(3);
    s.setf(std::ios::fixed, std::ios::floatfield);
    s.width(9);
    s.fill('.');
    s << 2.71828 << '|' << s.precision() << s.width() << s.fill();
    std::ios_base::fmtflags kept = s.flags();
    s.setf(std::ios_base::showpos);
    s << 1 << std::hex << 255;
    s.flags(kept);
    s << 1 << std::setiosflags(std::ios::showbase) << std::hex << 255 << std::resetiosflags(std::ios::showbase) << 255;
    s.unsetf(std::ios::fixed);
    s << 2.5;
    s.put('!').write("write", 3);
    log.push_back(s.str());
    s.str("");
    log.push_back(s.str());
    s << "again";
    log.push_back(s.str());
    log.push_back(std::to_string((long)s.tellp()));
    std::ostringstream t;
    t.copyfmt(s);
    t << 10 << ' ' << 1.0;
    log.push_back(t.str());
}

//: overwriting
void overwriting(Log& log) {
    std::ostringstream a("abcdef"), b("abc", std::ios::ate), c("abc", std::ios_base::app);
    a << "xy";
    b << "xy";
    c << "xy";
    log.push_back(a.str() + " " + b.str() + " " + c.str());
    std::stringstream d("1 2");
    d << "3456";
    int x = 0;
    d >> x;
    log.push_back(d.str() + " " + std::to_string(x));
}

//: own_operators
void own_operators(Log& log) {
    std::ostringstream s;
    s << Point{1, -2} << ' ' << std::vector<int>{1, 2, 3} << ' ' << std::vector<Point>{{3, 4}} << std::setw(5) << Point{5, 6};
    log.push_back(s.str());
    std::ostream& os = s;
    os << "through a reference " << std::fixed << std::setprecision(1) << 2.25;
    log.push_back(s.str());
    std::istringstream in("10 20 30");
    Point p{0, 0}, q{0, 0};
    in >> p;
    log.push_back(std::to_string(p.x * 100 + p.y));
    log.push_back((in >> q) ? "read" : "not read");
    log.push_back(std::to_string(q.x));
}

//: words
void words(Log& log) {
    std::istringstream in("  the quick\tbrown\n\nfox ");
    std::string word;
    while (in >> word) log.push_back(word);
    log.push_back(in.eof() ? "end" : "no end");
    log.push_back(in.fail() ? "fail" : "no fail");
    std::stringstream both;
    both << "a b";
    both >> word;
    log.push_back(word);
    both << " c";
    both >> word;
    log.push_back(word);
    both >> word;
    log.push_back(word);
}

//: lines
void lines(Log& log) {
    for (std::string text : {"a,b,,c", "", ",", "x,", "one"}) {
        std::stringstream in(text);
        std::string item;
        while (std::getline(in, item, ',')) log.push_back("<" + item + ">");
        log.push_back(std::to_string(in.eof()) + std::to_string(in.fail()));
    }
    std::istringstream in("first line\nsecond\n\nfourth");
    std::string line;
    int n = 0;
    while (getline(in, line)) log.push_back(std::to_string(++n) + ": " + line);
    std::istringstream mixed("3\nrest of it");
    mixed >> n;
    mixed.ignore();
    std::getline(mixed, line);
    log.push_back(line);
    std::istringstream blank("5 \n  next");
    blank >> n >> std::ws;
    std::getline(blank, line);
    log.push_back(line);
}

//: numbers
template <typename T> void one(Log& log, const std::string& text) {
    std::istringstream in(text);
    T x = 77;
    in >> x;
    std::ostringstream s;
    s << text << " -> " << +x << ' ' << in.fail() << in.eof();
    in.clear();
    std::string rest;
    in >> rest;
    s << " <" << rest << ">";
    log.push_back(s.str());
}
void numbers(Log& log) {
    for (std::string text : {"12", "-12", "+7", "  5x", "x", "", "-", "12.5", "99999999999", "-99999999999", "2147483647", "2147483648", "-2147483648", "-2147483649", "0x1f", "007"}) {
        one<int>(log, text);
        one<long>(log, text);
        one<unsigned>(log, text);
        one<short>(log, text);
        one<double>(log, text);
    }
    for (std::string text : {"1.5", "-2.5e3", "1e", "1e5x", ".5", "5.", ".", "1.2.3", "+3.25", "1e400", "-1e400", "1,5", "3-2", "1e-3-4", "inf"}) {
        one<double>(log, text);
        one<float>(log, text);
    }
    one<unsigned long>(log, "18446744073709551615");
    one<unsigned long>(log, "18446744073709551616");
    one<long>(log, "-9223372036854775808");
    one<bool>(log, "1");
    one<bool>(log, "2");
    std::istringstream in("ff 0x1F 17 true 10");
    int a = 0, b = 0, c = 0, e = 0;
    bool d = false;
    in >> std::hex >> a >> b >> std::oct >> c >> std::boolalpha >> d >> std::dec >> e;
    log.push_back(std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c) + " " + std::to_string(d) + " " + std::to_string(e));
}

//: characters
void characters(Log& log) {
    std::istringstream in("a b\ncd");
    char c = 0;
    std::string all;
    while (in >> c) all += c;
    log.push_back(all);
    in.clear();
    in.seekg(0);
    all = "";
    while (in.get(c)) all += c == '\n' ? '/' : c;
    log.push_back(all);
    std::istringstream other("xyz");
    log.push_back(std::to_string(other.peek()));
    log.push_back(std::to_string(other.get()));
    other.unget();
    log.push_back(std::to_string(other.get()));
    char room[3] = {'.', '.', '.'};
    other.read(room, 2);
    log.push_back(std::string(room, 3) + std::to_string(other.gcount()) + std::to_string(other.eof()));
    log.push_back(std::to_string(other.get()));
    log.push_back(std::to_string(other.eof()) + std::to_string(other.fail()));
    std::istringstream skip("aaa;bbb");
    skip.ignore(100, ';');
    skip >> all;
    log.push_back(all);
    std::istringstream raw(" q");
    raw >> std::noskipws >> c;
    log.push_back(std::string("<") + c + ">");
}

//: states
void states(Log& log) {
    std::stringstream s("abc");
    int n = 5;
    s >> n;
    log.push_back(std::to_string(s.fail()) + std::to_string(s.bad()) + std::to_string(s.good()) + std::to_string(!s) + std::to_string(n));
    std::string word = "kept";
    s >> word;
    log.push_back(word);
    s.clear();
    s >> word;
    log.push_back(word);
    s.str("9 8");
    s.clear();
    int a = 0, b = 0;
    if (s >> a >> b) log.push_back(std::to_string(a * 10 + b));
    s.setstate(std::ios::failbit);
    log.push_back(s ? "good" : "failed");
}

//: a_table
void a_table(Log& log) {
    std::ostringstream os;
    const char* names[] = {"alpha", "be", "gamma_ray"};
    double values[] = {1.5, -22.25, 1e6};
    os << std::left << std::setw(12) << "name" << std::right << std::setw(14) << "value" << "\n" << std::string(26, '-') << "\n";
    for (int i = 0; i < 3; ++i) os << std::left << std::setw(12) << names[i] << std::right << std::setw(14) << std::fixed << std::setprecision(3) << values[i] << "\n";
    std::string line;
    std::istringstream is(os.str());
    while (std::getline(is, line)) log.push_back(line);
}
