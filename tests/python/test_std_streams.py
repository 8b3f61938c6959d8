"""Printing: manipulators on `std::cout` last from statement to statement, and operators of the text's own print there too."""

import subprocess

import pytest

import workbench as wb

HEAD = "#include <iomanip>\n#include <iostream>\n#include <string>\n#include <vector>\n"

TEXT = """
struct Point { int x, y; };
std::ostream& operator<<(std::ostream& os, const Point& p) { return os << '(' << p.x << ", " << p.y << ')'; }
static void show(std::ostream& os, double x) { os << std::setw(10) << x << std::endl; }
void f() {
    std::cout << 1 << ' ' << 2.5 << " text " << true << '\\n';
    std::cout << std::fixed << std::setprecision(3);
    std::cout << 3.14159 << std::endl;
    show(std::cout, 2.0);
    std::cout << Point{1, 2} << std::boolalpha << false << std::hex << 255 << std::dec << "\\n";
    auto kept = std::cout.flags();
    std::cout << std::scientific << 1.0 << "\\n";
    std::cout.flags(kept);
    std::cout << 1.0 << std::defaultfloat << std::setprecision(6) << std::noboolalpha << ' ' << 1.0 << "\\n";
    for (int i = 0; i < 3; ++i) std::cout << std::setw(4) << std::setfill(i ? '.' : ' ') << i * i;
    std::cout << std::setfill(' ') << std::flush << std::endl;
}
"""


def test_printed(capfd, tmp_path):
    (tmp_path / "a.cpp").write_text(HEAD + TEXT + "int main() { f(); f(); }")
    subprocess.run(["g++", "-std=c++17", "-o", tmp_path / "a", tmp_path / "a.cpp"], check=True)
    wanted = subprocess.run([tmp_path / "a"], check=True, capture_output=True, text=True).stdout
    m = wb.load_inline("printed", "#include <torch/extension.h>\n" + HEAD + TEXT, functions=["f"])
    capfd.readouterr()
    m.f()
    m.f()
    assert capfd.readouterr().out == wanted


def test_tensors_and_types():
    text = """
std::string f(torch::Tensor x) {
    std::ostringstream s;
    s << x.sizes() << ' ' << x.scalar_type() << ' ' << std::fixed << std::setprecision(1) << x.sum().item<float>();
    return s.str();
}"""
    import numpy as np

    m = wb.load_inline("t", "#include <torch/extension.h>\n" + HEAD + text, functions=["f"])
    assert m.f(np.ones((3, 5), np.float32)) == "[3, 5] Float 15.0"


def test_what_has_no_operator():
    text = "struct Own { int x; };\nstd::string f() {\n    std::ostringstream s;\n    s << Own{1};\n    return s.str();\n}"
    with pytest.raises(wb.CompileError) as caught:
        wb.load_inline("t", "#include <torch/extension.h>\n" + HEAD + text, functions=["f"])
    assert "s << Own{1};" in str(caught.value)


def test_enums_iterators_and_classes_that_convert():
    text = """
#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
enum Colour { red, green = 7 };
struct Number { int n = 1; operator int() const { return 5; } };
std::string f() {
    std::ostringstream s;
    std::vector<int> v{3, 1, 2};
    std::replace(v.begin(), v.end(), 1, 9);
    std::replace_if(v.begin(), v.end(), [](int x) { return x == 2; }, 8);
    s << green << ' ' << std::to_string(red) << ' ';
    std::copy(v.begin(), v.end(), std::ostream_iterator<int>(s, ", "));
    Number a;
    a.n = 4;
    std::vector<Number> all;
    all.push_back(a);
    std::optional<Number> maybe(a);
    s << all[0].n << maybe->n << (int)all[0];
    return s.str();
}
"""
    assert wb.load_inline("t", "#include <torch/extension.h>\n" + text, functions=["f"]).f() == "7 0 3, 9, 8, 445"
