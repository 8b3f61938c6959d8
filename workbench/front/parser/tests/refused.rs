//! Constructs that are read and refused: each once, in place, and the rest still examined.

use super::*;

#[test]
fn unsupported_constructs_are_named_once_and_skipped_whole() {
    let rest = "__global__ void k(int n) { n = 1; }";
    let mut wrong = Vec::new();
    for (text, expected) in [
        ("struct S { S() try { int x; } catch (...) { } int y; };", "1:16 a `try` round"),
        ("void f() { goto end; }", "1:12 `goto`"),
        ("void f() { end: return; }", "1:12 labels"),
        ("void f() { asm volatile(\"x;\" : \"=r\"(1) : ); }", "1:12 inline PTX"),
        ("void f(int *p) { new (p) int; }", "1:22 placement `new`"),
        ("struct S { virtual void f(); };", "1:12 virtual functions"),
        ("struct S { virtual void f() = 0; };", "1:12 virtual functions"),
        ("struct A { }; struct S : virtual A { };", "1:26 virtual bases"),
        ("void f() { long double x; }", "1:12 `long double`"),
        ("auto [a, b] = 1;", "1:1 structured bindings outside"),
        ("void f(int S::*p) { }", "1:12 pointers to members"),
        ("struct S { int x; }; void f(S s, int p) { s.*p; }", "1:44 pointers to members"),
        ("float operator\"\" _f(double x) { return x; }", "1:15 literals with operators"),
        ("struct S { }; void f(S s) { s.~S(); }", "1:31 a destructor cannot"),
        ("template <typename T> concept C = requires(T a) { a + a; };", "1:35 `requires` with requirements"),
        ("template <> requires true void f(int x) { }", "1:13 `requires` on what is no template"),
        ("void f() { template <int N> struct S { }; }", "1:12 templates inside"),
        ("template int x<3>;", "1:1 explicit instantiations of variables"),
        ("void f(int n, ...) { }", "1:15 C variadic"),
        ("void f() { int x[2] = {[0] = 1}; }", "1:24 initializers by index"),
        ("void f(int n) { switch (n) { case 1 ... 3: ; } }", "1:37 ranges of cases"),
        ("void f() { typeid(int); }", "1:12 run-time type"),
        ("thread_local int x;", "1:1 `thread_local`"),
    ] {
        let whole = format!("{text}\n{rest}");
        let parsed = parse_text(&whole);
        let right = parsed.diags.len() == 1 && parsed.diags[0].starts_with(&format!("WB0401 cell:{expected}"));
        let last = parsed.unit.items.last();
        if !right || !matches!(last, Some(Item::Function(f)) if f.specs.global) {
            wrong.push(format!("{text}\n  gives {:#?}", parsed.diags));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_skipped_declarations_are_remembered() {
    let parsed = parse_text("void f() { int y = ; g(y); }\nvoid h() { goto end; }");
    let mut names: Vec<&str> = parsed.unit.skipped.iter().map(|&s| parsed.interner.name(s)).collect();
    names.sort_unstable();
    assert_eq!(names, ["y"]);
    assert_eq!(parsed.diags.len(), 2);
}
