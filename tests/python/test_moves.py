"""Move constructors: when they run, what has none, and what may not be copied. The counts follow from [class.copy.ctor], [class.temporary]
and [stmt.return]; where a compiler may leave a move out (a returned variable), only copies and the balance of lives are held."""

import re

import pytest

import workbench as wb

HEAD = """
#include <torch/extension.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

int copies, moves, made, ended;

struct Counted {
    int value;
    Counted(int v) : value(v) { ++made; }
    Counted(const Counted& other) : value(other.value) { ++copies; ++made; }
    Counted(Counted&& other) noexcept : value(other.value) { other.value = -1; ++moves; ++made; }
    ~Counted() { ++ended; }
};

struct Unique {
    int* held;
    explicit Unique(int v) : held(new int(v)) {}
    Unique(Unique&& other) : held(other.held) { other.held = nullptr; }
    Unique& operator=(Unique&& other) { std::swap(held, other.held); return *this; }
    ~Unique() { delete held; }
    int get() const { return held ? *held : -1; }
};
"""

MAIN = """
std::vector<int64_t> f() {
    copies = moves = made = ended = 0;
    int64_t result = run();
    return {result, copies, moves, made - ended};
}
"""


def run(text):
    """The result of `run`, the number of copies and moves it took, and the number of objects it left."""
    module = wb.load_inline(name="moves", cpp_sources=HEAD + text + MAIN, functions=["f"])
    return module.f()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A move, and what it leaves.
        ("int64_t run() { Counted a(7); Counted b(std::move(a)); return b.value * 10 + a.value; }", [69, 0, 1, 0]),
        ("int64_t run() { Counted a(7); Counted b = std::move(a); return b.value; }", [7, 0, 1, 0]),
        ("int64_t run() { Counted a(7); Counted b{static_cast<Counted&&>(a)}; return b.value; }", [7, 0, 1, 0]),
        ("int64_t run() { Counted a(7); auto b = std::move(a); return b.value; }", [7, 0, 1, 0]),
        # A name is a place, even that of an rvalue reference.
        ("int64_t run() { Counted a(7); Counted&& r = std::move(a); Counted b = r; return b.value + a.value; }", [14, 1, 0, 0]),
        # A const object cannot be moved from.
        ("int64_t run() { const Counted a(7); Counted b = std::move(a); return b.value + a.value; }", [14, 1, 0, 0]),
        # A temporary is what it makes.
        ("int64_t run() { Counted b = Counted(7); return b.value; }", [7, 0, 0, 0]),
        ("Counted made_of(int v) { return Counted(v); }\nint64_t run() { Counted b = made_of(7); return b.value; }", [7, 0, 0, 0]),
        # Arguments.
        ("int take(Counted a) { return a.value; }\nint64_t run() { Counted a(7); return take(std::move(a)) * 10 + a.value; }", [69, 0, 1, 0]),
        ("int take(Counted a) { return a.value; }\nint64_t run() { Counted a(7); return take(a) * 10 + a.value; }", [77, 1, 0, 0]),
        ("int peek(Counted&& a) { return a.value; }\nint64_t run() { Counted a(7); return peek(std::move(a)) * 10 + a.value; }", [77, 0, 0, 0]),
        ("template <typename T> int pass(T&& a) { Counted b(std::forward<T>(a)); return b.value; }\n"
         "int64_t run() { Counted a(7); int x = pass(a); return x * 100 + pass(std::move(a)) * 10 + a.value; }", [769, 1, 1, 0]),
        # A parameter that is returned cannot be left out.
        ("Counted back(Counted a) { return a; }\nint64_t run() { Counted a(7); Counted b = back(a); return b.value; }", [7, 1, 1, 0]),
        # An object that outlives the function is copied.
        ("Counted one(Counted& a) { return a; }\nint64_t run() { Counted a(7); Counted b = one(a); return b.value * 10 + a.value; }", [77, 1, 0, 0]),
        # Either of two.
        ("int64_t run() { Counted a(7), b(8); bool first = a.value > b.value; Counted c = first ? std::move(a) : std::move(b);"
         " return c.value * 100 + a.value * 10 + b.value; }", [869, 0, 1, 0]),
        ("int64_t run() { Counted a(7), b(8); bool first = a.value > b.value; Counted c = first ? std::move(a) : b;"
         " return c.value * 100 + a.value * 10 + b.value; }", [878, 1, 0, 0]),
        # Members and bases move as they can.
        ("struct Two { Counted a; int n; Counted b; };\n"
         "int64_t run() { Two x{Counted(1), 5, Counted(2)}; Two y = std::move(x); return y.a.value * 100 + y.n * 10 + y.b.value + x.a.value; }",
         [151, 0, 2, 0]),
        ("struct More : Counted { int n; More(int v) : Counted(v), n(v) {} };\n"
         "int64_t run() { More x(3); More y = std::move(x); return y.value * 10 + x.value; }", [29, 0, 1, 0]),
        ("struct Four { Counted all[2] = {Counted(1), Counted(2)}; };\n"
         "int64_t run() { Four x; Four y = std::move(x); return y.all[1].value * 10 + x.all[1].value; }", [19, 0, 2, 0]),
        ("struct Two { Counted a; Two(Two&&) = default; Two(int v) : a(v) {} ~Two() {} };\n"
         "int64_t run() { Two x(7); Two y = std::move(x); return y.a.value * 10 + x.a.value; }", [69, 0, 1, 0]),
        # A class that says how it is copied or ends, and nothing of moving, is copied.
        ("struct Two { Counted a; Two(int v) : a(v) {} ~Two() {} };\n"
         "int64_t run() { Two x(7); Two y = std::move(x); return y.a.value * 10 + x.a.value; }", [77, 1, 0, 0]),
        ("struct Two { Counted a; Two(int v) : a(v) {} Two(const Two&) = default; };\n"
         "int64_t run() { Two x(7); Two y = std::move(x); return y.a.value * 10 + x.a.value; }", [77, 1, 0, 0]),
        # Captures.
        ("int64_t run() { Counted a(7); auto g = [b = std::move(a)] { return b.value; }; return g() * 10 + a.value; }", [69, 0, 1, 0]),
        # Vectors: what is put in, and growth, which moves nothing that anybody could count.
        ("int64_t run() { std::vector<Counted> all; Counted a(7); all.push_back(std::move(a)); return all[0].value * 10 + a.value; }", [69, 0, None, 0]),
        ("int64_t run() { std::vector<Counted> all; for (int i = 0; i < 9; ++i) all.emplace_back(i); int s = 0; for (auto& c : all) s += c.value;"
         " return s; }", [36, 0, None, 0]),
        ("int64_t run() { std::vector<Counted> all; all.push_back(Counted(7)); std::vector<Counted> other = std::move(all);"
         " return other.size() * 10 + all.size(); }", [10, 0, None, 0]),
        ("int64_t run() { std::vector<Counted> all, other; all.emplace_back(7); other.emplace_back(1); other = std::move(all);"
         " return other[0].value * 10 + other.size(); }", [71, 0, None, 0]),
        ("int64_t run() { std::vector<Counted> all; all.emplace_back(7); all.push_back(all[0]); all.push_back(all[1]);"
         " return all[0].value + all[1].value + all[2].value; }", [21, 2, None, 0]),
        # A value that a conversion or a list makes is bound to the rvalue reference.
        ("int which(const Counted&) { return 1; }\nint which(Counted&&) { return 2; }\n"
         "int64_t run() { Counted a(7); return which({5}) * 1000 + which(Counted(5)) * 100 + which(a) * 10 + which(std::move(a)); }",
         [2212, 0, 0, 0]),
        ("struct P { int a, b; };\nint which(const std::string&) { return 1; }\nint which(std::string&&) { return 2; }\n"
         "int kind(const P&) { return 3; }\nint kind(P&&) { return 4; }\n"
         "int64_t run() { P p{1, 2}; return which(\"abc\") * 100 + kind({1, 2}) * 10 + kind(p); }", [243, 0, 0, 0]),
    ],
)  # fmt: skip
def test_copies_and_moves(text, expected):
    found = run(text)
    assert [e if e is not None else f for e, f in zip(expected, found)] == found


def test_a_returned_variable_is_not_copied():
    result, copied, moved, left = run(
        "Counted one(int v) { Counted a(v); a.value += 1; return a; }\nint64_t run() { Counted b = one(7); return b.value; }"
    )
    assert (result, copied, left) == (8, 0, 0)
    assert moved <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int64_t run() { Unique a(7); Unique b(std::move(a)); return b.get() * 10 + a.get(); }", 69),
        ("Unique one(int v) { Unique u(v); return u; }\nint64_t run() { Unique a = one(7); return a.get(); }", 7),
        ("Unique back(Unique u) { return u; }\nint64_t run() { Unique a = back(Unique(7)); return a.get(); }", 7),
        ("int64_t run() { Unique a(7), b(8); b = std::move(a); return b.get() * 10 + a.get(); }", 78),
        ("int64_t run() { Unique a(7), b(8); std::swap(a, b); return a.get() * 10 + b.get(); }", 87),
        ("struct Owner { Unique u; int n; };\nint64_t run() { Owner a{Unique(7), 1}; Owner b = std::move(a); return b.u.get() * 10 + a.u.get(); }", 69),
        ("int64_t run() { std::vector<Unique> all; for (int i = 0; i < 20; ++i) all.push_back(Unique(i)); Unique u(5);"
         " all.push_back(std::move(u)); all.emplace_back(6); int s = 0; for (const auto& v : all) s += v.get(); return s + u.get(); }", 200),
        ("std::vector<Unique> several() { std::vector<Unique> all; all.emplace_back(3); all.emplace_back(4); return all; }\n"
         "int64_t run() { auto all = several(); return all[0].get() * 10 + all[1].get(); }", 34),
        ("int64_t run() { Unique a(7); auto g = [u = std::move(a)] { return u.get(); }; return g() * 10 + a.get(); }", 69),
    ],
)  # fmt: skip
def test_what_moves_alone(text, expected):
    assert run(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int64_t run() { Unique a(7);\nUnique b(a);\nreturn 0; }", "`Unique` cannot be copied"),
        ("int64_t run() { Unique a(7);\nUnique b = a;\nreturn 0; }", "`Unique` cannot be copied"),
        ("int take(Unique u) { return u.get(); }\nint64_t run() { Unique a(7);\nreturn take(a); }", "`Unique` cannot be copied"),
        ("struct Owner { Unique u; };\nint64_t run() { Owner a{Unique(7)};\nOwner b = a;\nreturn 0; }", "`Unique` cannot be copied"),
        ("Unique& same(Unique& u) { return u; }\nUnique one(Unique& u) {\nreturn same(u); }\nint64_t run() { return 0; }", "`Unique` cannot be copied"),
        ("struct Fixed { int v; Fixed(int x) : v(x) {} Fixed(Fixed&&) = delete; };\nint64_t run() { Fixed a(7);\nFixed b = std::move(a);\nreturn 0; }",
         "`Fixed` cannot be moved"),
    ],
)  # fmt: skip
def test_what_cannot_be_copied_or_moved(text, message):
    with pytest.raises(wb.CompileError) as error:
        run(text)
    assert message in str(error.value)
    # The place is in the text: the line that copies.
    lines = (HEAD + text).split("\n")
    wrong = [i for i, line in enumerate(lines) if re.match(r"(Unique b|Owner b|Fixed b|return take|return same)", line)][-1]
    assert f":{wrong + 1}:" in str(error.value)
    assert run("int64_t run() { return 5; }")[0] == 5


DERIVED = "struct Derived : Counted { Derived(int v) : Counted(v) {} };\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int take(Unique&& u) { return u.get(); }\nint64_t run() { Unique a(7);\nreturn take(a);\n}", "return take(a);"),
        ("int take(Counted&& c) { return c.value; }\nint64_t run() { Counted a(7);\nreturn take(a);\n}", "return take(a);"),
        (DERIVED + "int take(Counted&& c) { return c.value; }\nint64_t run() { Derived a(7);\nreturn take(a);\n}", "return take(a);"),
        # The copy assignment is deleted; the move assignment takes no place.
        ("int64_t run() { Unique a(7), b(8);\nb = a;\nreturn a.get(); }", "b = a;"),
    ],
)  # fmt: skip
def test_no_place_is_taken_as_a_value_that_ends(text, line):
    with pytest.raises(wb.CompileError) as error:
        run(text)
    assert f":{(HEAD + text).split(chr(10)).index(line) + 1}:" in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int take(Counted&& c) { return 1; }\nint take(const Counted& c) { return 2; }\nint64_t run() { Counted a(7); return take(a); }", 2),
        ("int take(Counted&& c) { return c.value; }\nint64_t run() { Counted a(7); return take(Counted(a)); }", 7),
        # A conversion makes a value of its own.
        ("int take(Counted&& c) { return c.value; }\nint64_t run() { int a = 7; return take(a); }", 7),
        ("struct Other { int v; operator Counted() const { return Counted(v); } };\n"
         "int take(Counted&& c) { return c.value; }\nint64_t run() { Other a{7}; return take(a); }", 7),
    ],
)  # fmt: skip
def test_what_binds_to_a_value_that_ends(text, expected):
    assert run(text)[0] == expected
