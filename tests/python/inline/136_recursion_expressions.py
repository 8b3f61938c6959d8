"""A recursive-descent calculator over tensors with variables in a map, and classic recursions with std::function: queens, permutations, subsets, Hanoi."""
CPP = r'''
#include <bitset>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

typedef std::map<std::string, at::Tensor> Variables;

// expression := term (('+' | '-') term)*     term := power (('*' | '/') power)*
// power := unary ('^' power)?                unary := '-' unary | atom
// atom := number | name | name '(' expression ')' | '(' expression ')'
class Calculator {
    const std::string& text;
    const Variables& variables;
    size_t at_ = 0;

    void skip() { while (at_ < text.size() && std::isspace((unsigned char)text[at_])) at_++; }
    char peek() { skip(); return at_ < text.size() ? text[at_] : '\0'; }
    bool accept(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) throw std::invalid_argument(std::string("expected '") + c + "' at " + std::to_string(at_));
    }

public:
    Calculator(const std::string& t, const Variables& v) : text(t), variables(v) {}

    at::Tensor run() {
        at::Tensor value = expression();
        if (peek() != '\0') throw std::invalid_argument("unexpected '" + text.substr(at_, 1) + "' at " + std::to_string(at_));
        return value;
    }

    at::Tensor expression() {
        at::Tensor value = term();
        for (;;) {
            if (accept('+')) value = value + term();
            else if (accept('-')) value = value - term();
            else return value;
        }
    }
    at::Tensor term() {
        auto value = power();
        while (true) {
            switch (peek()) {
                case '*': ++at_; value = value * power(); break;
                case '/': ++at_; value = value / power(); break;
                default: return value;
            }
        }
    }
    at::Tensor power() {
        const auto base = unary();
        return accept('^') ? base.pow(power()) : base;
    }
    at::Tensor unary() { return accept('-') ? -unary() : atom(); }
    at::Tensor atom() {
        if (accept('(')) {
            auto inner = expression();
            expect(')');
            return inner;
        }
        const size_t start = at_;
        if (std::isdigit((unsigned char)peek())) {
            size_t used = 0;
            const double number = std::stod(text.substr(at_), &used);
            at_ += used;
            return torch::scalar_tensor(number, torch::kDouble);
        }
        std::string name;
        while (at_ < text.size() && (std::isalnum((unsigned char)text[at_]) || text[at_] == '_')) name.push_back(text[at_++]);
        if (name.empty()) throw std::invalid_argument("expected a value at " + std::to_string(start));
        if (accept('(')) {
            static const std::unordered_map<std::string, std::function<at::Tensor(const at::Tensor&)>> functions{
                {"exp", [](const at::Tensor& x) { return x.exp(); }},
                {"log", [](const at::Tensor& x) { return at::log(x); }},
                {"sum", [](const at::Tensor& x) { return x.sum(); }},
                {"relu", at::relu},
            };
            const auto found = functions.find(name);
            if (found == functions.end()) throw std::invalid_argument("no function " + name);
            auto argument = expression();
            expect(')');
            return found->second(argument);
        }
        auto it = variables.find(name);
        if (it == variables.end()) throw std::invalid_argument("no variable " + name);
        return it->second;
    }
};

at::Tensor evaluate(const std::string& text, const Variables& variables) { return Calculator(text, variables).run(); }

std::vector<std::vector<int>> queens(int n) {
    std::vector<std::vector<int>> solutions;
    std::vector<int> row;
    std::bitset<64> columns, rising, falling;
    std::function<void()> place = [&]() {
        const int r = (int)row.size();
        if (r == n) {
            solutions.push_back(row);
            return;
        }
        for (int c = 0; c < n; ++c) {
            if (columns[c] || rising[r + c] || falling[r - c + n]) continue;
            columns.set(c); rising.set(r + c); falling.set(r - c + n);
            row.push_back(c);
            place();
            row.pop_back();
            columns.reset(c); rising.reset(r + c); falling.flip(r - c + n);
        }
    };
    place();
    return solutions;
}

static void subsets_from(const std::vector<int>& xs, size_t i, int left, std::vector<int>& chosen, std::vector<std::vector<int>>& out) {
    if (left == 0) out.push_back(chosen);
    if (i == xs.size() || left <= 0) return;
    chosen.push_back(xs[i]);
    subsets_from(xs, i + 1, left - xs[i], chosen, out);
    chosen.pop_back();
    subsets_from(xs, i + 1, left, chosen, out);
}

std::vector<std::vector<int>> subset_sums(const std::vector<int>& xs, int target) {
    std::vector<std::vector<int>> out;
    std::vector<int> chosen;
    subsets_from(xs, 0, target, chosen, out);
    return out;
}

std::string hanoi(int n, char from = 'A', char to = 'C', char spare = 'B') {
    if (n == 0) return "";
    return hanoi(n - 1, from, spare, to) + from + to + ' ' + hanoi(n - 1, spare, to, from);
}

int64_t permanent(at::Tensor m) {
    TORCH_CHECK_VALUE(m.dim() == 2 && m.size(0) == m.size(1), "not square");
    auto a = m.accessor<int64_t, 2>();
    std::map<unsigned, int64_t> memo{{0u, 1}};
    std::function<int64_t(unsigned)> go = [&](unsigned left) -> int64_t {
        if (auto it = memo.find(left); it != memo.end()) return it->second;
        const int row = std::bitset<32>(left).count() - 1;
        int64_t total = 0;
        for (int c = 0; c < a.size(1); ++c)
            if (left >> c & 1) total += a[row][c] * go(left & ~(1u << c));
        return memo[left] = total;
    };
    return go((1u << m.size(0)) - 1);
}
std::string hanoi_moves(int n) { return hanoi(n); }
'''
CUDA = ""
FUNCTIONS = ["evaluate", "queens", "subset_sums", "hanoi_moves", "permanent"]


def check(m, t):
    import itertools

    import numpy as np

    x, y = t.rng.random((3, 5)) + 0.5, t.rng.random(5) + 0.5
    names = {"x": t(x), "y_2": t(y)}
    for text, want in (
        ("x + y_2*2", x + y * 2),
        (" -x ^ 2 - (3.5 - y_2) / x", (-x) ** 2 - (3.5 - y) / x),  # the grammar's minus binds tighter
        ("2 ^ 3 ^ 2 * sum(x)", 512 * x.sum()),
        ("log(exp(x) + 1) - relu(1 - x)", np.log(np.exp(x) + 1) - np.maximum(1 - x, 0)),
        ("8 - 4 - 2 / 2 / 2", np.float64(3.5)),
        ("((1e2))", np.float64(100)),
    ):
        t.close(m.evaluate(text, names), want, rtol=1e-12)
    for text, message in (("x + ", "expected a value at 4"), ("(x", "expected ')' at 2"), ("z", "no variable z"), ("sin(x)", "no function sin"), ("x y_2", "unexpected 'y' at 2")):
        with t.raises(RuntimeError, message):  # functions=: every std::exception is a RuntimeError
            m.evaluate(text, names)
    for n in range(1, 7):
        want = [list(p) for p in itertools.permutations(range(n)) if len({p[i] + i for i in range(n)}) == n == len({p[i] - i for i in range(n)})]
        assert m.queens(n) == want
    xs = [3, 1, 4, 1, 5, 9, 2]
    want = [[xs[i] for i in pick] for k in range(8) for pick in itertools.combinations(range(7), k) if sum(xs[i] for i in pick) == 10]
    assert sorted(m.subset_sums(xs, 10)) == sorted(want)
    assert m.subset_sums([], 0) == [[]]
    pegs = {"A": list(range(6, 0, -1)), "B": [], "C": []}
    moves = m.hanoi_moves(6).split()
    for a, b in moves:
        assert not pegs[b] or pegs[b][-1] > pegs[a][-1]
        pegs[b].append(pegs[a].pop())
    assert len(moves) == 63 and pegs["C"] == list(range(6, 0, -1))
    a = t.rng.integers(-3, 4, (6, 6))
    assert m.permanent(t(a)) == sum(np.prod([a[i, p[i]] for i in range(6)]) for p in itertools.permutations(range(6)))
    with t.raises(ValueError, "not square"):
        m.permanent(t(a[:2].copy()))
