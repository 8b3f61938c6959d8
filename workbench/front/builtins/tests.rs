//! Facts about the tables as a whole.

use super::*;

#[test]
fn every_record_is_found_by_its_name_and_is_documented() {
    for sig in SIGS.iter() {
        assert!(lookup(sig.name).iter().any(|s| std::ptr::eq(*s, *sig)), "{}", sig.name);
        assert!(sig.doc.ends_with('.'), "{}", sig.name);
    }
    assert!(lookup("no_such_function").is_empty());
}

#[test]
fn no_name_is_both_a_record_and_a_math_function() {
    for sig in SIGS.iter() {
        assert!(math(sig.name).is_none(), "{}", sig.name);
    }
}

#[test]
fn math_functions_have_an_overloaded_and_a_float_name() {
    use crate::ir::MathFn;
    assert_eq!(math("sin"), Some((MathFn::Sin, Form::Overloaded)));
    assert_eq!(math("sinf"), Some((MathFn::Sin, Form::Float)));
    assert_eq!(math("erf"), Some((MathFn::Erf, Form::Overloaded)));
    assert_eq!(math("erff"), Some((MathFn::Erf, Form::Float)));
    assert_eq!(math("sinff"), None);
}

#[test]
fn supported_intrinsics_win_over_prefixes_of_unsupported_ones() {
    for name in ["__hno_such", "__pipeline_commit"] {
        assert!(!is_function(name) && unsupported(name).is_some(), "{name}");
    }
    let names = ["__hadd", "__fadd_rz", "__int2float_ru", "__vadd4", "atomicAdd", "__syncthreads", "__shfl_down_sync"];
    for name in names {
        assert!(is_function(name), "{name}");
    }
    assert_eq!(unsupported("curand_mtgp32_single").map(|a| a.what), Some("a generator of cuRAND that is not here"));
}
