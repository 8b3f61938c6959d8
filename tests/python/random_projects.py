"""Random projects of several source files: whatever C++ lets two files say of one name, in every order. g++ builds and links them beside us;
what it refuses to link must be refused here, and everything else must give the same numbers.

    python tests/python/random_projects.py FIRST COUNT      # compares so many projects, from a seed on
"""

from __future__ import annotations

import pathlib
import random
import subprocess
import sys
import tempfile

#: What g++ reads in front of each file: kernels are loops over their threads, and what is the device's belongs to its file, as in whole-program
#: compilation (CUDA's compiler driver manual, "Separate Compilation").
SHIM = """#pragma once
#include <string.h>
extern int IDX;
#define __global__
#define __device__ static
#define __constant__ static
#define LAUNCH(k, n, ...) for (IDX = 0; IDX < n; ++IDX) k(__VA_ARGS__)
#define cudaMemcpyFromSymbol(to, from, n) memcpy(to, from, n)
"""
OURS = """#pragma once
#define LAUNCH(k, n, ...) k<<<1, n>>>(__VA_ARGS__)
#define IDX ((int)threadIdx.x)
"""
THREADS = 8


class Project:
    """Source files by name, and the calls to make."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.count = rng.randint(2, 5)
        self.header = ["#pragma once"]
        self.heads: list[list[str]] = [[] for _ in range(self.count)]
        self.bodies: list[list[str]] = [[] for _ in range(self.count)]
        # Terms that an entry adds up; each is an expression of `x`.
        self.terms: list[list[str]] = [["x"] for _ in range(self.count)]
        kinds = [
            self.private_function, self.private_chain, self.anonymous, self.constant, self.macro, self.external_function,
            self.external_variable, self.inline_counter, self.inline_variable, self.template, self.own_type, self.shared_type,
            self.methods, self.namespaces, self.overloads, self.instantiation, self.pointers, self.kernel, self.device_data, self.enum,
            self.extern_c, self.external_constant, self.kept, self.shared_header_template,
        ]
        for number in range(rng.randint(3, 9)):
            rng.choice(kinds)(number)
        # One project in nine breaks the rules, so that it must not link.
        if rng.random() < 1 / 9:
            rng.choice([self.two_definitions, self.no_definition, self.two_variables, self.two_kernels, self.no_variable])(99)

    def number(self) -> int:
        return self.rng.randint(1, 99)

    def some(self, least: int = 2) -> list[int]:
        """Some of the files."""
        return self.rng.sample(range(self.count), self.rng.randint(min(least, self.count), self.count))

    def two(self) -> tuple[int, int]:
        """Two different files."""
        a, b = self.rng.sample(range(self.count), 2)
        return a, b

    # Names that files keep to themselves.

    def private_function(self, n: int) -> None:
        for i in self.some():
            how = self.rng.choice(["static unsigned", "static inline unsigned"])
            self.heads[i].append(f"{how} own{n}(unsigned x) {{ return x * {self.number()}u + {self.number()}u; }}")
            self.terms[i].append(f"own{n}(x)")

    def private_chain(self, n: int) -> None:
        # The second function is the same text everywhere; what it calls is not.
        for i in self.some():
            self.heads[i].append(f"static unsigned inner{n}(unsigned x) {{ return x ^ {self.number()}u; }}")
            self.heads[i].append(f"static unsigned outer{n}(unsigned x) {{ return inner{n}(x) + 1; }}")
            self.terms[i].append(f"outer{n}(x)")

    def anonymous(self, n: int) -> None:
        for i in self.some():
            fields = self.rng.choice([("unsigned a", "a"), ("unsigned char b; unsigned a", "a"), ("unsigned a[3]", "a[1]")])
            self.heads[i].append(
                f"namespace {{ struct Own{n} {{ {fields[0]}; unsigned get(unsigned x) {{ {fields[1]} = x + {self.number()}; return "
                f"{fields[1]} * 2; }} }}; unsigned hidden{n} = {self.number()}; unsigned use{n}(unsigned x) {{ Own{n} o; hidden{n}++; return o.get(x) + hidden{n}; }} }}"
            )
            self.terms[i].append(f"use{n}(x)")

    def constant(self, n: int) -> None:
        for i in self.some():
            how = self.rng.choice(["const int", "constexpr int", "static const int", "static constexpr unsigned", "const unsigned"])
            self.heads[i].append(f"{how} SIZE{n} = {self.number()};")
            self.heads[i].append(f"static unsigned blocks{n}(unsigned x) {{ return (x + SIZE{n} - 1) / SIZE{n}; }}")
            self.terms[i].append(f"blocks{n}(x)")
            if self.rng.random() < 0.5:
                self.heads[i].append(f"static const int table{n}[3] = {{ {self.number()}, {self.number()}, SIZE{n} }};")
                self.terms[i].append(f"table{n}[x % 3]")

    def macro(self, n: int) -> None:
        for i in self.some():
            if self.rng.random() < 0.8:
                self.heads[i].append(f"#define M{n}(x) ((x) * {self.number()}u)")
            self.heads[i].append(f"#ifndef M{n}\n#define M{n}(x) ((x) + 7u)\n#define PLAIN{n}\n#endif")
            self.heads[i].append(f"#ifdef PLAIN{n}\nstatic unsigned plain{n}() {{ return 1; }}\n#else\nstatic unsigned plain{n}() {{ return 2; }}\n#endif")
            self.terms[i].append(f"M{n}(x) + plain{n}()")

    def own_type(self, n: int) -> None:
        # A type of one name with members that differ, which no function passes on.
        for i in self.some():
            member = self.rng.choice(["float f", "double f", "short f", "unsigned f"])
            self.heads[i].append(f"namespace {{ struct Size{n} {{ {member}; int n; }}; }}")
            self.terms[i].append(f"(unsigned)sizeof(Size{n})")

    # Names that files share.

    def external_function(self, n: int) -> None:
        home = self.rng.randrange(self.count)
        self.bodies[home].append(f"unsigned shared{n}(unsigned x) {{ return x * {self.number()}u + {self.number()}u; }}")
        for i in self.some(1):
            self.heads[i].append(self.rng.choice(["unsigned shared{0}(unsigned);", "extern unsigned shared{0}(unsigned y);"]).format(n))
            self.terms[i].append(f"shared{n}(x)")

    def extern_c(self, n: int) -> None:
        home = self.rng.randrange(self.count)
        self.bodies[home].append(f'extern "C" unsigned plain_c{n}(unsigned x) {{ return x + {self.number()}u; }}')
        for i in self.some(1):
            self.heads[i].append(f'extern "C" unsigned plain_c{n}(unsigned x);')
            self.terms[i].append(f"plain_c{n}(x)")

    def external_variable(self, n: int) -> None:
        home = self.rng.randrange(self.count)
        kind = self.rng.choice(["unsigned count{0} = {1};", "unsigned count{0};", "unsigned count{0}[4] = {{ {1}, 2 }};"])
        array = "[4]" in kind
        self.bodies[home].append(kind.format(n, self.number()))
        for i in self.some(1):
            self.heads[i].append(f"extern unsigned count{n}{'[4]' if array else ''};")
            self.terms[i].append(f"count{n}[x % 4]++" if array else f"(count{n} += {self.number()})")

    def external_constant(self, n: int) -> None:
        home = self.rng.randrange(self.count)
        self.heads[home].append(f"extern const unsigned limit{n};")
        self.bodies[home].append(f"const unsigned limit{n} = {self.number()};")
        for i in self.some(1):
            self.heads[i].append(f"extern const unsigned limit{n};")
            self.terms[i].append(f"limit{n}")

    def inline_counter(self, n: int) -> None:
        self.header.append(f"inline unsigned next{n}() {{ static unsigned calls = {self.number()}; return calls++; }}")
        for i in self.some():
            self.terms[i].append(f"next{n}()")

    def kept(self, n: int) -> None:
        # A static function keeps its own variables, even where the text is the same.
        first = self.number()
        for i in self.some():
            self.heads[i].append(f"static unsigned count_calls{n}() {{ static unsigned calls = {first}; return calls++; }}")
            self.terms[i].append(f"count_calls{n}()")

    def inline_variable(self, n: int) -> None:
        self.header.append(f"inline unsigned state{n} = {self.number()};")
        for i in self.some():
            self.terms[i].append(f"(state{n} += {self.number()})")

    def template(self, n: int) -> None:
        self.header.append(f"template <typename T> T twice{n}(T x) {{ static T last = 1; last += x; return last * 2; }}")
        for i in self.some():
            ty = self.rng.choice(["unsigned", "unsigned long long", "unsigned char"])
            self.terms[i].append(f"(unsigned)twice{n}<{ty}>(({ty})x)")

    def shared_header_template(self, n: int) -> None:
        # An instance for a type that is each file's own.
        self.header.append(f"template <typename T> unsigned size_of{n}() {{ static unsigned calls = 0; return sizeof(T) * 100 + calls++; }}")
        for i in self.some():
            members = self.rng.randint(1, 4)
            self.heads[i].append(f"namespace {{ struct Local{n} {{ int a[{members}]; }}; }}")
            self.terms[i].append(f"size_of{n}<Local{n}>()")

    def shared_type(self, n: int) -> None:
        self.header.append(f"struct Pair{n} {{ unsigned a; unsigned char b; unsigned sum() const {{ return a + b; }} }};")
        home, user = self.two()
        how = self.rng.choice(["Pair{0}", "const Pair{0}&", "Pair{0}*"])
        self.header.append(f"unsigned take{n}({how.format(n)} p); Pair{n} give{n}(unsigned x);")
        dot = "->" if "*" in how else "."
        self.bodies[home].append(f"unsigned take{n}({how.format(n)} p) {{ return p{dot}sum() * 3; }}")
        self.bodies[home].append(f"Pair{n} give{n}(unsigned x) {{ Pair{n} p; p.a = x; p.b = {self.number()}; return p; }}")
        self.heads[user].append(f"static unsigned through{n}(unsigned x) {{ Pair{n} p = give{n}(x); return take{n}({'&p' if '*' in how else 'p'}); }}")
        self.terms[user].append(f"through{n}(x)")

    def methods(self, n: int) -> None:
        self.header.append(f"class Box{n} {{ public: Box{n}(unsigned x); unsigned get() const; void add(unsigned y); static unsigned made(); private: unsigned v; }};")
        home, user = self.two()
        self.bodies[home].append(
            f"Box{n}::Box{n}(unsigned x) : v(x + {self.number()}) {{}}\nunsigned Box{n}::get() const {{ return v; }}\n"
            f"void Box{n}::add(unsigned y) {{ v += y; }}\nunsigned Box{n}::made() {{ return {self.number()}; }}"
        )
        for i in {user, *self.some(1)}:
            self.heads[i].append(f"static unsigned box{n}(unsigned x) {{ Box{n} b(x); b.add(2); return b.get() + Box{n}::made(); }}")
            self.terms[i].append(f"box{n}(x)")

    def namespaces(self, n: int) -> None:
        home, user = self.two()
        self.header.append(f"namespace lib{n} {{ namespace detail {{ unsigned f(unsigned); }} unsigned f(unsigned); }}")
        self.bodies[home].append(f"namespace lib{n} {{ unsigned detail::f(unsigned x) {{ return x + {self.number()}; }} unsigned f(unsigned x) {{ return detail::f(x) * 2; }} }}")
        self.terms[user].append(f"lib{n}::f(x) + lib{n}::detail::f(x)")

    def overloads(self, n: int) -> None:
        homes = [self.rng.randrange(self.count) for _ in range(3)]
        types = ["unsigned", "unsigned char", "const unsigned*"]
        for home, ty in zip(homes, types):
            value = "*x" if "*" in ty else "x"
            self.header.append(f"unsigned over{n}({ty} x);")
            self.bodies[home].append(f"unsigned over{n}({ty} x) {{ return {value} + {self.number()}u; }}")
        for i in self.some(1):
            self.heads[i].append(f"static unsigned call_over{n}(unsigned x) {{ return over{n}(x) + over{n}((unsigned char)x) * 3 + over{n}(&x); }}")
            self.terms[i].append(f"call_over{n}(x)")

    def instantiation(self, n: int) -> None:
        home, user = self.two()
        self.header.append(f"template <typename T> T made{n}(T x); template <typename T> struct Made{n} {{ T v; T get(); }};")
        self.bodies[home].append(f"template <typename T> T made{n}(T x) {{ return x * {self.number()}; }}\ntemplate <typename T> T Made{n}<T>::get() {{ return v + {self.number()}; }}")
        self.bodies[home].append(f"template unsigned made{n}<unsigned>(unsigned);\ntemplate struct Made{n}<unsigned>;")
        self.heads[user].append(f"static unsigned use_made{n}(unsigned x) {{ Made{n}<unsigned> m; m.v = x; return made{n}(x) + m.get(); }}")
        self.terms[user].append(f"use_made{n}(x)")

    def pointers(self, n: int) -> None:
        home, user = self.two()
        self.header.append(f"typedef unsigned (*Fn{n})(unsigned); Fn{n} pick{n}(unsigned);")
        for i in (home, user):
            self.heads[i].append(f"static unsigned cand{n}(unsigned x) {{ return x + {self.number()}; }}")
        self.bodies[home].append(f"static unsigned other{n}(unsigned x) {{ return x * 3; }}\nFn{n} pick{n}(unsigned k) {{ return k % 2 ? cand{n} : other{n}; }}")
        self.heads[user].append(f"static unsigned call{n}(Fn{n} f, unsigned x) {{ return f(x); }}")
        self.terms[user].append(f"call{n}(pick{n}(x), x) + call{n}(cand{n}, x) + (pick{n}(1) == cand{n} ? 5u : 6u)")

    def enum(self, n: int) -> None:
        home, user = self.two()
        self.header.append(f"enum class Mode{n} {{ A = {self.number()}, B }}; unsigned mode{n}(Mode{n});")
        self.bodies[home].append(f"unsigned mode{n}(Mode{n} m) {{ return m == Mode{n}::B ? 3u : (unsigned)m; }}")
        self.terms[user].append(f"mode{n}(x % 2 ? Mode{n}::A : Mode{n}::B)")

    # Kernels.

    def kernel(self, n: int) -> None:
        home, user = self.two()
        for i in self.some():
            self.heads[i].append(f"__device__ unsigned scale{n}(unsigned x) {{ return x * {self.number()}u; }}")
            if i != home:
                self.use_device(i, n, f"scale{n}(x + IDX)", "a")
        if f"unsigned scale{n}(" not in "".join(self.heads[home]):
            self.heads[home].append(f"__device__ unsigned scale{n}(unsigned x) {{ return x + {self.number()}u; }}")
        self.header.append(f"unsigned fetch{n}();")
        self.bodies[home].append(f"__device__ unsigned out{n}[{THREADS}];\n__global__ void launched{n}(unsigned x) {{ out{n}[IDX] = scale{n}(x) + IDX; }}")
        self.bodies[home].append(f"unsigned fetch{n}() {{ unsigned h[{THREADS}], s = 0; cudaMemcpyFromSymbol(h, out{n}, sizeof h); for (int i = 0; i < {THREADS}; i++) s = s * 7 + h[i]; return s; }}")
        self.heads[user].append(f"__global__ void launched{n}(unsigned x);\nstatic unsigned run{n}(unsigned x) {{ LAUNCH(launched{n}, {THREADS}, x); return fetch{n}(); }}")
        self.terms[user].append(f"run{n}(x)")

    def device_data(self, n: int) -> None:
        for i in self.some():
            self.heads[i].append(f"__constant__ unsigned weights{n}[4] = {{ {self.number()}, {self.number()}, 3 }};")
            self.use_device(i, n, f"weights{n}[(x + IDX) % 4]", "b")

    def use_device(self, i: int, n: int, value: str, tag: str) -> None:
        """A kernel that its file alone knows writes a value for each thread into memory that its file alone knows."""
        self.heads[i].append(
            f"__device__ unsigned seen{tag}{n}[{THREADS}];\nstatic __global__ void fill{tag}{n}(unsigned x) {{ seen{tag}{n}[IDX] = {value}; }}\n"
            f"static unsigned look{tag}{n}(unsigned x) {{ LAUNCH(fill{tag}{n}, {THREADS}, x); unsigned h[{THREADS}], s = 0; "
            f"cudaMemcpyFromSymbol(h, seen{tag}{n}, sizeof h); for (int i = 0; i < {THREADS}; i++) s = s * 5 + h[i]; return s; }}"
        )
        self.terms[i].append(f"look{tag}{n}(x)")

    # Projects that do not link.

    def two_definitions(self, n: int) -> None:
        for i in self.two():
            self.bodies[i].append(f"unsigned twice_there{n}(unsigned x) {{ return x; }}")

    def two_variables(self, n: int) -> None:
        for i in self.two():
            self.bodies[i].append(f"unsigned both{n} = 1;")

    def two_kernels(self, n: int) -> None:
        for i in self.two():
            self.bodies[i].append(f"__global__ void both_launch{n}(unsigned x) {{ }}")

    def no_definition(self, n: int) -> None:
        i = self.rng.randrange(self.count)
        self.heads[i].append(f"unsigned nowhere{n}(unsigned);")
        other = self.two()[0]
        self.heads[other].append(f"static unsigned nowhere{n}(unsigned, int) {{ return 1; }}")
        self.terms[i].append(f"nowhere{n}(x)")

    def no_variable(self, n: int) -> None:
        i, other = self.two()
        self.heads[i].append(f"extern unsigned gone{n};")
        self.heads[other].append(f"static unsigned gone{n} = 1;")
        self.terms[other].append(f"gone{n}")
        self.terms[i].append(f"gone{n}")

    # The texts.

    def files(self) -> dict[str, str]:
        out = {"common.h": "\n".join(self.header) + "\n"}
        for i in range(self.count):
            # Order of evaluation is said, as terms change what they count with.
            steps = "".join(f" h = h * 31u + (unsigned)({term});" for term in self.terms[i])
            entry = f"unsigned entry{i}(unsigned x) {{ unsigned h = {i};{steps} return h; }}"
            body = self.bodies[i]
            self.rng.shuffle(body) if all("\n" not in b and "template" not in b for b in body) else None
            where = self.rng.random() < 0.5
            parts = ['#include "shim.h"\n#include "common.h"', *self.heads[i], *([entry, *body] if where else [*body, entry])]
            out[f"file{i}.cu"] = "\n".join(parts) + "\n"
        return out

    def calls(self) -> list[tuple[int, int]]:
        return [(self.rng.randrange(self.count), self.rng.randint(0, 50)) for _ in range(12)]


def by_compiler(project: Project, files: dict[str, str], calls: list[tuple[int, int]], folder: pathlib.Path) -> list[int] | None:
    """The output of g++'s program; None if it does not link. A text that does not compile is a mistake of this script."""
    main = "#include <stdio.h>\nint IDX;\n" + "".join(f"unsigned entry{i}(unsigned);\n" for i in range(project.count))
    main += "int main() {" + "".join(f' printf("%u\\n", entry{i}(({x}u)));' for i, x in calls) + " }\n"
    for name, text in {**files, "shim.h": SHIM, "main.cu": main}.items():
        (folder / name).write_text(text)
    units = [name for name in files if name.endswith(".cu")]
    objects = []
    for unit in [*units, "main.cu"]:
        command = ["g++", "-std=c++17", "-x", "c++", "-w", "-O0", "-c", unit, "-o", unit + ".o"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        objects.append(unit + ".o")
    linked = subprocess.run(["g++", *objects, "-o", "program"], cwd=folder, capture_output=True, text=True)
    if linked.returncode != 0:
        return None
    out = subprocess.run(["./program"], cwd=folder, check=True, capture_output=True, text=True, timeout=30).stdout
    return [int(line) for line in out.split()]


def by_workbench(files: dict[str, str], calls: list[tuple[int, int]], folder: pathlib.Path, order: list[int]) -> list[int] | None:
    """The output of our program; None if it is refused with an error about linking."""
    import workbench as wb

    (folder / "shim.h").write_text(OURS)
    units = [name for name in files if name.endswith(".cu")]
    try:
        module = wb.load("project", [str(folder / units[i]) for i in order])
    except wb.CompileError as error:
        text = str(error)
        if any(words in text for words in ("in two files", "has no body", "nothing defines it")):
            return None
        raise
    return [int(getattr(module, f"entry{i}")(x)) & 0xFFFFFFFF for i, x in calls]


def compare(seed: int) -> str:
    """The difference, or nothing."""
    project = Project(seed)
    files, calls = project.files(), project.calls()
    order = list(range(project.count))
    project.rng.shuffle(order)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected = by_compiler(project, files, calls, folder)
        got = by_workbench(files, calls, folder, order)
    return "" if expected == got else f"seed {seed}, files in order {order}: g++ gives {expected}, we give {got}"


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    wrong = 0
    for seed in range(first, first + count):
        try:
            found = compare(seed)
        except Exception as error:
            found = f"seed {seed}: {type(error).__name__}: {getattr(error, 'stderr', None) or error}"
        wrong += bool(found)
        if found:
            print(found, flush=True)
    print(f"{count} projects, {wrong} differ")
    sys.exit(wrong > 0)
