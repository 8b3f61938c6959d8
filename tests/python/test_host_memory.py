"""Memory of host functions: whose it is, when it goes, and when its objects are made and destroyed."""

import numpy as np
import pytest

import workbench as wb


def module(source, *functions):
    return wb.load_inline("ext", source, functions=list(functions) or None)


def test_memory_of_a_tensor_that_is_gone_is_gone():
    m = module(
        """
        float f() {
            float* p;
            { auto x = torch::ones({8}); p = x.data_ptr<float>(); }
            return p[0];
        }
        """,
        "f",
    )
    with pytest.raises(wb.KernelFault, match="no live allocation"):
        m.f()


def test_memory_does_not_grow():
    resource = pytest.importorskip("resource")
    m = module("torch::Tensor f(torch::Tensor x) { auto y = x; for (int i = 0; i < 50; ++i) y = y + 1; return y; }", "f")
    x = np.zeros(1 << 18, np.float32)
    m.f(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10):
        m.f(x)
    # 500 temporaries of 1 MiB; each is freed when it goes.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


def test_an_array_that_is_passed_twice_is_there_until_both_are_gone():
    m = module("float f(torch::Tensor a, torch::Tensor b) { float x = a.data_ptr<float>()[0]; float* p = b.data_ptr<float>(); a = torch::zeros({1}); return x + p[1]; }", "f")
    x = np.float32([1.5, -2, 0.25, 8])
    assert m.f(x, x) == x[0] + x[1]


def test_temporaries_go_once_whatever_way_was_taken():
    m = module(
        """
        struct Counted {
            std::vector<int64_t>& log;
            int64_t id;
            Counted(std::vector<int64_t>& l, int64_t i) : log(l), id(i) { log.push_back(id); }
            ~Counted() { log.push_back(-id); }
            int64_t value() const { return id; }
        };
        std::vector<int64_t> f(int64_t k) {
            std::vector<int64_t> log;
            int64_t sum = k > 1 ? Counted(log, 1).value() : Counted(log, 2).value();
            if (k > 0 && Counted(log, 3).value() == 3) sum += 10;
            switch (k) {
                case 0: sum += Counted(log, 4).value(); break;
                case 1: log.push_back(100);
                default: for (int i = 0; i < 2; ++i) sum += i > 0 || Counted(log, 5).value() == 5;
            }
            Counted(log, 6);
            log.push_back(sum);
            return log;
        }
        """,
        "f",
    )
    for k in (0, 1, 2):
        log = m.f(k)
        made = [v for v in log if 0 < v < 10][: -1 if log[-1] < 10 else None]
        gone = [-v for v in log if v < 0]
        assert sorted(made) == sorted(gone), log
    # A statement's own temporary goes before the next statement.
    assert m.f(0)[-3:-1] == [6, -6]


def test_memory_of_the_call_as_a_tensor():
    m = module(
        """
        torch::Tensor view() { std::vector<float> v = {1, 2, 3, 4}; auto t = torch::from_blob(v.data(), {2, 2}); v[0] = 9; t[1][1] = 7; return t; }
        torch::Tensor gone() { torch::Tensor t; { std::vector<float> v(1000, 2.5f); t = torch::from_blob(v.data(), {1000}); } return t.sum(); }
        torch::Tensor past() { std::vector<float> v(3); return torch::from_blob(v.data(), {4}); }
        torch::Tensor part(torch::Tensor x) { return torch::from_blob(x.data_ptr<float>() + 1, {2}, {2}, torch::kFloat32); }
        """,
        "view", "gone", "past", "part",
    )
    np.testing.assert_array_equal(m.view(), np.float32([[9, 2], [3, 7]]))
    assert m.gone() == 2500
    with pytest.raises(RuntimeError, match="from_blob"):
        m.past()
    np.testing.assert_array_equal(m.part(np.float32([1, 2, 3, 4])), np.float32([2, 4]))


def test_memory_that_is_freed_is_seen_as_freed_by_every_reader():
    m = module(
        """
        int64_t late(const int64_t& r, std::vector<int64_t>& v) { v.reserve(1 << 23); return r; }
        int64_t f() {
            std::vector<int64_t> v(1 << 22, 5);
            int64_t (*called)(const int64_t&, std::vector<int64_t>&) = &late;
            return called(v[0], v);
        }
        """,
        "f",
    )
    with pytest.raises(wb.KernelFault, match="dangling pointer"):
        m.f()


def test_memory_freed_in_a_call_is_freed_for_the_parameters_of_the_caller():
    # Too large to be inlined, and to be optimised before it first runs: what is known of `r` when the function begins ends with the memory.
    # 32 MiB, so that the system takes the pages back.
    filler = "".join(f"log[{i % 7}] = log[{(i + 1) % 7}] * {i} + s;" for i in range(400))
    m = module(
        f"""
        int64_t late(const int64_t& r, std::vector<int64_t>& v, int64_t* log) {{
            v.reserve(1 << 23);
            int64_t s = r;
            {filler}
            return s;
        }}
        int64_t f(torch::Tensor t) {{
            std::vector<int64_t> v(1 << 22, 5);
            int64_t log[7] = {{}};
            return late(v[0], v, log) + late(v[1], v, log);
        }}
        """,
        "f",
    )
    with pytest.raises(wb.KernelFault, match="reads 8 bytes at address 0x[0-9a-f]{9,}, which is in no live allocation"):
        m.f(np.zeros(3))


def test_objects_of_loops_go_each_round():
    m = module(
        """
        std::vector<int64_t> f() {
            std::vector<int64_t> log;
            struct P {
                std::vector<int64_t>* log;
                int64_t id;
                P(std::vector<int64_t>* l, int64_t i) : log(l), id(i) { log->push_back(id); }
                P(const P& o) : log(o.log), id(o.id) { log->push_back(id); }
                ~P() { log->push_back(-id); }
                operator bool() const { return id > 0; }
            };
            int n = 0;
            while (P(&log, 3 - n)) ++n;
            do ++n; while (P(&log, 6 - n));
            for (int i = 0; 0 < P(&log, 2 - i).id; i += P(&log, 1).id) { }
            P both[2] = {P(&log, 7), P(&log, 8)};
            for (P p : both) { if (p.id == 7) continue; break; }
            return log;
        }
        """,
        "f",
    )
    # The two of the array are there when the log is copied.
    rounds = [3, -3, 2, -2, 1, -1, 0, 0, 2, -2, 1, -1, 0, 0, 2, -2, 1, -1, 1, -1, 1, -1, 0, 0]
    assert m.f() == [*rounds, 7, 8, 7, -7, 8, -8]


def test_the_heap_of_host_code():
    m = module(
        """
        struct P { int a = 3; float b; P() : b(2) {} P(int x, float y) : a(x), b(y) {} };
        double used(int64_t n) {
            float* x = new float[n];
            int* z = new int[n]();
            for (int64_t i = 0; i < n; ++i) x[i] = i + z[i];
            double s = 0;
            for (int64_t i = 0; i < n; ++i) s += x[i];
            delete[] x;
            delete[] z;
            P* p = new P; P* q = new P(1, 2.5f); P* all = new P[5];
            s += p->a + q->b + all[4].a;
            delete p; delete q; delete[] all;
            double* d = (double*)malloc(n * sizeof(double));
            d[n - 1] = 7;
            d = (double*)realloc(d, 2 * n * sizeof(double));
            s += d[n - 1];
            free(d);
            return s;
        }
        int twice() { int* p = new int; delete p; delete p; return 0; }
        int late() { int* p = new int[3]; delete[] p; return p[1]; }
        int past() { int* p = new int[3]; return p[3]; }
        int ends() { exit(3); return 1; }
        """,
        "used", "twice", "late", "past", "ends",
    )
    assert m.used(10) == sum(range(10)) + 3 + 2.5 + 3 + 7
    with pytest.raises(RuntimeError, match="freed already"):
        m.twice()
    with pytest.raises(wb.KernelFault, match="dangling pointer"):
        m.late()
    with pytest.raises(wb.KernelFault, match="out-of-bounds read"):
        m.past()
    with pytest.raises(RuntimeError, match=r"exit\(3\) was called"):
        m.ends()
    # Functions of numbers alone, too.
    assert wb.compile("int f(int n) { int* p = new int[4]; p[0] = n; int r = p[0]; delete[] p; return r; }").f(3) == 3
    for text in ("int* p = new int[3]; x[0] = p[0];", "int* p = (int*)malloc(12); x[0] = p[0];"):
        with pytest.raises(wb.CompileError, match="device code"):
            wb.compile(f"__global__ void k(int* x) {{ {text} }}")


@pytest.mark.parametrize("where", ["static float t[100000000]; float f() {", "float f() { static float t[100000000];"])
def test_variables_of_the_host_have_a_largest_size(where):
    with pytest.raises(wb.CompileError, match="`t` takes 400000000 bytes, and at most 268435456 are possible"):
        wb.load_inline("large", where + " return t[0]; }")
