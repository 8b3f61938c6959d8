//! Tests of the reader on small crates.

use std::collections::BTreeMap;

use super::file::File;
use super::graph::{self, Arrows};
use super::modules::{Crate, Texts};

/// Files of a crate by their paths.
struct Table(BTreeMap<&'static str, &'static str>);

impl Texts for Table {
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|t| (*t).to_owned())
    }
}

/// The names that the files of a crate take from one another: file:line, file, name.
fn arrows(files: &[(&'static str, &'static str)]) -> Vec<String> {
    let whole = Crate::read(&Table(files.iter().copied().collect()), "lib.rs").expect("a crate");
    let path = |file: usize| &whole.files[file].path;
    let mark = |on: bool| if on { " on" } else { "" };
    let all = whole.arrows.iter();
    all.map(|a| format!("{}:{} {} {}{}", path(a.from), a.line, path(a.to), a.name, mark(a.handed_on))).collect()
}

const LIB: (&str, &str) = ("lib.rs", "mod a;\nmod b;\n");
const B: (&str, &str) = ("b.rs", "pub struct One; pub struct Two; pub fn three() {}\n");

#[test]
fn groups_and_renames_are_read() {
    let found =
        arrows(&[LIB, B, ("a.rs", "use crate::{b::{self, One, Two as Other}};\nfn f(_: Other) { b::three() }\n")]);
    assert_eq!(found, ["a.rs:1 b.rs One", "a.rs:1 b.rs Two", "a.rs:2 b.rs three"]);
}

#[test]
fn a_module_that_is_imported_counts_by_what_is_taken_from_it() {
    assert_eq!(arrows(&[LIB, B, ("a.rs", "use crate::b;\nfn f() { b::three() }\n")]), ["a.rs:2 b.rs three"]);
    assert_eq!(arrows(&[LIB, B, ("a.rs", "use crate::b;\n")]), ["a.rs:1 b.rs (module)"]);
}

#[test]
fn globs_count_by_the_names_that_come_by_them() {
    let found = arrows(&[LIB, B, ("a.rs", "use crate::b::*;\nfn f(x: One) { three(); let two = x; }\n")]);
    assert_eq!(found, ["a.rs:2 b.rs One", "a.rs:2 b.rs three"]);
    assert_eq!(arrows(&[LIB, B, ("a.rs", "use crate::b::*;\n")]), ["a.rs:1 b.rs (module)"]);
}

#[test]
fn code_of_tests_is_left_out_wherever_it_stands() {
    let text = "#[cfg(test)]\nmod tests;\n#[cfg(all(test, unix))]\nuse crate::b::Two;\n\
                #[cfg(not(test))]\nfn f() { crate::b::three() }\n#[cfg(any(test, unix))]\nfn g(_: crate::b::One) {}\n\
                #[test]\nfn h() {\n let _ = crate::b::Two;\n}\n";
    let found = arrows(&[LIB, B, ("a.rs", text), ("a/tests.rs", "use crate::b::Two;")]);
    assert_eq!(found, ["a.rs:8 b.rs One", "a.rs:6 b.rs three"]);
    let file = File::read(text).expect("Rust");
    let test: Vec<usize> = (1..=12).filter(|l| file.is_test(*l)).collect();
    assert_eq!(test, [1, 2, 3, 4, 9, 10, 11, 12]);
}

#[test]
fn paths_upward_are_carried_out() {
    let files = [
        LIB,
        B,
        ("a.rs", "mod c;\npub struct Here;\n"),
        (
            "a/c.rs",
            "use super::super::b::One;\nmod d { fn f(_: super::super::Here) {} }\nfn g() { super::super::b::three() }\n",
        ),
    ];
    assert_eq!(arrows(&files), ["a/c.rs:2 a.rs Here", "a/c.rs:1 b.rs One", "a/c.rs:3 b.rs three"]);
}

#[test]
fn names_handed_on_are_followed_to_where_they_are_defined() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("a.rs", "use crate::c::Last;\nfn f() { crate::c::also::g() }\n"),
        ("b.rs", "pub struct First;\npub fn g() {}\n"),
        ("c.rs", "pub use crate::b::First as Last;\npub use crate::b as also;\n"),
    ];
    let found = arrows(&files);
    assert_eq!(found, ["a.rs:1 b.rs First", "a.rs:2 b.rs g", "c.rs:2 b.rs (module) on", "c.rs:1 b.rs First on"]);
}

#[test]
fn circles_of_imports_end() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "pub use crate::b::*;\nfn f(_: Nothing) {}\n"),
        ("b.rs", "pub use crate::a::*;\npub use crate::a::Lost;\n"),
    ];
    let found = arrows(&files);
    assert_eq!(found, ["a.rs:1 b.rs (module) on", "b.rs:1 a.rs (module) on", "b.rs:2 a.rs Lost on"]);
}

#[test]
fn other_crates_are_no_files() {
    let files = [
        LIB,
        ("b.rs", "use other::Thing;\n"),
        ("a.rs", "use crate::b::Thing;\nuse std::fmt;\nfn f(_: fmt::Error) {}\n"),
    ];
    assert!(arrows(&files).is_empty());
}

#[test]
fn tokens_of_macros_are_read() {
    let text = "use crate::b::*;\nmacro_rules! m { ($x:expr) => { $crate::b::three($x.crate_::b) }; }\n\
                fn f() { println!(\"{}\", [crate::b::One, x.Two, three()]) }\n";
    assert_eq!(arrows(&[LIB, B, ("a.rs", text)]), ["a.rs:3 b.rs One", "a.rs:2 b.rs three"]);
}

#[test]
fn what_a_macro_defines_counts_as_its_modules() {
    let files = [LIB, ("b.rs", "make!(Made);\n"), ("a.rs", "use crate::b::Made;\n")];
    assert_eq!(arrows(&files), ["a.rs:1 b.rs Made"]);
}

#[test]
fn functions_have_lengths() {
    let text = "impl T {\n    fn a() {\n    }\n}\nfn b() {}\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
    let file = File::read(text).expect("Rust");
    let found: Vec<String> = file.functions.iter().map(|f| format!("{}:{}:{}", f.name, f.line, f.lines)).collect();
    assert_eq!(found, ["T::a:2:2", "b:5:1"]);
}

#[test]
fn circles_and_floors_of_a_graph() {
    let arrows: Arrows = [((0, 1), 5), ((1, 2), 5), ((2, 0), 1), ((3, 0), 1)].into();
    assert_eq!(graph::circles(4, &arrows), [vec![0, 1, 2]]);
    let order = graph::order(4, &arrows);
    assert_eq!(order, [2, 1, 0, 3]);
    assert_eq!(graph::floors(&order, &arrows), [2, 1, 0, 3]);
}
