//! The part of a check that a change can break: crates by what depends on them, rooms of the Python package by what
//! imports them, and for each the tests that `xtask/since.toml` names.

use crate::rooms;
use crate::table::Table;
use crate::tidy::{read_table, sources};
use crate::times::folder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

const PACKAGE: &str = "python/lancehead";
const TABLE: &str = "xtask/since.toml";
/// Files that all crates depend on.
const WORKSPACE: [&str; 4] = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "clippy.toml"];

/// The part of a check that runs, beside steps that take no time.
pub struct Scope {
    /// Why it is so much.
    pub reasons: Vec<String>,
    /// Crates to lint and to test; all if it is not said.
    pub linted: Option<Vec<String>>,
    pub tested: Option<Vec<String>>,
    /// Files of tests in Python.
    pub tests: Vec<String>,
    /// Pages of the manual whose programs run, where not all of its tests do.
    pub pages: Vec<String>,
    pub has_python: bool,
    /// Whether the package or its extension may be another.
    pub has_package: bool,
    pub has_licences: bool,
}

impl Scope {
    pub fn everything(root: &Path) -> Scope {
        Scope {
            reasons: Vec::new(),
            linted: None,
            tested: None,
            tests: files_of_tests(root, "tests"),
            pages: Vec::new(),
            has_python: true,
            has_package: true,
            has_licences: true,
        }
    }
}

/// The files of tests in a folder and those below it, or the file that is named.
pub fn files_of_tests(root: &Path, place: &str) -> Vec<String> {
    let path = root.join(place);
    if path.is_file() {
        return vec![place.to_owned()];
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let name = format!("{place}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files.extend(files_of_tests(root, &name));
        } else if is_test(&name) {
            files.push(name);
        }
    }
    files.sort();
    files
}

/// Whether pytest collects a file.
fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.starts_with("test_") && name.ends_with(".py") || path.starts_with("tests/lang/") && name.ends_with(".md")
}

/// The scope of what has changed since a revision, in commits or in the work tree.
pub fn scope(root: &Path, revision: &str) -> Result<Scope, String> {
    let mut changed = git(root, &["diff", "--name-only", "--no-renames", revision])?;
    changed.extend(git(root, &["ls-files", "--others", "--exclude-standard"])?);
    Ok(Rules::read(root).scope(root, &changed))
}

/// The lines that Git prints.
pub fn git(root: &Path, arguments: &[&str]) -> Result<Vec<String>, String> {
    command(root, "git", arguments)
}

/// The lines that a program prints.
pub fn command(root: &Path, name: &str, arguments: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new(name).args(arguments).current_dir(root).output().map_err(|e| format!("{name}: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// By which rules changes have effects.
struct Rules {
    table: Table,
    /// For each room of the package, itself and all that import it.
    affected: BTreeMap<String, BTreeSet<String>>,
    /// For each crate, those that depend on it.
    dependents: BTreeMap<String, BTreeSet<String>>,
}

/// The effects of changes: places of tests in Python, and crates.
#[derive(Debug, Default, PartialEq)]
struct Effects {
    tests: BTreeSet<String>,
    linted: BTreeSet<String>,
    tested: BTreeSet<String>,
    /// Rooms of the package: pages that name them run.
    rooms: BTreeSet<String>,
    pages: BTreeSet<String>,
}

impl Rules {
    fn read(root: &Path) -> Rules {
        let table = read_table(root, TABLE);
        let ends = table.section("").map_or(&[][..], |top| top.list("ends"));
        let affected = rooms::importers(&read_table(root, "xtask/rooms.toml"), &sources(root), PACKAGE, ends);
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for entry in fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
            let own = entry.file_name().to_string_lossy().into_owned();
            let text = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
            let names = text.lines().filter_map(|line| line.split_once(".workspace = true")).map(|(name, _)| name);
            for name in names.filter(|name| name.starts_with("lh-")) {
                needs.entry(name.to_owned()).or_default().insert(own.clone());
            }
        }
        Rules { table, affected, dependents: needs }
    }

    /// A crate and all that depend on it, directly or not.
    fn above(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([name.to_owned()]);
        let mut waiting = vec![name.to_owned()];
        while let Some(next) = waiting.pop() {
            for other in self.dependents.get(&next).into_iter().flatten() {
                if found.insert(other.clone()) {
                    waiting.push(other.clone());
                }
            }
        }
        found
    }

    /// The entry of a section for a path: that of the longest folder.
    fn entry(&self, section: &str, path: &str) -> Option<&[String]> {
        let section = self.table.section(section)?;
        let ends = path.match_indices('/').map(|(i, _)| i).chain([path.len()]);
        let places: Vec<&str> = ends.map(|end| &path[..end]).collect();
        places.iter().rev().find_map(|place| section.lists().get(*place)).map(Vec::as_slice)
    }

    /// The effects of a change of a file.
    fn effects(&self, path: &str) -> Effects {
        let mut effects = Effects::default();
        let parts: Vec<&str> = path.split('/').collect();
        let room = path.strip_prefix(PACKAGE).and_then(|rest| rest.get(1..)?.split(['/', '.']).next());
        let named = self.entry("crates", path).map(|names| names.iter().cloned().collect());
        if let ["crates", name, ..] = parts[..] {
            effects.linted = self.above(name);
            effects.tested = named.unwrap_or_else(|| effects.linted.clone());
        } else {
            effects.tested = named.unwrap_or_default();
        }
        if WORKSPACE.contains(&path) {
            effects.linted =
                self.dependents.iter().flat_map(|(name, others)| others.iter().chain([name])).cloned().collect();
            effects.linted.insert("xtask".to_owned());
            effects.tested.clone_from(&effects.linted);
        }
        if let ["xtask", ..] = parts[..] {
            effects.linted.insert("xtask".to_owned());
            effects.tested.insert("xtask".to_owned());
        }
        if let ["docs", page] | [page] = parts[..]
            && page.ends_with(".md")
        {
            effects.pages.insert(page.to_owned());
        }
        match room.and_then(|room| self.affected.get(room)) {
            Some(rooms) => {
                for other in rooms {
                    effects.tests.extend(self.tests(&format!("{PACKAGE}/{other}")));
                }
                effects.rooms.clone_from(rooms);
            }
            None => effects.tests = self.tests(path),
        }
        effects
    }

    /// The tests of a file itself: what the table says, else the file or the folder if it is one of tests, else all.
    fn tests(&self, path: &str) -> BTreeSet<String> {
        let place = match self.entry("tests", path) {
            Some(named) => return named.iter().cloned().collect(),
            None if is_test(path) => path,
            None if path.starts_with("tests/") => folder(path),
            None => "tests",
        };
        BTreeSet::from([place.to_owned()])
    }

    fn scope(&self, root: &Path, changed: &[String]) -> Scope {
        let mut all = Effects::default();
        let mut reasons = Vec::new();
        for path in changed {
            let own = self.effects(path);
            reasons.push(format!("{path}: {}", own.text()));
            all.add(own);
        }
        let tests: BTreeSet<String> = all.tests.iter().flat_map(|place| files_of_tests(root, place)).collect();
        if !tests.contains("tests/python/docs/test_docs.py") {
            all.pages.extend(naming(root, &all.rooms));
            reasons.extend((!all.pages.is_empty()).then(|| format!("pages: {}", joined(&all.pages))));
        } else {
            all.pages.clear();
        }
        let is = |ends: &[&str]| changed.iter().any(|path| ends.iter().any(|end| path.ends_with(end)));
        let is_in = |places: &[&str]| changed.iter().any(|path| places.iter().any(|place| path.starts_with(place)));
        Scope {
            reasons,
            linted: Some(all.linted.into_iter().collect()),
            tested: Some(all.tested.into_iter().collect()),
            tests: tests.into_iter().collect(),
            pages: all.pages.into_iter().collect(),
            has_python: is(&[".py", ".pyi", "pyproject.toml", "requirements.txt"]),
            has_package: is_in(&["python/", "crates/", "xtask/", "docs/"]),
            has_licences: is(&["Cargo.lock", "Cargo.toml", "deny.toml", "deny.py"]),
        }
    }
}

impl Effects {
    fn add(&mut self, other: Effects) {
        self.tests.extend(other.tests);
        self.linted.extend(other.linted);
        self.tested.extend(other.tested);
        self.rooms.extend(other.rooms);
        self.pages.extend(other.pages);
    }

    /// The effects as they are printed.
    fn text(&self) -> String {
        let parts =
            [("lints of", &self.linted), ("cargo test of", &self.tested), ("rooms", &self.rooms), ("", &self.tests)];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let texts: Vec<String> =
            parts.map(|(what, names)| format!("{what} {}", joined(names)).trim().to_owned()).collect();
        if texts.is_empty() { "no tests".to_owned() } else { texts.join("; ") }
    }
}

fn joined(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Pages of the manual that name one of some rooms of the package.
fn naming(root: &Path, rooms: &BTreeSet<String>) -> BTreeSet<String> {
    let mut pages = BTreeSet::new();
    for entry in fs::read_dir(root.join("docs")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = if name.ends_with(".md") { fs::read_to_string(entry.path()) } else { continue };
        let text = text.unwrap_or_default();
        let imports: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("from lancehead import ")).collect();
        let is_named = |room: &String| {
            text.contains(&format!("lancehead.{room}"))
                || imports.iter().any(|line| words(line).any(|word| word == room))
        };
        if rooms.iter().any(is_named) {
            pages.insert(name);
        }
    }
    pages
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &str) -> BTreeSet<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    fn rules() -> Rules {
        let table = Table::parse(
            "[crates]\n\"crates/lh-b/src/low\" = [\"lh-b\"]\n[tests]\n\"python/lancehead\" = [\"tests\"]\n\
             \"python/lancehead/up\" = [\"tests/python/up\"]\n\"crates/lh-b\" = [\"tests/lang\"]\n\
             \"crates/lh-b/src/low\" = [\"tests/python/low\"]\n\"docs\" = []\n",
        );
        let affected = [("up", "up"), ("down", "down up")].map(|(room, rooms)| (room.to_owned(), set(rooms)));
        let dependents = [("lh-a", "lh-b"), ("lh-b", "lh-c")].map(|(name, names)| (name.to_owned(), set(names)));
        Rules { table, affected: affected.into(), dependents: dependents.into() }
    }

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository")
    }

    #[test]
    fn the_table_names_what_there_is() {
        let table = read_table(root(), TABLE);
        let lists = |name: &str| table.section(name).expect("the section is there").lists();
        let places =
            lists("tests").iter().flat_map(|(key, named)| named.iter().chain([key])).chain(lists("crates").keys());
        // A room may be a file.
        let missing = |place: &&String| !root().join(place).exists() && !root().join(format!("{place}.py")).exists();
        assert_eq!(places.filter(missing).collect::<Vec<_>>(), Vec::<&String>::new());
        let is_crate = |name: &String| root().join("crates").join(name).exists();
        assert!(lists("crates").values().flatten().all(is_crate));
        for folder in lists("tests").values().flatten() {
            assert!(!files_of_tests(root(), folder).is_empty(), "{folder}");
        }
    }

    #[test]
    fn a_change_of_one_package_has_a_small_part_of_the_tests() {
        let scope = |path: &str| Rules::read(root()).scope(root(), &[path.to_owned()]);
        let all = Scope::everything(root()).tests.len();
        let cupy = scope("python/lancehead/cupy/__init__.py");
        assert!(cupy.tests.len() < 10 && cupy.pages.contains(&"cupy.md".to_owned()), "{:?}", cupy.tests);
        assert_eq!((cupy.linted, cupy.tested), (Some(Vec::new()), Some(Vec::new())));
        let pass = scope("crates/lh-opt/src/loops/split_sums.rs");
        assert!(pass.tests.len() < all / 4, "{:?}", pass.tests);
        assert_eq!(scope("python/lancehead/lib/numpy/linalg.py").tests.len(), all);
        assert_eq!(scope("crates/lh-frontend/src/lib.rs").tests.len(), all);
    }

    #[test]
    fn crates_that_depend_on_a_changed_one_are_checked() {
        let rules = rules();
        assert_eq!(rules.effects("crates/lh-a/src/x.rs").linted, set("lh-a lh-b lh-c"));
        assert_eq!(rules.effects("crates/lh-a/src/x.rs").tests, set("tests"));
        assert_eq!(rules.effects("crates/lh-b/src/x.rs").tests, set("tests/lang"));
        let low = rules.effects("crates/lh-b/src/low/x.rs");
        assert_eq!((low.tested, low.tests, low.linted), (set("lh-b"), set("tests/python/low"), set("lh-b lh-c")));
    }

    #[test]
    fn rooms_that_import_a_changed_one_are_checked() {
        let rules = rules();
        assert_eq!(rules.effects("python/lancehead/up/x.py").tests, set("tests/python/up"));
        assert_eq!(rules.effects("python/lancehead/down.py").tests, set("tests tests/python/up"));
        assert_eq!(rules.effects("python/lancehead/__init__.py").tests, set("tests"));
    }

    #[test]
    fn tests_pages_and_other_files_have_effects() {
        let rules = rules();
        assert_eq!(rules.effects("tests/python/up/test_x.py").tests, set("tests/python/up/test_x.py"));
        assert_eq!(rules.effects("tests/python/up/cases.py").tests, set("tests/python/up"));
        assert_eq!(rules.effects("docs/up.md"), Effects { pages: set("up.md"), ..Effects::default() });
        let lock = rules.effects("Cargo.lock");
        assert_eq!((lock.tests, lock.tested), (set("tests"), set("lh-a lh-b lh-c xtask")));
        assert_eq!(rules.effects("xtask/src/main.rs").linted, set("xtask"));
    }
}
