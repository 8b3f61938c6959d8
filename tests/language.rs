//! The page of the language matches the compiler's tables, and each example on it compiles or is refused as the page says.

use std::path::Path;

use workbench::diagnostic::Code;
use workbench::front::{self, Options};
use workbench::front::{builtins, reference};
use workbench::runtime::{CompileOptions, Program};
use workbench::source::SourceMap;

#[test]
fn the_page_is_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("workbench/front/LANGUAGE.md");
    let page = reference::page(&std::fs::read_to_string(&path).expect("the page can be read"));
    if std::env::var_os("WORKBENCH_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "LANGUAGE.md is not what the tables say: run `WORKBENCH_BLESS=1 cargo test --test language`");
}

#[test]
fn every_example_compiles() {
    for construct in reference::SUPPORTED.iter().flat_map(|(_, constructs)| constructs.iter()) {
        let program = Program::compile(construct.example, &CompileOptions::default());
        let program = program.unwrap_or_else(|e| panic!("{}:\n{}\n{e}", construct.what, construct.example));
        let named = program.module().templates.is_empty() || !program.kernel_names().is_empty();
        assert!(named && program.kernel_names().iter().all(|k| program.kernel(k).is_ok()), "{}", construct.what);
    }
}

#[test]
fn what_stays_outside_says_so() {
    for construct in reference::OUTSIDE {
        let mut sources = SourceMap::default();
        let (_, diags) = front::compile(&mut sources, "t.cu", construct.example, &Options::default());
        let own = diags.iter().any(|d| d.is_error() && d.code == Code::Unsupported && d.help.is_some());
        assert!(own, "{}: {diags:#?}", construct.what);
    }
}

#[test]
fn every_built_in_function_is_on_the_page() {
    let page = reference::page("");
    let listed = |name: &str| page.contains(&format!("`{name}`")) || page.contains(&format!(" {name}("));
    let tables = builtins::GROUPS.iter().flat_map(|(_, tables)| tables.iter().copied().flatten());
    let missing: Vec<&str> =
        tables.map(|sig| sig.name).chain(builtins::math_names()).filter(|name| !listed(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for name in ["__hfma2", "cooperative_groups::tiled_partition", "std::is_same", "c10::Half", "__dp4a"] {
        assert!(listed(name), "{name}");
    }
}
