//! Tests of schemas, right and wrong ones. `tests/torch/test_schema.py` compares them with torch itself.

use super::{Default, Kind, Schema};

fn canonical(text: &str) -> Result<String, String> {
    Schema::parse(text).map(|s| s.to_string()).map_err(|e| e.to_string())
}

#[test]
fn canonical_schemas_print_as_they_are() {
    for text in [
        "lab::muladd(Tensor a, Tensor b, float c) -> Tensor",
        "lab::f(Tensor(a!) x, int[2] k=1, *, bool flag=False, str? s=None) -> Tensor(a!)",
        "ns::g.out(Tensor[] xs, Scalar alpha=1, ScalarType? dtype=None) -> (Tensor values, Tensor indices)",
        "ns::h(float eps=1e-05, str mode=\"mean\") -> ()",
        "ns::i() -> int",
        "ns::j(Tensor?[] xs, int[] d=[]) -> Tensor[]",
        "ns::k(Tensor! out, Tensor![] outs, Tensor x) -> ()",
        "ns::l(SymInt n, SymInt[] shape=[2, -3], SymInt? m=None, SymInt[2]? p=1) -> SymInt",
        "ns::m(Dict(str, Dict(int, t[]))(a!) d, str(b -> *) key, t(c -> *) other) -> t(*)",
        "ns::n((int, (float, Tensor?))[] pairs, Union(int, str) u, Any x) -> ((int, Tensor), Future(t1))",
        "ns::o(complex x=-2.5j, complex[] y=[1.0j, 2.0j], Scalar z=2.0j) -> complex",
        "ns::p(__torch__.torch.classes.lab.Bag bag, Generator(a!)? g=None) -> (__torch__.torch.classes.lab.Bag, ...)",
        "ns::q(Tensor(a|b -> *) x, Tensor(c)[](d!) y) -> ((Tensor))",
        "ns::r(Tensor x, ...) -> ...",
        "ns::s(Device d=\"cuda:0\", float[2] f=[0.5, 1.0], bool[3] b=[True, False, True]) -> Tensor out",
        "ns::t(Tensor x, *, bool(a!) y) -> (Tensor x, Tensor)",
    ] {
        assert_eq!(canonical(text), Ok(text.to_owned()));
    }
}

#[test]
fn what_may_be_written_otherwise_prints_canonically() {
    for (text, wanted) in [
        (" a :: b ( Tensor  x ) ->Tensor ", "a::b(Tensor x) -> Tensor"),
        ("a::f(Tensor x # the input\n  , int  y) -> (Tensor)", "a::f(Tensor x, int y) -> Tensor"),
        ("a::f(Tensor (b | a !) x, Tensor(c -> c) y) -> (Tensor z)", "a::f(Tensor(a|b!) x, Tensor(c) y) -> Tensor z"),
        ("a::f(int?? x, int[ 2 ] ? y, (Tensor(a), int) z) -> ()", "a::f(int? x, int[2]? y, (Tensor, int) z) -> ()"),
        ("a::f(Tensor x, *) -> ()", "a::f(Tensor x) -> ()"),
        (
            "a::f(int x= - 1, float y=.5, float z=-3e7, str s='a\"b') -> ()",
            "a::f(int x=-1, float y=0.5, float z=-30000000.0, str s=\"a\\\"b\") -> ()",
        ),
        // The numbers behind torch's names.
        (
            "a::f(int x=Mean, ScalarType y=long, ScalarType z=bfloat16, MemoryFormat m=contiguous_format) -> ()",
            "a::f(int x=1, ScalarType y=4, ScalarType z=15, MemoryFormat m=0) -> ()",
        ),
        ("a::f(None x, ConstQuantizerPtr y) -> ()", "a::f(NoneType x, int y) -> ()"),
    ] {
        assert_eq!(canonical(text), Ok(wanted.to_owned()), "{text}");
        assert_eq!(canonical(wanted), Ok(wanted.to_owned()));
    }
}

#[test]
fn types_and_annotations_are_told_apart() {
    let schema = Schema::parse("a::f(Tensor(a!)[]? x, Dict(str, SymInt)(b) y, (int, t)[2] z=None) -> ()");
    assert!(schema.is_err(), "None is no default of a list");
    let schema =
        Schema::parse("a::f(Tensor(a!)[]? x, Dict(str, SymInt)(b) y, (int, t)[2] z) -> ()").expect("it is right");
    let list = |kind| Kind::List(Box::new(kind), None);
    assert_eq!(schema.args[0].kind, Kind::Optional(Box::new(list(Kind::Tensor))));
    assert_eq!((schema.args[0].alias.as_deref(), schema.args[0].mutated), (Some("a"), true));
    assert_eq!(schema.args[1].kind, Kind::Generic("Dict".to_owned(), vec![Kind::Str, Kind::SymInt]));
    assert_eq!((schema.args[1].alias.as_deref(), schema.args[1].mutated), (Some("b"), false));
    let pair = Kind::Tuple(vec![Kind::Int, Kind::Named("t".to_owned())]);
    assert_eq!(schema.args[2].kind, Kind::List(Box::new(pair), Some(2)));
    let schema = Schema::parse("a::f(int[] x=[1, -2], int y=0) -> ()").expect("it is right");
    assert_eq!(schema.args[0].default, Some(Default::List(vec![Default::Int(1), Default::Int(-2)])));
}

#[test]
fn errors_point_into_the_schema() {
    for (text, column, part) in [
        ("muladd(Tensor a) -> Tensor", 6, "`::`"),
        ("lab::f(Tensr a) -> Tensor", 7, "`Tensr` is no type"),
        ("lab::f(tensor a) -> Tensor", 7, "`tensor` is no type"),
        ("lab::f(double a) -> Tensor", 7, "write `float`"),
        ("lab::f(string a) -> Tensor", 7, "write `str`"),
        ("lab::f(Tensor a, Tensor a) -> Tensor", 24, "two arguments `a`"),
        ("lab::f(Tensor a)", 16, "`->`"),
        ("lab::f(int a=1, Tensor b) -> Tensor", 16, "has no default"),
        ("lab::f(int a=1.5) -> Tensor", 11, "no default of `int a`"),
        ("lab::f(int a=None) -> Tensor", 11, "`int?` is one that may be None"),
        ("lab::f(int[] a=1) -> Tensor", 13, "a list is written [1]"),
        ("lab::f(str[] a=[\"x\"]) -> Tensor", 13, "lists of int, float, bool and complex alone"),
        ("lab::f(int[]? a=[]) -> Tensor", 14, "no default of `int[]? a`"),
        ("lab::f(complex a=1.5) -> Tensor", 15, "imaginary numbers alone"),
        ("lab::f(float a=inf) -> Tensor", 15, "`inf` is no default value"),
        ("lab::f(int a=0x10) -> Tensor", 13, "decimal digits"),
        ("lab::f(int a=9223372036854775808) -> Tensor", 13, "no number that fits"),
        ("lab::f(float a=1e999) -> Tensor", 15, "no number that fits"),
        ("lab::f(float a=1E3) -> Tensor", 15, "a small e"),
        ("lab::f(int a=) -> Tensor", 13, "expected a default value"),
        ("lab::f(int a=.) -> Tensor", 13, "expected a default value"),
        ("lab::f(int[][][][][][][][][][] a) -> Tensor", 7, "more than 8 suffixes"),
        ("lab::f(((((((((((int)))))))))) a) -> Tensor", 16, "more than 8 within"),
        ("lab::f(int[1025] a) -> Tensor", 11, "a list of more than 1024 elements"),
        ("lab::f(int[99999999999] a) -> Tensor", 11, "a list of more than 1024 elements"),
        ("lab::f(int[2][] a) -> Tensor", 13, "is the last of a type"),
        ("lab::f(Dict(str) a) -> Tensor", 7, "is of 2 types, and 1 are written"),
        ("lab::f(Dict a) -> Tensor", 12, "`(` and its types"),
        ("lab::f(Tensor class) -> Tensor", 14, "a word of the language"),
        ("lab::f.default(Tensor x) -> Tensor", 7, "leave it out"),
        ("lab::f(..., Tensor x) -> Tensor", 10, "nothing may follow `...`"),
        ("lab::f(*, *, Tensor x) -> Tensor", 10, "`*` stands once"),
        ("lab::f(Tensor a) -> Tensor x y", 29, "nothing may follow"),
        ("lab::f(Tensor(!) a) -> Tensor", 14, "an alias letter"),
        ("lab::f(str a=\"x) -> Tensor", 13, "never closed"),
        ("", 0, "namespace"),
    ] {
        let message = Schema::parse(text).expect_err(text).to_string();
        let caret = message.lines().last().unwrap_or("").find('^').unwrap_or(0) - 2;
        assert!(message.contains(part) && caret == column, "{text}: column {caret}\n{message}");
    }
}

#[test]
fn an_error_on_a_later_line_shows_that_line() {
    let message = Schema::parse("lab::f(Tensor a,\n    Tensr b) -> Tensor").expect_err("it is wrong").to_string();
    assert!(message.ends_with("\n      Tensr b) -> Tensor\n      ^"), "{message}");
}

#[test]
fn operators_take_what_they_list() {
    let message = Schema::parse_operator("lab::f(Tensor a, ...) -> Tensor").expect_err("it is open").to_string();
    assert!(message.contains("leave out `...`") && message.ends_with(&format!("{}^", " ".repeat(19))), "{message}");
    assert!(Schema::parse_operator("lab::f(Tensor a) -> (Tensor, ...)").is_err());
}
