"""Work that ends on request: compilations, host functions, the library's loops; and the place where it is said to have ended."""

import pickle
import signal
import threading
import time

import numpy as np
import pytest
import workbench as wb

# Work for the front end, or for what follows it; by the number of its parts.
LONG = {
    "many functions": lambda n: "".join(f"__device__ int f{i}(int x) {{ return x + {i}; }}\n" for i in range(n)),
    "many kernels": lambda n: "".join(f"__global__ void k{i}(int* x) {{ x[0] = x[1] * {i}; }}\n" for i in range(n)),
    "one large kernel": lambda n: "__global__ void k(float* x, int n) { " + "".join(f"if (n > {i}) x[n + {i}] += {i};" for i in range(n)) + " }",
}


def long_text(write):
    """A text whose compilation takes more than a second of two processors here, whatever the machine and the build."""
    n = 500
    while True:
        begun = time.process_time()
        wb.compile(write(n))
        if time.process_time() - begun > 1:
            return write(n) + "// another text"
        n *= 2


@pytest.mark.parametrize("write", LONG.values(), ids=LONG.keys())
def test_a_compilation_is_interrupted(write):
    text = long_text(write)
    asked = []

    def ask():
        asked.append(time.process_time())
        wb.interrupt()

    timer = threading.Timer(0.15, ask)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        wb.compile(text)
    timer.join()
    # Processor time, which other processes do not affect: without polls it is that of the whole text.
    assert time.process_time() - asked[0] < 0.5
    assert wb.compile("__global__ void k(int* x) { x[0] = 3; }").k.params == ("x",)


def test_a_signal_ends_a_compilation():
    def stop(*_):
        raise ZeroDivisionError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(ZeroDivisionError):
            wb.compile(long_text(LONG["many functions"]) + "\n// and another")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_module_has_a_limit_for_plain_host_functions():
    module = wb.compile("void f() { volatile int x = 0; while (x == 0) { } }").with_timeout(0.1)
    begun = time.process_time()
    with pytest.raises(wb.KernelTimeout):
        module.f()
    assert time.process_time() - begun < 1


ENDLESS = {
    "a vector": "#include <vector>\nint f(int n) {\n  std::vector<int> v(n);\n  while (true) v.assign(n, n);\n  return v[0];\n}",
    "a sort": "#include <vector>\n#include <algorithm>\nint f(int n) {\n  std::vector<int> v(n);\n  while (true) std::sort(v.begin(), v.end());\n  return v[0];\n}",
    "a map": "#include <map>\nint f(int n) {\n  std::map<int, int> m;\n  for (int i = 0;; i++) m[i % n] = i;\n  return m[0];\n}",
    "a string": "#include <string>\nint f(int n) {\n  std::string s;\n  while (true) { s = std::to_string(n); s += s; }\n  return s.size();\n}",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_ends_in_the_library_is_told_of_the_users_line(text):
    module = wb.compile(text).with_timeout(0.1)
    with pytest.raises(wb.KernelTimeout) as caught:
        module.f(2000)
    message = str(caught.value)
    assert not any(word in message for word in ["<std_containers>", "<torch>", "<python>", "__wb", "__WB"]), message
    assert any(f"<kernel>:{line}:" in message for line in [4, 5]), message


def test_tensors_that_do_not_fit_together_are_memory_errors():
    """Each fits, all of them do not: the operation says so before it begins."""
    resource = pytest.importorskip("resource")
    text = """torch::Tensor f(torch::Tensor x) {
      std::vector<torch::Tensor> all;
      while (true) { all.push_back(torch::cat({x, x})); x = all.back(); }
    }"""
    f = wb.load_inline("stopping_cat", text).f
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), before[1]))
    try:
        with pytest.raises(Exception, match="no memory"):
            f(np.zeros(1 << 20, np.float32))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


SPIN = "int spin(int n) {\n  for (volatile int x = 0; x == 0;) n++;\n  return n;\n}\n"
# Texts of which something runs while they are compiled and never ends, with the line on which that is.
BEFORE = {
    "an initialiser": (SPIN + "int one = 1;\nint two = spin(one);\nint f() { return two; }", 2),
    "a constructor": ("struct S {\n  int n = 0;\n  S() {\n    for (volatile int x = 0; x == 0;) n++;\n  }\n};\nS s;\nint f() { return s.n; }", 4),
    "PYBIND11_MODULE": ("#include <torch/extension.h>\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  for (volatile int x = 0; x == 0;) {}\n}", 3),
    "TORCH_LIBRARY": ("#include <torch/library.h>\nTORCH_LIBRARY(stopping, m) {\n  for (volatile int x = 0; x == 0;) {}\n}", 3),
}


@pytest.mark.parametrize("compiles", [wb.compile, lambda text, **options: wb.load_inline("stopping_before", text, **options)], ids=["compile", "load_inline"])
@pytest.mark.parametrize("text, line", BEFORE.values(), ids=BEFORE.keys())
def test_what_runs_at_compilation_has_a_limit(compiles, text, line):
    begun = time.process_time()
    with pytest.raises(wb.KernelTimeout) as caught:
        compiles(text, timeout=0.1)
    assert time.process_time() - begun < 1.5
    assert f":{line}:" in str(caught.value), caught.value


def test_the_limit_of_a_compilation_is_that_of_its_calls():
    module = wb.compile(SPIN + "__global__ void k(int* x) { while (true) atomicAdd(x, 1); }\nint one() { return 1; }", timeout=0.1)
    with pytest.raises(wb.KernelTimeout):
        module.spin(1)
    with pytest.raises(wb.KernelTimeout):
        module.k[1, 1](np.zeros(1, np.int32))
    with pytest.raises(wb.KernelTimeout):
        pickle.loads(pickle.dumps(module)).spin(1)
    assert module.one() == 1
    inline = wb.load_inline("stopping_limit", SPIN, functions=["spin"], timeout=0.1)
    with pytest.raises(wb.KernelTimeout):
        inline.spin(1)
    with pytest.raises(wb.ArgumentError, match="timeout"):
        wb.compile("int f() { return 1; }", timeout=-1)
