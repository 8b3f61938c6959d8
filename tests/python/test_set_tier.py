"""Machine code that kernels get: `wb.set_tier`, `kernel.tier`, and that wide code is as safe and as exact as the rest."""

import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import workbench as wb

SCALE = """__global__ void scale(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = expf(a * x[i]);
}"""


def has_wide():
    before = wb.set_tier("auto")
    try:
        wb.set_tier("wide")
    except wb.ArgumentError:
        return False
    finally:
        wb.set_tier(before)
    return True


HAS_WIDE = has_wide()
wide_only = pytest.mark.skipif(not HAS_WIDE, reason="no C compiler, or neither AVX-512 nor AVX2")
# Threads side by side: by Workbench itself, and by a C compiler.
abreast = pytest.mark.parametrize("made", ["lanes", pytest.param("wide", marks=wide_only)])


@pytest.fixture
def tier():
    """Sets the tier for one test."""
    before = wb.set_tier("auto")
    yield wb.set_tier
    wb.set_tier(before)


def compiled(text, name):
    # A text of its own, so that no other test has compiled it already.
    return getattr(wb.compile(f"// {time.perf_counter_ns()}\n{text}"), name)


def test_set_tier_gives_the_one_before(tier):
    assert tier("good") == "auto"
    assert tier("soon") == "good"
    assert tier("auto") == "soon"


def test_an_unknown_tier_is_named(tier):
    with pytest.raises(wb.ArgumentError, match='"fast"'):
        tier("fast")
    assert tier("auto") == "auto"


@pytest.mark.parametrize("name", ["soon", "good"])
def test_a_kernel_says_what_its_last_launch_ran(tier, name):
    tier(name)
    kernel = compiled(SCALE, "scale")
    assert kernel.tier is None
    x, y = np.ones(5, np.float32), np.zeros(5, np.float32)
    kernel[1, 32](x, y, 2.0, 5)
    assert kernel.tier == name


@pytest.mark.skipif(HAS_WIDE, reason="this machine has a wide tier")
def test_without_a_wide_tier_asking_for_it_is_an_error(tier):
    with pytest.raises(wb.ArgumentError, match="no wide tier"):
        tier("wide")


@abreast
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 64, 255, 1000, 100_003])
@pytest.mark.parametrize("block", [1, 31, 64, 256])
def test_wide_code_computes_the_same_bits(tier, made, n, block):
    rng = np.random.default_rng(n)
    x = (rng.standard_normal(n) * 20).astype(np.float32)
    found = {}
    for name in ["good", made]:
        tier(name)
        kernel = compiled(SCALE, "scale")
        # One element more than the kernel may touch.
        y = np.full(n + 1, 7.0, np.float32)
        kernel[n // block + 1, block](x, y, 0.75, n)
        assert kernel.tier == name
        found[name] = y
    np.testing.assert_array_equal(found["good"], found[made])
    # expf is within 1 ULP, and so is its argument's rounding to float of what is computed here in double.
    np.testing.assert_allclose(found[made][:n], np.exp((x * np.float32(0.75)).astype(np.float64)), rtol=3e-7)
    assert found[made][n] == 7.0


@wide_only
def test_a_hot_kernel_becomes_wide_by_itself(tier):
    tier("auto")
    kernel = compiled(SCALE, "scale")
    n = 1 << 20
    x, y = np.ones(n, np.float32), np.zeros(n, np.float32)
    kernel[n // 256, 256](x, y, 1.0, n)
    # The first result is never delayed by a C compiler.
    assert kernel.tier in ("soon", "good")
    wb.do_bench(lambda: kernel[n // 256, 256](x, y, 1.0, n), warmup=60, rep=10)
    wb.do_bench(lambda: kernel[n // 256, 256](x, y, 1.0, n), warmup=1, rep=1)
    assert kernel.tier == "wide"


@abreast
def test_arrays_larger_than_the_cache_are_written_whole(tier, made):
    tier(made)
    kernel = compiled(SCALE, "scale")
    n = (48 << 20) // 4 + 5
    x = np.zeros(n, np.float32)
    store = np.full(n + 32, 3.0, np.float32)
    # At a line of the cache, and at the numbers between two.
    first = -(store.ctypes.data // 4) % 16
    for start in [first, first + 1]:
        y = store[start : start + n]
        kernel[n // 256 + 1, 256](x, y, 1.0, n)
        assert kernel.tier == made
        assert (y == 1.0).all()
        store.fill(3.0)


@abreast
@pytest.mark.parametrize("bad", [0, 5, 16, 77, 300])
def test_of_several_faults_the_lowest_thread_is_told(tier, made, bad):
    text = """__global__ void pick(const int* at, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = 0;
    if (at[i] > 0) v = x[at[i]];
    if (at[i] < 0) v = x[at[i]];
    y[i] = v;
}"""
    at = np.ones(1000, np.int32)
    # The lowest faults at the second access, a higher one of its chunk at the first.
    at[bad] = -3
    at[bad + 2] = 500
    x, y = np.ones(100, np.float32), np.full(1000, 7.0, np.float32)
    said = {}
    for name in ["good", made]:
        tier(name)
        kernel = compiled(text, "pick")
        y.fill(7.0)
        with pytest.raises(wb.KernelFault) as caught:
            kernel[4, 256](at, x, y, 1000)
        assert kernel.tier == name
        assert y[bad] == 7.0
        assert (y[:bad] == 1.0).all()
        said[name] = str(caught.value)
        y.fill(7.0)
        kernel[4, 256](np.zeros(1000, np.int32), x, y, 1000)
        assert (y == 0.0).all()
    assert said["good"] == said[made]
    assert "index -3" in said[made]


@abreast
def test_a_loop_without_end_stops_at_its_time_limit(tier, made):
    tier(made)
    kernel = compiled("__global__ void spin(int* p, int n) { int k = n; while (k >= 0) k = k * 3 % 1000; p[0] = k; }", "spin")
    p = np.zeros(1, np.int32)
    # Its code is made now: that may take longer than the limit.
    kernel[1, 64](p, -1)
    start = time.perf_counter()
    with pytest.raises(wb.KernelTimeout):
        kernel.launch(1, 64, [p, 1], timeout=0.2)
    assert kernel.tier == made
    assert time.perf_counter() - start < 5
    kernel[1, 64](p, -1)


@abreast
def test_what_has_no_wide_code_says_why_and_runs(tier, made):
    tier(made)
    kernel = compiled('__global__ void say(float* y) { printf("%d", (int)threadIdx.x); y[threadIdx.x] = 1; }', "say")
    y = np.zeros(2, np.float32)
    kernel[1, 2](y)
    assert kernel.tier == "good"
    assert (y == 1).all()
    with pytest.raises(wb.ArgumentError, match="`printf`"):
        kernel.c_source(2)


@wide_only
def test_the_text_of_wide_code_is_c_that_compiles(tier, tmp_path):
    import subprocess

    kernel = compiled(SCALE, "scale")
    text = kernel.c_source((32, 2, 2))
    assert "u32 kernel(char* ctx, u64* args)" in text
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    source = tmp_path / "kernel.c"
    source.write_text(text)
    subprocess.run([compiler, "-march=native", "-fsyntax-only", "-Werror=implicit", source], check=True)


def rows(report):
    return {row["tier"]: row for row in report.rows}


@abreast
def test_a_report_tells_what_is_made_and_why_there_is_no_more(tier, made):
    tier(made)
    kernel = compiled(SCALE, "scale")
    report = kernel.tier_report(64)
    assert (report.kernel, report.block, report.last) == ("scale", (64, 1, 1), None)
    first = rows(report)
    assert (first[made]["code"], first[made]["why"]) == ("not yet", "the first launch makes it")
    x, y = np.ones(5, np.float32), np.zeros(5, np.float32)
    kernel[1, 64](x, y, 2.0, 5)
    report = kernel.tier_report((64, 1))
    assert report.last == made and rows(report)[made] | {"notes": 0} == {"tier": made, "code": "made", "why": None, "notes": 0}
    other = "wide" if made == "lanes" else "lanes"
    assert rows(report)[other]["code"] == "none" and "it was compiled for" in rows(report)[other]["why"]
    # Code is for blocks of one shape.
    assert rows(kernel.tier_report(32))[made]["code"] == "not yet"
    assert f"scale in blocks of 64 x 1 x 1; the last launch ran {made} code\n" in str(report)
    shown = report._repr_mimebundle_()
    assert shown["text/plain"] == str(report) and "scale in blocks of 64 \u00d7 1 \u00d7 1" in shown["text/html"]


def test_a_report_says_which_loops_run_in_the_widest_registers(tier):
    tier("lanes")
    text = """__global__ void sum(const float* x, float* y, int n) {
    float s = 0;
    for (int j = 0; j < n; j++) s += x[j * 64 + threadIdx.x];
    y[threadIdx.x] = s;
}
__global__ void odd(const int* x, int* y, int n) {
    int s = 0;
    for (int j = 0; j < n; j++) if (x[j * 64 + threadIdx.x] > s) s += 3 * s / x[j]; else s--;
    y[threadIdx.x] = s;
}"""
    # Other processors have no registers that are wider than the code generator's.
    if "avx512" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("only processors with AVX-512 have code for wider registers")
    even, odd = (rows(getattr(wb.compile(text), name).tier_report(64))["lanes"]["notes"] for name in ("sum", "odd"))
    assert even[0].startswith("in the widest registers: 1 ")
    assert any(note.startswith("a loop ") for note in odd[1:])


def test_a_report_without_vector_code_says_why(tier):
    tier("auto")
    say = compiled('__global__ void say() { printf("%d", (int)threadIdx.x); }', "say")
    lanes = rows(say.tier_report(2))["lanes"]
    assert lanes["code"] == "none" and "`printf`" in lanes["why"]
    tier("good")
    plain = rows(compiled(SCALE, "scale").tier_report(2))
    assert plain["soon"]["code"] == "none" and plain["good"]["code"] == "made"
    assert "set_tier" in plain["lanes"]["why"] and plain["wide"]["code"] == "none"


@pytest.mark.parametrize("block", [0, 1025, (1, 1, 65), (32, 33)])
def test_a_report_on_a_block_that_cuda_does_not_have(tier, block):
    with pytest.raises(wb.ArgumentError, match="no block is like that|block"):
        compiled(SCALE, "scale").tier_report(block)


@abreast
def test_wide_code_in_a_forked_child(tier, made):
    import os

    tier(made)
    kernel = compiled(SCALE, "scale")
    x, y = np.zeros(100, np.float32), np.zeros(100, np.float32)
    kernel[1, 128](x, y, 1.0, 100)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            other = compiled(SCALE, "scale")
            for k in [kernel, other]:
                y.fill(0)
                k[1, 128](x, y, 1.0, 100)
                if not (y == 1).all() or k.tier != made:
                    os._exit(2)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


LATE = """__global__ void late(int* y, int J) {
    int s = 0;
    for (int j = 0; j < 100000; j++) {
        s += j * s;
        if (threadIdx.x == 40 && j == 0) y[-1] = 1;
        if (threadIdx.x == 20 && j == J) y[-2] = 1;
    }
    y[threadIdx.x] = s;
}
__global__ void uneven(const int* x, int* y) {
    int k = x[threadIdx.x], v = 1;
    if (threadIdx.x == 40) v = x[5000];
    while (k > 0) { k = k - v; }
    if (threadIdx.x == 2) y[-k - 9] = 1;
    y[threadIdx.x] = k;
}"""


STEERED = """__global__ void taps(const int* x, int* y, int n, int k, unsigned char mode, bool twice, long long offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = 0;
    for (int a = 0; a < k; a++) {
        if (x[i + a] % 7 == 0) continue;
        for (int b = k - 1; b >= 0; b -= 2) s = s * 3 + x[i + a] * b;
    }
    switch (mode) {
    case 0: y[i] = s; break;
    case 3: y[i] -= s; break;
    default: y[i] = s ^ 5;
    }
    if (twice) { y[i] += x[i]; x += 1; }
    if (offset == -2) y[i] += 1000 * x[i + 1];
}"""


@abreast
def test_scalars_that_steer_are_known_and_may_change(tier, made):
    # Code that knows them is made for two sets; others run what knows nothing, and each gets what its own scalars say.
    rng, n = np.random.default_rng(5), 1000
    x = rng.integers(-50, 50, n + 40, np.int32)
    tier(made)
    steered = compiled(STEERED, "taps")
    tier("good")
    plain = compiled(STEERED, "taps")
    sets = [(3, 0, True, -2), (2, 3, False, 5), (17, 1, False, 1 << 40), (0, 0, False, -2), (-3, 3, True, 0), (16, 200, True, -2), (3, 0, True, -2)]
    for scalars in sets:
        found = []
        for kernel in [plain, steered]:
            y = np.arange(n, dtype=np.int32)
            kernel[4, 256](x, y, n, *scalars)
            found.append(y)
        np.testing.assert_array_equal(*found)
    assert steered.tier == made


@abreast
def test_a_fault_in_code_that_knows_its_scalars_names_the_same_place(tier, made):
    said = []
    for name in ["good", made]:
        tier(name)
        kernel = compiled(STEERED, "taps")
        with pytest.raises(wb.KernelFault) as caught:
            kernel[1, 64](np.ones(65, np.int32), np.zeros(64, np.int32), 64, 3, 0, False, 0)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "x[i + a]" in said[0]


# Kernels that once failed with threads side by side: parameters, a body, the arguments of a launch, and the text of the fault, if any.
ODD = {
    "an index that multiplication takes out of 64 bits": (
        "const float* x, float* y, int n",
        "float a = 0; for (int j = 0; j < n; j++) a += x[(long long)j + (1LL << 62)]; y[threadIdx.x] = a;",
        lambda: (np.ones(8, np.float32), np.zeros(64, np.float32), 3),
        "x[(long long)j + (1LL << 62)]",
    ),
    "a step that does": (
        "const float* x, float* y, int n",
        "float a = 0; for (int j = 0; j < n; j++) a += x[(long long)j * (1LL << 62)]; y[threadIdx.x] = a;",
        lambda: (np.ones(8, np.float32), np.zeros(64, np.float32), 3),
        "x[(long long)j * (1LL << 62)]",
    ),
    "a number that only unsigned ones have": (
        "float* y, unsigned long long b",
        "unsigned long long i = b - threadIdx.x; if (i < 0xfffffffffffffff0ULL) y[threadIdx.x] = 1.0f; else y[threadIdx.x] = expf(2.0f);",
        lambda: (np.zeros(64, np.float32), 1000),
        None,
    ),
    "a load before the exit of a short loop": (
        "const float* x, float* y, int m",
        "float s = 0; for (int j = 0;; j++) { float v = x[j * 3]; if (j >= m) break; s += v; } y[threadIdx.x] = s;",
        lambda: (np.ones(13, np.float32), np.zeros(64, np.float32), 5),
        "x[j * 3]",
    ),
    "a division before the exit of a short loop": (
        "int* y, int m",
        "int s = 0; for (int j = 0;; j++) { int d = 12 / (m - j); if (j >= m) break; s += d; } y[threadIdx.x] = s;",
        lambda: (np.zeros(64, np.int32), 4),
        "division by zero",
    ),
    "a shift by more than there are bits": (
        "long long* y",
        "long long s = -1; y[threadIdx.x] = (y[threadIdx.x] * 3 - 7) >> s;",
        lambda: (np.arange(64, dtype=np.int64),),
        None,
    ),
    "a fence": (
        "int* y",
        "y[threadIdx.x] = 1; __threadfence(); y[threadIdx.x] += 2;",
        lambda: (np.zeros(64, np.int32),),
        None,
    ),
    "a counter of 64 bits before a barrier": (
        "const float* x, float* y, long long n",
        """__shared__ float all[64]; float a = 0;
        for (long long i = threadIdx.x + (long long)blockIdx.x * blockDim.x; i < n; i += (long long)blockDim.x * gridDim.x) a += x[i];
        all[threadIdx.x] = a; __syncthreads(); y[threadIdx.x] = all[63 - threadIdx.x];""",
        lambda: (np.arange(1000, dtype=np.float32), np.zeros(64, np.float32), 1000),
        None,
    ),
}


@abreast
@pytest.mark.parametrize("name", ODD)
def test_odd_kernels_do_what_good_code_does(tier, made, name):
    params, body, args, fault = ODD[name]
    found, said = [], []
    for each in ["good", made]:
        tier(each)
        kernel = compiled(f"__global__ void odd({params}) {{ {body} }}", "odd")
        given = args()
        try:
            kernel[1, 64](*given)
            found.append(given)
        except wb.KernelFault as e:
            said.append(str(e))
        assert kernel.tier == each
    if fault is None:
        assert not said
        for ours, theirs in zip(*found):
            np.testing.assert_array_equal(ours, theirs)
    else:
        assert len(said) == 2 and said[0] == said[1]
        assert fault in said[0]


@abreast
def test_local_arrays_of_threads_side_by_side_fit_a_small_stack(tier, made):
    import threading

    tier(made)
    kernel = compiled(
        "__global__ void big(float* y, int n) { float a[8000]; for (int j = 0; j < 8000; j++) a[j] = j; y[threadIdx.x] = a[n]; }", "big"
    )
    y = np.zeros(16, np.float32)
    before = threading.stack_size(640 << 10)
    try:
        thread = threading.Thread(target=lambda: kernel[1, 16](y, 77))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert (y == 77).all()
    # Larger ones are none that run side by side.
    kernel = compiled(
        "__global__ void huge(float* y, int n) { float a[65536]; for (int j = 0; j < 65536; j++) a[j] = j; y[threadIdx.x] = a[n]; }", "huge"
    )
    kernel[1, 16](y, 70)
    assert (y == 70).all()
    assert kernel.tier == "good"


@abreast
@pytest.mark.parametrize("when", [5, 20_000, 99_000])
def test_a_lower_thread_that_faults_much_later_is_told(tier, made, when):
    said = {}
    for name in ["good", made]:
        tier(name)
        kernel = compiled(LATE, "late")
        with pytest.raises(wb.KernelFault) as caught:
            kernel[1, 96](np.zeros(1000, np.int32), when)
        assert kernel.tier == name
        said[name] = str(caught.value)
    assert said["good"] == said[made]
    assert "index -2" in said[made]


@abreast
def test_what_a_faulting_thread_goes_on_with_keeps_nobody(tier, made):
    # Thread 40 gets no number, and would count down by it for ever.
    x = np.full(64, 3_000_000, np.int32)
    said = {}
    for name in ["good", made]:
        tier(name)
        kernel = compiled(LATE, "uneven")
        with pytest.raises(wb.KernelFault) as caught:
            kernel.launch(1, 64, [x, np.zeros(64, np.int32)], timeout=20)
        assert kernel.tier == name
        said[name] = str(caught.value)
    assert said["good"] == said[made]
    assert "index -9" in said[made]


def run_elsewhere(tmp_path, code, cc=None, packages=("workbench", "numpy", "numpy.libs", "ml_dtypes", "ziglang")):
    """Runs code in a process whose PATH has no compiler, with these of this environment's packages alone."""
    import importlib.util
    import subprocess
    import sys
    from pathlib import Path

    places = Path(importlib.util.find_spec("numpy").origin).parents[1], Path(wb.__file__).parents[1]
    (tmp_path / "bin").mkdir()
    (tmp_path / "packages").mkdir()
    for name in packages:
        for place in places:
            if (place / name).exists() and not (tmp_path / "packages" / name).exists():
                (tmp_path / "packages" / name).symlink_to(place / name)
    (tmp_path / "temporary").mkdir(exist_ok=True)
    env = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "TMPDIR": str(tmp_path / "temporary")}
    env |= {"WORKBENCH_CC": cc} if cc else {}
    begin = f"import sys; sys.path = [p for p in sys.path if 'site-packages' not in p] + [{str(tmp_path / 'packages')!r}]\n"
    done = subprocess.run([sys.executable, "-c", begin + code], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


WIDE_ELSEWHERE = f"""
import numpy as np, workbench as wb
wb.set_tier("wide")
m = wb.compile('''{SCALE}''')
x = np.linspace(-3, 3, 1001).astype(np.float32)
y = np.full_like(x, 77)
m.scale[4, 256](x, y, 1.0, 1001)
assert np.allclose(y, np.exp(x.astype(np.float64)), rtol=1e-6), y
print(m.scale.tier)
"""


@wide_only
def test_a_package_brings_a_compiler(tmp_path):
    # On a machine without one, and nothing is left behind.
    assert run_elsewhere(tmp_path, WIDE_ELSEWHERE) == "wide\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bin", "packages", "temporary"]
    assert not list((tmp_path / "temporary").iterdir())


@wide_only
def test_without_any_compiler_it_is_said_how_to_get_one(tmp_path):
    code = "import workbench as wb\ntry: wb.set_tier('wide')\nexcept wb.ArgumentError as e: print(e)"
    said = run_elsewhere(tmp_path, code, packages=("workbench", "numpy", "numpy.libs", "ml_dtypes"))
    assert "there is no C compiler" in said and "`ziglang`" in said


@wide_only
def test_a_compiler_is_named_with_its_first_arguments(tmp_path):
    import importlib.util

    zig = importlib.util.find_spec("ziglang").submodule_search_locations[0] + "/zig"
    packages = ("workbench", "numpy", "numpy.libs", "ml_dtypes")
    assert run_elsewhere(tmp_path, WIDE_ELSEWHERE, f"{zig} cc", packages) == "wide\n"


def test_code_that_knows_its_scalars_takes_the_place_of_what_does_not(tier):
    tier("auto")
    kernel = compiled(STEERED.replace("taps", "late_taps"), "late_taps")
    n = 1 << 18
    x, y = np.ones(n + 40, np.int32), np.zeros(n, np.int32)

    def launches(k):
        run = lambda: kernel[n // 256, 256](x, y, n, k, 0, False, 0)  # noqa: E731
        wb.do_bench(run, warmup=60, rep=10)
        wb.do_bench(run, warmup=1, rep=1)
        return kernel.tier

    best = "wide" if HAS_WIDE else "lanes"
    assert launches(40) == best
    kernel[n // 256, 256](x, y, n, 3, 0, False, 0)
    # Code that is not made for these scalars runs meanwhile.
    assert kernel.tier == best
    assert launches(3) == best
    # x is 1 everywhere: s = ((3 s + 2) 3 + 0), three times over.
    s = 0
    for _ in range(3):
        for b in (2, 0):
            s = s * 3 + b
    assert (y == s).all()


def test_without_a_compiler_a_hot_kernel_has_lanes(tmp_path):
    code = f"""
import numpy as np, workbench as wb
kernel = wb.compile('''{SCALE}''').scale
n = 1 << 20
x, y = np.linspace(-3, 3, n).astype(np.float32), np.zeros(n, np.float32)
run = lambda: kernel[n // 256, 256](x, y, 1.0, n)
run()
first, soon = kernel.tier, y.copy()
wb.do_bench(run, warmup=60, rep=10)
wb.do_bench(run, warmup=1, rep=1)
assert (y == soon).all()
print(first in ("soon", "good"), kernel.tier)
"""
    assert run_elsewhere(tmp_path, code, "/no/such/cc") == "True lanes\n"


@wide_only
def test_a_compiler_that_is_none_is_told(tmp_path):
    code = "import workbench as wb\ntry: wb.set_tier('wide')\nexcept wb.ArgumentError as e: print(e)"
    assert "`WORKBENCH_CC` names no compiler" in run_elsewhere(tmp_path, code, "/no/such/cc")


def script(tmp_path, text):
    """A compiler that is none."""
    path = tmp_path / "compiler"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


PREPARED = f"""
import os, signal, threading, time
import numpy as np, workbench as wb
x = np.linspace(-3, 3, 1 << 20).astype(np.float32)
y = np.full_like(x, 77)
def run(tier):
    wb.set_tier(tier)
    kernel = wb.compile("// " + str(time.perf_counter_ns()) + '''
{SCALE}''').scale
    kernel[4096, 256](x, y, 1.0, x.size)
    return kernel
"""

#: Its number is noted, and it does not end.
ENDLESS = "echo $$ >> {}/ids\n/bin/sleep 1000"


def assert_gone(tmp_path):
    """That nothing is left of the compilers that noted their numbers."""
    from pathlib import Path

    noted = tmp_path / "ids"
    # On a busy machine the end may come before a compiler has begun.
    ids = noted.read_text().split() if noted.exists() else []
    states = [Path(f"/proc/{number}/stat") for number in ids]
    # One that nobody has waited for is dead all the same.
    assert not [s for s in states if s.exists() and s.read_text().rsplit(")")[-1].split()[0] != "Z"]
    assert not list((tmp_path / "temporary").iterdir())


@wide_only
def test_a_compiler_that_does_not_end_can_be_interrupted(tmp_path):
    code = PREPARED + """
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    run("wide")
except KeyboardInterrupt:
    print(time.monotonic() - began < 10, (y == 77).all())
run("good")
print(np.allclose(y, np.exp(x), rtol=1e-5))
"""
    assert run_elsewhere(tmp_path, code, script(tmp_path, ENDLESS.format(tmp_path))).split() == ["True", "True", "True"]
    assert_gone(tmp_path)


@wide_only
def test_what_a_compiler_leaves_running_is_not_waited_for(tmp_path):
    code = PREPARED + """
began = time.monotonic()
kernel = run("wide")
print(time.monotonic() - began < 10, kernel.tier, np.allclose(y, np.exp(x), rtol=1e-5))
try: kernel.c_source(256)
except wb.ArgumentError as e: print(e)
"""
    said = run_elsewhere(tmp_path, code, script(tmp_path, "/bin/sleep 20 &\nexit 3"))
    assert said.startswith("True good True") and "(exit status: 3): it said nothing" in said and "compiler" in said


@wide_only
def test_nothing_is_left_when_the_process_ends_meanwhile(tmp_path):
    code = PREPARED + f"""
kernel = run("auto")
began = time.monotonic()
while not os.path.exists({str(tmp_path / "ids")!r}) and time.monotonic() - began < 30:
    kernel[4096, 256](x, y, 1.0, x.size)
time.sleep(0.2)
print(len(os.listdir({str(tmp_path / "temporary")!r})))
"""
    assert run_elsewhere(tmp_path, code, script(tmp_path, ENDLESS.format(tmp_path))) == "1\n"
    assert_gone(tmp_path)


@wide_only
@pytest.mark.parametrize("compiler", [ENDLESS, "exit 3"], ids=["endless", "failing"])
def test_lanes_run_until_the_compiler_is_done(tmp_path, compiler):
    code = PREPARED + """
kernel = run("auto")
soon, y[:] = y.copy(), 0
began = time.monotonic()
while kernel.tier != "lanes" and time.monotonic() - began < 60:
    kernel[4096, 256](x, y, 1.0, x.size)
# No compiler has anything to do with it.
time.sleep(0.3)
kernel[4096, 256](x, y, 1.0, x.size)
print(kernel.tier, (y == soon).all())
"""
    assert run_elsewhere(tmp_path, code, script(tmp_path, compiler.format(tmp_path))) == "lanes True\n"


@wide_only
def test_folders_of_processes_that_were_killed_are_swept(tmp_path):
    import os

    temporary, own = tmp_path / "temporary", f"workbench-{os.getpid()}-0"
    for name in ("workbench-999999999-0", "workbench-999999998-0", own):
        (temporary / name).mkdir(parents=True)
        (temporary / name / "kernel.c").write_text("")
    for name in ("workbench-999999999-0", own):
        os.utime(temporary / name, (0, 0))
    assert run_elsewhere(tmp_path, WIDE_ELSEWHERE) == "wide\n"
    # The old one of nobody alone.
    assert sorted(p.name for p in temporary.iterdir()) == sorted(["workbench-999999998-0", own])


@wide_only
def test_a_launch_that_waits_for_its_code_meets_its_limit(tmp_path):
    code = PREPARED + f"""
wb.set_tier("wide")
scale = wb.compile('''{SCALE}''').scale
try: scale.launch(4096, 256, (x, y, 1.0, x.size), timeout=0.02)
except wb.KernelTimeout as e: print("still being compiled" in str(e), "<kernel>:1:" in str(e), (y == 77).all())
"""
    # The compiler never ends, so that the limit alone ends the launch.
    assert run_elsewhere(tmp_path, code, script(tmp_path, ENDLESS.format(tmp_path))) == "True True True\n"
    assert_gone(tmp_path)


@wide_only
def test_a_launch_after_one_that_met_its_limit_waits_for_its_code(tier):
    tier("wide")
    scale = compiled(SCALE, "scale")
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(wb.KernelTimeout, match="still being compiled") as caught:
        scale.launch(2, 32, (x, y, 0.0, 64), timeout=0.02)
    assert "<kernel>:2:" in str(caught.value) and not y.any()
    scale[2, 32](x, y, 0.0, 64)
    assert scale.tier == "wide" and (y == 1).all()


@wide_only
def test_code_that_was_late_is_made_meanwhile(tier):
    tier("wide")
    scale = compiled(SCALE, "scale")
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    late = 0
    while not y.any():
        try:
            scale.launch(2, 32, (x, y, 0.0, 64), timeout=0.02)
        except wb.KernelTimeout:
            late += 1
            assert late < 1000
            time.sleep(0.05)
    assert late > 0 and scale.tier == "wide"
