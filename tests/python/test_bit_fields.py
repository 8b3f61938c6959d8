"""Bit-fields, packed structs, `#pragma pack` and alignments: where members lie, and what is read and written there."""

import ctypes
import random
import re
import shutil
import subprocess

import numpy as np
import pytest
import workbench as wb

INTS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long long", "unsigned long long", "bool"]
BITS = {"char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32, "long long": 64, "unsigned long long": 64, "bool": 1}


def a_struct(rng, name, known):
    """A random struct, and statements that write each of its members and add what is read again to `sum`."""
    lines, body, attribute, behind, pragma = [], [], "", "", None
    how = rng.randrange(8)
    if how == 0:
        attribute = " __attribute__((packed))"
    elif how == 1:
        behind = " __attribute__((__packed__))"
    elif how == 2:
        pragma = rng.choice([1, 2, 4, 8])
    elif how == 3:
        attribute = f" __attribute__((aligned({rng.choice([2, 8, 32])})))"
    elif how == 4:
        attribute = rng.choice([" __attribute__((packed, aligned(4)))", " __attribute__((aligned(8)))", " __attribute__((packed))"])
        pragma = rng.choice([1, 2, 4, 16])
    packed = how < 3 or how == 4
    key = "union" if rng.random() < 0.1 else "struct"
    for i in range(rng.randint(1, 9)):
        kind = rng.random()
        value = rng.randrange(-(2**40), 2**40)
        # Fields of more than 57 bits may lie in nine bytes where they are packed, which is refused.
        if kind < 0.55:
            ty = rng.choice(INTS)
            most = min(BITS[ty], 57 if packed else 64)
            if lines and rng.random() < 0.12:
                lines.append(f"{ty} : {rng.choice([0, rng.randint(1, most)])};")
                continue
            lines.append(f"{ty} f{i} : {rng.randint(1, most)};")
        elif kind < 0.85:
            # A `bool` that shares its byte may read what no `bool` is.
            ty = rng.choice([*(INTS if key == "struct" else INTS[:-1]), "float", "double"])
            asked = f" __attribute__((aligned({rng.choice([4, 16])})))" if rng.random() < 0.1 else ""
            own = " __attribute__((packed))" if not asked and rng.random() < 0.1 else ""
            lines.append(f"{ty} f{i}{asked}{own};")
        elif kind < 0.93 or not known:
            ty = rng.choice(["char", "short", "int", "float"])
            lines.append(f"{ty} f{i}[3];")
            body += [f"s.f{i}[{j}] = ({ty}){value + j}; sum += s.f{i}[{j}];" for j in (0, 2)]
            continue
        else:
            inner = rng.choice(known)
            lines.append(f"{inner} f{i};")
            body.append(f"{inner} in{i}; fill_{inner}(in{i}, sum); s.f{i} = in{i}; {inner} out{i} = s.f{i}; add_{inner}(out{i}, sum);")
            continue
        body.append(f"s.f{i} = ({ty}){value}; sum += s.f{i};")
        if ty not in ("bool", "float", "double"):
            body.append(f"s.f{i} += 5; sum += s.f{i}++; sum += --s.f{i}; sum += (s.f{i} ^= 9); sum += s.f{i} - 100 < 0 ? 3 : 4;")
    fields = " ".join(lines)
    text = f"{key}{attribute} {name} {{ {fields} }}{behind};"
    if pragma:
        text = f"#pragma pack(push, {pragma})\n{text}\n#pragma pack(pop)"
    names = re.findall(r"\b(f\d+)\b(?! *\[)(?: __attribute__\S*)?(?: __attribute__\(\(\w+\)\))?(?: : \d+)?;", fields)
    simple = [n for n in names if not re.search(rf"S\d+ {n};", fields)]
    adds = " ".join(f"sum += s.{n};" for n in simple)
    text += f"\n__host__ __device__ void fill_{name}({name}& s, double& sum) {{ memset(&s, 0, sizeof(s)); {' '.join(body)} }}"
    text += f"\n__host__ __device__ void add_{name}(const {name}& s, double& sum) {{ {adds} }}"
    text += f"""
__global__ void run_{name}(unsigned char* bytes, double* sums) {{
  double sum = 0;
  {name} s, t[3];
  fill_{name}(s, sum);
  t[1] = s;
  add_{name}(t[1], sum);
  memcpy(bytes, &s, sizeof(s));
  sums[0] = sum; sums[1] = sizeof({name}); sums[2] = alignof({name}); sums[3] = sizeof(t);
}}"""
    return text


def random_texts(seed, count):
    rng = random.Random(seed)
    known, out = [], []
    for i in range(count):
        out.append(a_struct(rng, f"S{i}", known))
        known.append(f"S{i}")
    return "\n".join(out)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("seed", range(4))
def test_random_structs_are_those_of_gcc(seed, tmp_path):
    count = 40
    text = random_texts(seed, count)
    source = tmp_path / "structs.cpp"
    source.write_text("#include <cstring>\n#define __host__\n#define __device__\n#define __global__ extern \"C\"\n" + text)
    built = subprocess.run(
        ["g++", "-O0", "-w", "-fwrapv", "-shared", "-fPIC", "-o", tmp_path / "structs.so", source], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr[:3000]
    theirs = ctypes.CDLL(str(tmp_path / "structs.so"))
    ours = wb.compile(text)
    for i in range(count):
        bytes_, sums = np.zeros(1024, np.uint8), np.zeros(4)
        expected, expected_sums = bytes_.copy(), sums.copy()
        getattr(theirs, f"run_S{i}")(expected.ctypes.data_as(ctypes.c_void_p), expected_sums.ctypes.data_as(ctypes.c_void_p))
        ours[f"run_S{i}"][1, 1](bytes_, sums)
        about = re.search(rf"^.*\bS{i} \{{.*$", text, re.M).group()
        assert np.array_equal(sums, expected_sums, equal_nan=True), about
        assert bytes_.tobytes() == expected.tobytes(), about


def run(body, before="", n=8):
    """The value that a kernel of one thread writes to `y`."""
    y = np.full(n, -1.0)
    wb.compile(f"{before}\n__global__ void k(double* y) {{ {body} }}").k[1, 1](y)
    return y.tolist()


FLAGS = "struct Flags { unsigned low : 3; int mid : 5; bool on : 1; unsigned long long wide : 40; };"


@pytest.mark.parametrize(
    "body, before, expected",
    [
        # An unsigned bit-field narrower than `int` is one in arithmetic ([conv.prom]).
        ("Flags f = {2, -3, true, 1ull << 39}; y[0] = f.low - 5 < 0; y[1] = -f.low; y[2] = f.mid; y[3] = f.on; y[4] = f.wide;", FLAGS, [1, -2, -3, 1, 2.0**39]),
        ("Flags f = {.mid = 7, .wide = 3}; y[0] = f.low; y[1] = f.mid; y[2] = f.on; y[3] = f.wide;", FLAGS, [0, 7, 0, 3]),
        # Bits that do not fit are cut off, and the rest is the value of the assignment.
        ("Flags f{}; y[0] = (f.low = 9); y[1] = f.low++; y[2] = ++f.mid; f.mid = 15; y[3] = ++f.mid; y[4] = f.mid--; y[5] = f.mid;", FLAGS, [1, 1, 1, -16, -16, 15]),
        ("Flags f{}; f.low = f.mid = -1; y[0] = f.low; y[1] = f.mid; f.low -= 3; y[2] = f.low; f.low |= 8; y[3] = f.low; f.low <<= 1; y[4] = f.low;", FLAGS, [7, -1, 4, 4, 0]),
        ("Flags f{}; f.on = 6; f.on ^= true; y[0] = f.on; f.low = 5; auto a = f.low; a += 10; y[1] = a; y[2] = true ? f.low : -1;", FLAGS, [0, 15, 5]),
        ("Flags f{1, 2, true, 3}; Flags g = f; g.low = 6; f = g; y[0] = f.low; y[1] = f.mid; y[2] = f.wide;", FLAGS, [6, 2, 3]),
        ("Flags f{1}; y[0] = twice(f).low; y[1] = f.low; y[2] = (f.low == 1) + (f.low != 1u);", FLAGS + "__device__ Flags twice(Flags f) { f.low *= 2; return f; }", [2, 1, 1]),
        ("S s; y[0] = s.a; y[1] = s.b; S t(5); y[2] = t.a; y[3] = t.b; y[4] = sizeof(S);", "struct S { unsigned a : 4 = 9; int b : 4 {-2}; __device__ S() {} __device__ S(int x) : a(x), b(x + 8) {} };", [9, -2, 5, -3, 4]),
        ("S<5> s{31}; y[0] = s.a; s.a = 32; y[1] = s.a; S<W + 1> t{7}; y[2] = t.a;", "constexpr int W = 2; template <int N> struct S { unsigned a : N; };", [31, 0, 7]),
        ("S s{B, C}; y[0] = s.a == B; y[1] = s.b == K::C; s.b = K::A; y[2] = s.b == K::A; switch (s.a) { case A: y[3] = 1; break; case B: y[3] = 2; }", "enum E { A, B }; enum class K : unsigned char { A, B, C }; constexpr K C = K::C; struct S { E a : 2; K b : 3; };", [1, 1, 1, 2]),
        ("y[0] = T[1].a + 10 * T[1].b; y[1] = T[2].b; y[2] = one.a;", "struct S { unsigned a : 3; unsigned b : 9; }; __constant__ S T[3] = {{1, 300}, {7, 511}, {2, 256}}; __device__ const S one = {5, 1};", [5117, 256, 5]),
        ("y[0] = s.a; y[1] = s.b;", "struct S { int a : 7; int b : 7; }; constexpr S s = {-3, 60};", [-3, 60]),
        ("U u; u.all = 0; u.parts.b = 5; y[0] = u.all; u.all = 0xabcd1234; y[1] = u.parts.a; y[2] = u.parts.b; y[3] = u.parts.c;", "union U { unsigned all; struct { unsigned a : 8, b : 4, : 4, c : 16; } parts; };", [5 << 8, 0x34, 2, 0xABCD]),
        ("S s{}; s.a = 1; s.b = 2; s.c = 3; y[0] = sizeof(S); y[1] = s.a + s.b + s.c; unsigned char* p = (unsigned char*)&s; y[2] = p[4];", "struct S { unsigned a : 3; unsigned : 0; unsigned b : 3; unsigned char c; };", [8, 6, 2]),
        ("S s{}; auto [a, b] = s; y[0] = a; y[1] = b; s.a = 3; auto& [c, d] = s; c = 2; y[2] = s.a; y[3] = c + d;", "struct S { unsigned a : 3; int b; };", [0, 0, 2, 2]),
        ("S s{}; s.set(6); y[0] = s.get(); y[1] = max(s.a, 3u); y[2] = std::max<unsigned>(s.a, 7);", "#include <algorithm>\nstruct S { unsigned a : 3; __device__ void set(int x) { this->a = x; a += 1; } __device__ int get() const { return a; } };", [7, 7, 7]),
    ],
)
def test_bit_fields_in_a_kernel(body, before, expected):
    assert run(body, before)[: len(expected)] == expected


PACKED = "struct __attribute__((packed)) Atom { char kind; float x[2]; double mass; int* next; };"


@pytest.mark.parametrize(
    "body, before, expected",
    [
        ("Atom a = {1, {2, 3}, 4.5, nullptr}; y[0] = sizeof(Atom); y[1] = a.x[1]; y[2] = a.mass; y[3] = a.next == nullptr; int i = 1; a.x[i] += 10; y[4] = a.x[i];", PACKED, [25, 3, 4.5, 1, 13]),
        ("Atom a[3] = {}; a[1].mass = 7; a[1].x[0] = 8; a[2] = a[1]; y[0] = a[2].mass + a[2].x[0]; y[1] = a[0].mass; y[2] = fmax(a[2].mass, 9.0);", PACKED, [15, 0, 9]),
        ("Atom a{}; int v = 5; a.next = &v; *a.next += 1; y[0] = v; y[1] = a.next[0];", PACKED, [6, 6]),
        ("O o{}; o.in.b = 3; In i = o.in; i.b += 1; o.in = i; y[0] = o.in.b; y[1] = sizeof(O); In j[2]; j[1] = o.in; y[2] = j[1].b; O p = o; y[3] = p.in.b;", "struct In { char a; double b; }; struct O { char c; In in; } __attribute__((packed));", [4, 17, 4, 4]),
        ("O o = {1, {2, 3.5}}; y[0] = o.in.b + o.in.a; O q[2] = {{1, {4, 5.5}}, {2, {6, 7.5}}}; y[1] = q[1].in.b;", "struct In { char a; double b; }; struct O { char c; In in; } __attribute__((packed));", [5.5, 7.5]),
        ("y[0] = sizeof(A); y[1] = sizeof(B); y[2] = sizeof(C); y[3] = sizeof(D); y[4] = alignof(D);", "#pragma pack(push, 1)\nstruct A { char a; double b; };\n#pragma pack(push, 2)\nstruct B { char a; double b; };\n#pragma pack(pop)\nstruct C { char a; int b; };\n#pragma pack(pop)\nstruct D { char a; double b; };", [9, 10, 5, 16, 8]),
        ("y[0] = sizeof(A); y[1] = sizeof(B); y[2] = sizeof(C);", "#pragma pack(4)\nclass A { char a; double b; };\n#pragma pack()\nstruct B { char a; double b; };\n_Pragma(\"pack(1)\") struct C { char a; short b; };", [12, 16, 3]),
        ("y[0] = sizeof(P<double>); y[1] = sizeof(P<char>); y[2] = sizeof(E);", "#pragma pack(push, 1)\ntemplate <class T> struct P { char a; T b; };\nenum class E : int { A };\n#pragma pack(pop)", [9, 2, 4]),
        ("y[0] = sizeof(A); y[1] = alignof(A); y[2] = sizeof(B); y[3] = sizeof(C); C c; y[4] = (char*)&c.b - &c.a;", "struct __attribute__((aligned(16))) A { float x; }; struct B { float x; } __attribute__((aligned)); struct [[gnu::packed]] C { char a; int b; };", [16, 16, 16, 5, 1]),
        ("y[0] = sizeof(A); y[1] = sizeof(B);", "struct A { char a; double b __attribute__((packed)); int c; }; struct B { char a; float b __attribute__((aligned(8))); };", [16, 16]),
        ("const double& r = a.mass; y[0] = r; y[1] = twice(a.mass); y[2] = std::max(a.mass, 1.0);", "#include <algorithm>\nstruct __attribute__((packed)) Atom { char kind; double mass; };\n__device__ double twice(const double& x) { return x + x; }\n__device__ const Atom a = {1, 4};", [4, 8, 4]),
    ],
)
def test_packed_structs_in_a_kernel(body, before, expected):
    assert run(body, before)[: len(expected)] == expected


def test_packed_structs_are_numpys_records():
    kind = np.dtype([("kind", "i1"), ("x", "f4", 2), ("mass", "f8"), ("id", "u2")])
    text = """struct __attribute__((packed)) Atom { char kind; float x[2]; double mass; unsigned short id; };
    __global__ void move(Atom* a, float by, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { a[i].x[1] += by; a[i].mass *= 2; a[i].id = i; Atom b = a[i]; b.kind = 7; a[i] = b; }
    }"""
    atoms = np.zeros(1000, kind)
    atoms["x"] = np.arange(2000).reshape(-1, 2)
    atoms["mass"] = np.arange(1000) / 4
    module = wb.compile(text)
    for tier in ("soon", "good", "lanes", "wide"):
        moved = atoms.copy()
        before = wb.set_tier(tier)
        try:
            module.move[4, 256](moved, 0.5, 1000)
        finally:
            wb.set_tier(before)
        assert np.array_equal(moved["x"][:, 1], atoms["x"][:, 1] + np.float32(0.5)) and np.array_equal(moved["x"][:, 0], atoms["x"][:, 0])
        assert np.array_equal(moved["mass"], atoms["mass"] * 2) and np.array_equal(moved["id"], np.arange(1000)) and (moved["kind"] == 7).all()
    with pytest.raises(wb.ArgumentError, match="structs"):
        module.move[1, 1](np.zeros(3, np.dtype(kind.descr, align=True)), 0.5, 3)


def test_bit_fields_beside_one_another_and_a_neighbour_of_other_threads():
    # `b` shares the unit of `a`, and no byte: a write of `a` leaves it alone.
    text = """struct S { unsigned a : 11; unsigned char b; };
    __global__ void k(S* s) { if (threadIdx.x % 2) s[threadIdx.x / 2].a = threadIdx.x; else s[threadIdx.x / 2].b = threadIdx.x; }"""
    s = np.zeros(64, np.uint32)
    wb.compile(text).k[1, 128](s)
    i = np.arange(64)
    assert np.array_equal(s & 0x7FF, 2 * i + 1) and np.array_equal(s >> 16, 2 * i)


def test_structs_with_bit_fields_by_value():
    module = wb.compile(FLAGS + "__global__ void k(Flags f, double* y) { y[0] = f.low; y[1] = f.mid; y[2] = f.on; y[3] = f.wide; }")
    y = np.zeros(4)
    module.k[1, 1]({"low": 5, "mid": -16, "on": True, "wide": 2**40 - 1}, y)
    assert y.tolist() == [5, -16, 1, 2**40 - 1]
    for name, value, bits in (("low", 8, 3), ("mid", 16, 5), ("mid", -17, 5), ("wide", 2**40, 40)):
        with pytest.raises(wb.ArgumentError, match=f"`f.{name}` has {bits} bits, which {value} does not fit"):
            module.k[1, 1]({name: value}, y)
    with pytest.raises(wb.ArgumentError, match="`f` is a struct of 8 bytes"):
        module.k[1, 1](np.zeros(1), y)


@pytest.mark.parametrize(
    "text, message, place",
    [
        ("struct S { unsigned a : 3; };\n__global__ void k(S* s) { unsigned* p = &s->a; }", "a bit-field has no address", "&s->a"),
        ("struct S { unsigned a : 3; };\n__device__ void f(unsigned& x) {}\n__global__ void k(S* s) { f(s->a); }", "a reference cannot bind to a bit-field", "s->a"),
        ("struct S { unsigned a : 3; };\n__global__ void k(S* s) { unsigned& r = s->a; }", "a reference cannot bind to a bit-field", "s->a"),
        ("struct S { float a : 3; };\n__global__ void k(S* s) { }", "a bit-field is an integer, and `a` is `float`", "float"),
        ("struct S { unsigned char a : 9; };\n__global__ void k(S* s) { }", "up to 8 bits, not 9", "9"),
        ("struct S { int a : -1; };\n__global__ void k(S* s) { }", "up to 32 bits, not -1", "-1"),
        ("struct S { int a : 0; };\n__global__ void k(S* s) { }", "`a` has no bits", "0"),
        ("struct S { int a : x; };\n__global__ void k(S* s) { }", "unknown name `x`", "x"),
        ("#pragma pack(3)\nstruct S { int a; };", "takes 1, 2, 4, 8 or 16, not `3`", "#pragma pack(3)"),
        ("struct S { int a; } __attribute__((packed));\n__device__ void f(int& x) {}\n__global__ void k(S* s) { f(s->a); }", "a reference cannot bind to a member of a packed struct", "s->a"),
        ("enum __attribute__((packed)) E { A };\n__global__ void k(int* y) { y[0] = A; }", "`packed` is not supported here", "((packed))"),
    ],
)
def test_mistakes_with_bit_fields(text, message, place):
    with pytest.raises(wb.CompileError) as error:
        wb.compile(text)
    first = error.value.diagnostics[0]
    assert message in first.message
    line = text.split("\n")[first.line - 1]
    assert line[first.column - 1 :].startswith(place[:1]) and place in line


def test_a_pop_without_a_push_is_a_warning():
    module = wb.compile("#pragma pack(pop)\nstruct S { char a; int b; };\n__global__ void k(int* y) { y[0] = sizeof(S); }")
    assert "without a `#pragma pack(push)`" in str(module.warnings[0])
    y = np.zeros(1, np.int32)
    module.k[1, 1](y)
    assert y[0] == 8


@pytest.mark.parametrize(
    ("enum", "width", "value", "expected"),
    [
        # Without a fixed type and a negative constant there is no sign, in whatever is read and in what an assignment gives.
        ("enum E { A, B = 5 };", 3, "B", 5),
        ("enum E { R, G, B, Y };", 2, "Y", 3),
        ("enum E { N = 0, X = 128 };", 8, "X", 128),
        ("enum E { L = -1, H = 3 };", 3, "L", -1),
        ("enum E : int { A, B = 5 };", 3, "B", -3),
        ("enum class E { A, B = 5 };", 3, "E::B", -3),
        ("enum class E : unsigned { A, B = 5 };", 3, "E::B", 5),
    ],
)
def test_an_enums_sign_is_gccs(enum, width, value, expected, tmp_path):
    text = f"{enum} struct S {{ E e : {width}; }};\nint f() {{ S s{{}}; int given = (int)(s.e = {value}); return (int)s.e * 1000 + given; }}\n"
    assert wb.compile(text).f() == expected * 1001
    kernel = wb.compile(f"{enum} struct S {{ E e : {width}; }}; __global__ void k(int* y) {{ S s; s.e = {value}; *y = (int)s.e; }}")
    y = np.zeros(1, np.int32)
    kernel.k[1, 1](y)
    assert y[0] == expected
    if shutil.which("g++"):
        (tmp_path / "e.cpp").write_text(text + '#include <stdio.h>\nint main() { printf("%d", f()); }\n')
        subprocess.run(["g++", "-w", "e.cpp", "-o", "e"], cwd=tmp_path, check=True)
        assert int(subprocess.check_output([tmp_path / "e"])) == expected * 1001
