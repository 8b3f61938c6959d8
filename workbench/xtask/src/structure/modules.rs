//! Modules of a crate, and the file that defines the target of each path.
//!
//! Methods are not seen, and neither is a function in small letters that comes from a glob and is passed without being called: types would be
//! needed to tell these from variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::file::{File, Scope};

/// The names that are being looked for, each in a module: cycles of `use` items end there.
type Trail = BTreeSet<(usize, String)>;

/// A file of a crate.
#[derive(Debug)]
pub struct Source {
    /// Its path from the repository's root, with `/`.
    pub path: String,
    /// The number of lines.
    pub lines: usize,
    /// The contents; its scopes have become modules.
    pub file: File,
    /// True if it is compiled in tests alone.
    pub test: bool,
}

/// A name that one file takes from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The file that names it, an index into the crate's files.
    pub from: usize,
    /// The file that defines it.
    pub to: usize,
    /// The name, without the module.
    pub name: String,
    /// The line in `from` where it is first named.
    pub line: usize,
    /// True if `from` only hands it on by `pub use`.
    pub handed_on: bool,
}

#[derive(Debug)]
struct Module {
    parent: Option<usize>,
    file: usize,
    children: BTreeMap<String, usize>,
    scope: Scope,
}

impl Module {
    /// True if a `use` brings this name.
    fn brings(&self, name: &str) -> bool {
        self.scope.imports.iter().any(|i| i.name.as_deref() == Some(name))
    }
}

/// A crate: its files, its modules, and the names that they take from one another.
#[derive(Debug, Default)]
pub struct Crate {
    /// Its files, sorted by path, those of tests among them.
    pub files: Vec<Source>,
    /// The names that files outside tests take from one another, sorted.
    pub arrows: Vec<Arrow>,
    modules: Vec<Module>,
}

/// The item or module that a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    /// The module that defines it, or the module itself.
    module: usize,
    /// The item in it; none of a module.
    item: Option<String>,
    /// The glob of the first module that it came by.
    glob: Option<usize>,
}

/// Texts of files by their paths: the disk, or a table in tests.
pub trait Texts {
    /// A file's text, if there is such a file.
    fn text(&self, path: &str) -> Option<String>;
}

impl Texts for &Path {
    fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.join(path)).ok()
    }
}

impl Crate {
    /// Reads a crate from its first file.
    ///
    /// # Errors
    /// A module without a file, or a file that is no Rust.
    pub fn read(texts: &dyn Texts, first: &str) -> Result<Crate, String> {
        let mut whole = Crate::default();
        let folder = first.rsplit_once('/').map_or("", |(folder, _)| folder);
        whole.load(texts, first, folder, None, false)?;
        whole.sort();
        whole.arrows = whole.all_arrows();
        Ok(whole)
    }

    /// Reads a file and the files of the modules it declares, which are in `folder`.
    fn load(
        &mut self,
        texts: &dyn Texts,
        path: &str,
        folder: &str,
        parent: Option<usize>,
        test: bool,
    ) -> Result<usize, String> {
        let text = texts.text(path).ok_or_else(|| format!("{path}: no such file"))?;
        let mut file = File::read(&text).map_err(|e| format!("{path}:{e}"))?;
        let scope = std::mem::take(&mut file.scope);
        self.files.push(Source { path: path.to_owned(), lines: text.lines().count(), file, test });
        let file = self.files.len() - 1;
        self.module(texts, scope, folder, parent, file)
    }

    fn module(
        &mut self,
        texts: &dyn Texts,
        mut scope: Scope,
        folder: &str,
        parent: Option<usize>,
        file: usize,
    ) -> Result<usize, String> {
        let (inline, declared) = (std::mem::take(&mut scope.inline), scope.files.clone());
        let index = self.modules.len();
        self.modules.push(Module { parent, file, children: BTreeMap::new(), scope });
        let own = self.files[file].path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let test = self.files[file].test;
        for part in inline {
            let name = part.name.clone();
            let child = self.module(texts, part, &join(folder, &name), Some(index), file)?;
            self.modules[index].children.insert(name, child);
        }
        for part in declared {
            let beside = join(folder, &format!("{}.rs", part.name));
            let below = join(folder, &format!("{}/mod.rs", part.name));
            let (path, inner) = match &part.path {
                Some(path) => {
                    let path = join(&own, path);
                    let inner = path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
                    (path, inner)
                }
                None if texts.text(&beside).is_some() => (beside, join(folder, &part.name)),
                None => (below, join(folder, &part.name)),
            };
            let child = self.load(texts, &path, &inner, Some(index), test || part.test)?;
            self.modules[index].children.insert(part.name, child);
        }
        Ok(index)
    }

    /// Sorts the files by path.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by(|a, b| self.files[*a].path.cmp(&self.files[*b].path));
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        self.modules.iter_mut().for_each(|m| m.file = place[m.file]);
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// The file of a path from the repository's root.
    pub fn file(&self, path: &str) -> Option<usize> {
        self.files.binary_search_by(|f| f.path.as_str().cmp(path)).ok()
    }

    /// The target of a path for code in a module. A single word that the module itself defines counts too.
    fn resolve(&self, module: usize, path: &[String], trail: &mut Trail) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Target { module: 0, item: None, glob: None },
            "self" => Target { module, item: None, glob: None },
            "super" => Target { module: self.modules[module].parent?, item: None, glob: None },
            name => self.find(module, name, trail)?,
        };
        let glob = start.glob;
        let mut here = start;
        for word in rest {
            if here.item.is_some() {
                break;
            }
            here = match word.as_str() {
                "super" => Target { module: self.modules[here.module].parent?, item: None, glob },
                "self" => here,
                name => match self.find(here.module, name, trail) {
                    Some(found) => found,
                    None if self.modules[here.module].brings(name) => return None,
                    // Items written by a macro are not seen: they count as the module's own.
                    None => Target { module: here.module, item: Some(name.to_owned()), glob },
                },
            };
        }
        Some(Target { glob, ..here })
    }

    /// The target of a name in a module.
    fn find(&self, module: usize, name: &str, trail: &mut Trail) -> Option<Target> {
        if !trail.insert((module, name.to_owned())) {
            return None;
        }
        let found = self.look(module, name, trail);
        if found.is_some() {
            trail.remove(&(module, name.to_owned()));
        }
        found
    }

    fn look(&self, module: usize, name: &str, trail: &mut Trail) -> Option<Target> {
        let Module { scope, children, .. } = &self.modules[module];
        if scope.items.iter().any(|i| i == name) {
            return Some(Target { module, item: Some(name.to_owned()), glob: None });
        }
        if let Some(child) = children.get(name) {
            return Some(Target { module: *child, item: None, glob: None });
        }
        for import in scope.imports.iter().filter(|i| i.name.as_deref() == Some(name)) {
            if let Some(found) = self.resolve(module, &import.path, trail) {
                return Some(Target { glob: None, ..found });
            }
        }
        for (index, import) in scope.imports.iter().enumerate().filter(|(_, i)| i.name.is_none()) {
            if let Some(Target { module: other, item: None, .. }) = self.resolve(module, &import.path, trail)
                && other != module
                && let Some(found) = self.find(other, name, trail)
            {
                return Some(Target { glob: Some(index), ..found });
            }
        }
        None
    }

    /// All names that the files outside tests take from one another.
    fn all_arrows(&self) -> Vec<Arrow> {
        let mut first: BTreeMap<(usize, usize, String, bool), usize> = BTreeMap::new();
        for (index, module) in self.modules.iter().enumerate() {
            if self.files[module.file].test {
                continue;
            }
            let mut add = |target: &Target, line: usize, handed_on: bool| {
                let to = self.modules[target.module].file;
                if to != module.file && !self.files[to].test {
                    let name = target.item.clone().unwrap_or_else(|| "(module)".to_owned());
                    let lowest = first.entry((module.file, to, name, handed_on)).or_insert(line);
                    *lowest = line.min(*lowest);
                }
            };
            let (mut globs, mut words) = (BTreeSet::new(), BTreeSet::new());
            for mention in &module.scope.mentions {
                let Some(target) = self.resolve(index, &mention.path, &mut Trail::new()) else { continue };
                globs.extend(target.glob);
                words.insert(mention.path[0].as_str());
                // A name that a private `use` brings is counted at the `use`.
                let counted = mention.path.len() == 1
                    && module.scope.imports.iter().any(|i| !i.public && i.name.as_ref() == Some(&mention.path[0]));
                if !counted {
                    add(&target, mention.line, false);
                }
            }
            for (number, import) in module.scope.imports.iter().enumerate() {
                let Some(target) = self.resolve(index, &import.path, &mut Trail::new()) else { continue };
                let passage = target.item.is_none();
                let walked = match &import.name {
                    None => globs.contains(&number),
                    Some(name) => words.contains(name.as_str()),
                };
                // A module or a glob counts through the names that are taken from it.
                if !(passage && walked && !import.public) {
                    add(&target, import.line, import.public);
                }
            }
        }
        let all = first.iter().map(|((from, to, name, handed_on), line)| Arrow {
            from: *from,
            to: *to,
            name: name.clone(),
            line: *line,
            handed_on: *handed_on,
        });
        let mut all: Vec<Arrow> = all.collect();
        all.sort();
        all
    }

    /// Files under a folder that no module declares.
    pub fn unknown(&self, root: &Path, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        rust_files(&root.join(folder), &mut found);
        let names = found.iter().filter_map(|p| p.strip_prefix(root).ok());
        let mut names: Vec<String> = names.map(|p| p.display().to_string().replace('\\', "/")).collect();
        names.retain(|n| self.file(n).is_none());
        names.sort();
        names
    }
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|x| x == "rs") {
            out.push(path);
        }
    }
}

/// A path below a folder, with its `.` and `..` resolved.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}
