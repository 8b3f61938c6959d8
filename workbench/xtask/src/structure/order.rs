//! The declared floors of folders, the lowest first. `tests/tidy.rs` checks them; `cargo xtask structure` draws them.

/// The floors of a folder's rooms.
#[derive(Debug)]
pub struct Floors {
    /// The folder, from the repository's root.
    pub folder: &'static str,
    /// Its floors, the lowest first; a room names only rooms of the floors below. A file and the folder of its name are one room.
    pub order: &'static [&'static [&'static str]],
    /// Arrows that run against the order: the room, the room it names, the reason.
    pub allowed: &'static [(&'static str, &'static str, &'static str)],
}

/// The folders whose floors are declared.
pub const FLOORS: &[Floors] = &[CRATE, CPU];

const CRATE: Floors = Floors {
    folder: "workbench",
    order: &[
        &["source", "steps", "once", "json", "line_width", "plural"],
        &["diagnostic"],
        &["ir", "library"],
        &["front", "valid", "pass"],
        &["back"],
        &["language_service", "runtime"],
        &["ops"],
        &["autograd", "bench"],
        &["check"],
        &["tune"],
        &["plot"],
        &["display"],
        &["candle", "cell"],
        &["lib"],
    ],
    allowed: &[],
};

const CPU: Floors = Floors {
    folder: "workbench/back/cpu",
    order: &[
        &["math"],
        &["abi"],
        &["isa", "stack", "tier", "data"],
        &["facts"],
        &["code"],
        &["image", "lower"],
        &["run"],
        &["wide"],
        &["make"],
        &["mod"],
    ],
    allowed: &[],
};

/// Rules besides the floors: files under the first folder never name files under the second.
pub const NEVER: &[(&str, &str)] = &[
    ("workbench/back", "workbench/front"),
    ("workbench/back", "workbench/valid"),
    ("workbench/back/cpu/lower", "workbench/back/cpu/run"),
    ("workbench/back/cpu/lower", "workbench/back/cpu/make"),
    ("workbench/back/cpu/wide/build", "workbench/back/cpu/run"),
    ("workbench/back/cpu/wide/build", "workbench/back/cpu/make"),
    ("workbench/runtime/host", "workbench/runtime/program"),
    ("workbench/runtime/host", "workbench/runtime/program.rs"),
    ("workbench/check", "workbench/bench"),
];

/// The declared floors of a folder.
pub fn declared(folder: &str) -> Option<&'static Floors> {
    FLOORS.iter().find(|f| f.folder == folder)
}
