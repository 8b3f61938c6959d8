"""Owners that point at nothing, and what does not compile: the error names the user's line."""

import pytest

import workbench as wb

HEAD = "#include <torch/extension.h>\n#include <memory>\n#include <string>\n#include <vector>\n"


def module(body, before=""):
    return wb.load_inline("m", HEAD + before + "int64_t f(int64_t n) {\n" + body + "\n}", functions=["f"])


@pytest.mark.parametrize(
    "body",
    [
        "    std::shared_ptr<int> p;\n    return *p;",
        "    auto p = std::make_shared<int>(3);\n    p.reset();\n    return *p;",
        "    struct S { int a, b; };\n    std::shared_ptr<S> p = nullptr;\n    return p->b;",
        "    std::weak_ptr<int> w;\n    return *w.lock();",
        "    auto u = std::make_unique<int>(1);\n    auto v = std::move(u);\n    return *u;",
    ],
)
def test_pointing_at_nothing(body):
    with pytest.raises(wb.KernelFault, match="null pointer") as caught:
        module(body).f(1)
    assert body.splitlines()[-1].strip() in str(caught.value)


def test_a_pointer_that_outlives_its_object():
    body = "    int* raw = nullptr;\n    {\n        auto p = std::make_shared<int>(3);\n        raw = p.get();\n    }\n    return *raw;"
    with pytest.raises(wb.KernelFault) as caught:
        module(body).f(1)
    assert "return *raw;" in str(caught.value)


def test_past_the_end_of_an_array():
    body = "    std::shared_ptr<int[]> p(new int[5]);\n    p[0] = 1;\n    return p[n];"
    f = module(body).f
    assert f(0) == 1
    with pytest.raises(wb.KernelFault, match="out-of-bounds read") as caught:
        f(5)
    assert "return p[n];" in str(caught.value)


def test_a_weak_pointer_that_expired():
    body = "    std::weak_ptr<int> w = std::make_shared<int>(1);\n    std::shared_ptr<int> p(w);\n    return *p;"
    with pytest.raises(wb.ExtensionError, match="bad_weak_ptr") as caught:
        module(body).f(1)
    assert "std::shared_ptr<int> p(w);" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "before"),
    [
        ("std::shared_ptr<B> p = std::make_shared<A>();", "struct A { int x; };\nstruct B { int y; };\n"),
        ("std::shared_ptr<int> p = new int(3);", ""),
        ("auto p = std::make_shared<A>(1, 2, 3);", "struct A { int x; A(int n) : x(n) {} };\n"),
        ("std::unique_ptr<int> p = std::make_shared<int>(3);", ""),
    ],
)
def test_what_does_not_compile(line, before):
    with pytest.raises(wb.CompileError) as caught:
        module(f"    {line}\n    return 0;", before)
    assert line in str(caught.value)


ALONE = "using P = std::unique_ptr<int>;\nstruct Holder { P p; };\nstruct Locked { std::mutex m; int x; };\n"


@pytest.mark.parametrize(
    ("before", "line", "what"),
    [
        ("P a;", "P b = a;", "unique_ptr"),
        ("P a;", "P b(a);", "unique_ptr"),
        ("P a, b;", "b = a;", "unique_ptr"),
        ("P a;", "auto f = [a] { return *a; };", "unique_ptr"),
        ("P a; auto f = [p = std::move(a)] { return *p; };", "auto g = f;", "unique_ptr"),
        ("P a; auto f = [](P p) { return *p; };", "f(a);", "unique_ptr"),
        ("Holder a;", "Holder b = a;", "unique_ptr"),
        ("Holder a, b;", "b = a;", "unique_ptr"),
        ("P a;", "Holder b{a};", "unique_ptr"),
        ("struct Many { P all[2]; }; Many a;", "Many b = a;", "unique_ptr"),
        ("std::pair<int, P> a;", "auto b = a;", "unique_ptr"),
        ("std::pair<int, P> a, b;", "b = a;", "unique_ptr"),
        ("P a;", "auto b = std::make_pair(1, a);", "unique_ptr"),
        ("std::tuple<P, int> a;", "auto b = a;", "unique_ptr"),
        ("std::array<P, 2> a;", "auto b = a;", "unique_ptr"),
        ("std::vector<P> a;", "auto b = a;", "unique_ptr"),
        ("std::vector<P> a, b;", "b = a;", "unique_ptr"),
        ("std::vector<P> a; P p;", "a.push_back(p);", "unique_ptr"),
        ("std::vector<P> a; P p;", "a.emplace_back(p);", "unique_ptr"),
        ("std::vector<P> a;", "for (auto p : a) {}", "unique_ptr"),
        ("std::deque<P> a; P p;", "a.push_back(p);", "unique_ptr"),
        ("std::map<int, P> a;", "auto b = a;", "unique_ptr"),
        ("std::optional<P> a;", "auto b = a;", "unique_ptr"),
        ("P a;", "std::shared_ptr<int> b = a;", "unique_ptr"),
        ("std::mutex a;", "auto b = a;", "mutex"),
        ("std::mutex a, b;", "a = b;", "mutex"),
        ("Locked a;", "Locked b = a;", "mutex"),
        ("std::mutex m; std::lock_guard<std::mutex> a(m);", "auto b = a;", "lock_guard"),
        ("std::mutex m; std::unique_lock<std::mutex> a(m), b;", "b = a;", "unique_lock"),
        ("std::atomic<int> a{1};", "std::atomic<int> b = a;", "atomic"),
        ("std::atomic<int> a{1}, b{2};", "b = a;", "atomic"),
        ("std::atomic_flag a;", "auto b = a;", "atomic_flag"),
        ("std::stringstream a;", "auto b = a;", "stream"),
        ("std::stringstream a, b;", "b = a;", "stream"),
    ],
)
def test_what_is_alone_is_not_copied(before, line, what):
    with pytest.raises(wb.CompileError, match=what) as caught:
        module(f"    {before}\n    {line}\n    return 0;", ALONE)
    shown = str(caught.value)
    assert line in shown and "cannot be" in shown


def test_a_class_that_is_never_on_the_heap():
    before = "struct A { int n; void* operator new(size_t n) = delete; };\n"
    with pytest.raises(wb.CompileError, match="`A::operator new` is deleted") as caught:
        module("    A* a = new A;\n    return a->n;", before)
    assert "A* a = new A;" in str(caught.value) and "__wb" not in str(caught.value)


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_many_share_one(n):
    body = """    auto one = std::make_shared<std::vector<int64_t>>();
    std::vector<std::shared_ptr<std::vector<int64_t>>> all(n, one);
    for (auto& p : all) p->push_back(all.size());
    int64_t sum = 0;
    for (int64_t x : *one) sum += x;
    return sum * 10000 + one.use_count();"""
    assert module(body).f(n) == n * n * 10000 + n + 1


def test_a_tensor_is_shared():
    text = HEAD + """
struct Layer { torch::Tensor weight; };
torch::Tensor f(torch::Tensor x) {
    auto layer = std::make_shared<Layer>(Layer{torch::full({3}, 2.0)});
    std::weak_ptr<Layer> w = layer;
    std::vector<std::shared_ptr<Layer>> stack{layer, layer};
    layer.reset();
    for (const auto& l : stack) x = x * l->weight;
    stack.clear();
    TORCH_CHECK(w.expired());
    return x;
}"""
    import numpy as np

    out = wb.load_inline("m", text, functions=["f"]).f(np.ones(3, np.float32))
    assert out.tolist() == [4, 4, 4]
