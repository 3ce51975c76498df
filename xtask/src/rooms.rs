//! The shape of the house: which files may import which.
//!
//! `xtask/rooms.toml` declares the order of crates and, in crates of many files, of rooms. A room is a folder, or a
//! file that is alone, with the file of its name. A room imports only from rooms before its own; rooms that stand in
//! one string of the list are side by side and do not import each other. Files that import each other in a circle are a
//! knot, which is small.

pub mod graph;
mod python;
pub mod rust;
pub mod tokens;

use crate::table::{Section, Table};
use crate::tidy::Source;
use graph::Graph;
use rust::File;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A knot of more files than this is refused.
const KNOT: usize = 5;
/// A crate of more files than this has rooms.
const FILES_WITHOUT_ROOMS: usize = 20;

/// A crate or a Python package with the arrows between its files.
struct Part<'a> {
    /// The folder of its sources.
    folder: &'a str,
    graph: Graph,
}

/// A folder whose order is declared, with what its arrows are.
struct Floor<'a> {
    folder: &'a str,
    /// The place of each room.
    places: BTreeMap<&'a str, usize>,
    /// The room of each file of the part, if it is in the folder.
    rooms: Vec<Option<&'a str>>,
}

impl<'a> Part<'a> {
    fn new(folder: &'a str, sources: &'a [Source]) -> (Part<'a>, BTreeSet<String>) {
        let file = |source: &'a Source| {
            let path = source.path.strip_prefix(folder)?.strip_prefix('/')?.rsplit_once('.')?.0;
            Some(File { path, text: &source.text })
        };
        let files: Vec<File> = sources.iter().filter_map(file).collect();
        match folder.strip_prefix("python/") {
            Some(package) => (Part { folder, graph: python::graph(package, &files) }, BTreeSet::new()),
            None => {
                let (graph, crates) = rust::graph(&files);
                (Part { folder, graph }, crates)
            }
        }
    }

    /// The rooms of a folder of this part, in the declared order.
    fn floor<'b>(&'b self, folder: &'b str, order: &'b [String]) -> Floor<'b> {
        let below = folder.strip_prefix(self.folder).unwrap_or_default().trim_start_matches('/');
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, rooms) in order.iter().enumerate() {
            places.extend(rooms.split(' ').map(|room| (room, place)));
        }
        let room = |file: &'b String| {
            let inner = if below.is_empty() { file } else { file.strip_prefix(below)? };
            match inner.strip_prefix('/').unwrap_or(inner) {
                ".rs" => Some("mod"),
                _ if !below.is_empty() && !inner.starts_with('/') => None,
                inner => inner.split(['/', '.']).next(),
            }
        };
        let rooms = self.graph.files.iter().map(room).collect();
        for roof in ["lib", "main", "mod", "__init__", "__main__"] {
            places.entry(roof).or_insert(usize::MAX);
        }
        Floor { folder, places, rooms }
    }

    fn at(&self, file: usize) -> String {
        format!("{}/{}", self.folder, self.graph.files[file])
    }
}

impl Floor<'_> {
    /// Whether an arrow goes to a room that its own may not import.
    fn is_against(&self, from: usize, to: usize) -> bool {
        match (self.rooms[from], self.rooms[to]) {
            (Some(a), Some(b)) if a != b => match (self.places.get(a), self.places.get(b)) {
                (Some(&here), Some(&there)) => there >= here && here != usize::MAX,
                _ => false,
            },
            _ => false,
        }
    }
}

/// The folders of parts: crates' sources, and the Python package.
fn folders(table: &Table) -> Vec<String> {
    let crates = table.section("").map_or(&[][..], |top| top.list("crates"));
    let mut folders: Vec<String> =
        crates.iter().flat_map(|names| names.split(' ')).map(|name| format!("crates/{name}/src")).collect();
    folders.push("python/lancehead".to_owned());
    folders
}

/// Complaints about arrows, knots and rooms that are not declared.
pub fn check(table: &Table, sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    let folders = folders(table);
    let crates: Vec<&str> =
        table.section("").map_or(&[][..], |top| top.list("crates")).iter().map(String::as_str).collect();
    let place = |name: &str| crates.iter().position(|names| names.split(' ').any(|other| other == name));
    for folder in &folders {
        let (part, uses) = Part::new(folder, sources);
        let own = folder.split('/').nth(1).and_then(place);
        for other in uses.iter().filter(|other| place(other).is_none_or(|other| Some(other) >= own)) {
            complaints.push(format!("{folder}: imports `{other}`, against the order of crates in `xtask/rooms.toml`"));
        }
        check_part(table, &part, &mut complaints);
    }
    let is_crate = |source: &&Source| source.path.starts_with("crates/") && source.path.ends_with("/src/lib.rs");
    for source in sources.iter().filter(is_crate) {
        if !folders.iter().any(|folder| source.path == format!("{folder}/lib.rs")) {
            complaints.push(format!("{}:1: the crate has no place in `xtask/rooms.toml`", source.path));
        }
    }
    complaints
}

fn check_part(table: &Table, part: &Part, complaints: &mut Vec<String>) {
    let nothing = Section::default();
    let own = table.section(part.folder).unwrap_or(&nothing);
    let knot = part.graph.knots().first().map_or(0, Vec::len);
    let allowed = own.number("knot").unwrap_or(KNOT);
    if knot > allowed {
        complaints.push(format!(
            "{}: {knot} files import each other in a circle, {allowed} may (`cargo xtask graph` shows them)",
            part.folder
        ));
    } else if allowed > KNOT && knot < allowed {
        complaints
            .push(format!("xtask/rooms.toml: the largest knot of {} has {knot} files; lower `knot`", part.folder));
    }
    let roomless = own.number("files_without_rooms").unwrap_or(FILES_WITHOUT_ROOMS);
    if part.graph.files.len() > roomless && own.list("order").is_empty() {
        complaints.push(format!(
            "{}: {} files; declare its rooms in `xtask/rooms.toml`",
            part.folder,
            part.graph.files.len()
        ));
    }
    for (folder, section) in
        table.sections().filter(|(name, section)| is_in(part, name) && !section.list("order").is_empty())
    {
        check_floor(part, &part.floor(folder, section.list("order")), section.number("back").unwrap_or(0), complaints);
    }
}

/// Whether a section of the table is about a part or a folder of it.
fn is_in(part: &Part, name: &str) -> bool {
    name.strip_prefix(part.folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn check_floor(part: &Part, floor: &Floor, allowed: usize, complaints: &mut Vec<String>) {
    let found: BTreeSet<&str> = floor.rooms.iter().flatten().copied().collect();
    for room in found.iter().filter(|room| !floor.places.contains_key(*room)) {
        complaints.push(format!("{}/{room}: no place in `xtask/rooms.toml`", floor.folder));
    }
    for (room, _) in floor.places.iter().filter(|(room, place)| **place != usize::MAX && !found.contains(*room)) {
        complaints.push(format!("xtask/rooms.toml: {} has no room `{room}`", floor.folder));
    }
    let against: Vec<_> = part.graph.arrows.iter().filter(|&(&(from, to), _)| floor.is_against(from, to)).collect();
    if against.len() < allowed {
        complaints.push(format!(
            "xtask/rooms.toml: {} imports of {} go against the order; lower `back`",
            against.len(),
            floor.folder
        ));
    }
    if against.len() > allowed {
        for (&(from, to), line) in against {
            complaints.push(format!("{}:{line}: imports {}, against the order of rooms", part.at(from), part.at(to)));
        }
    }
}

/// For each room of a part, itself and the rooms that import it, directly or through rooms that are no ends. A roof is
/// none of them.
pub fn importers(
    table: &Table,
    sources: &[Source],
    folder: &str,
    ends: &[String],
) -> BTreeMap<String, BTreeSet<String>> {
    let (part, _) = Part::new(folder, sources);
    let floor = part.floor(folder, table.section(folder).map_or(&[][..], |section| section.list("order")));
    let room = |file: usize| floor.rooms[file].filter(|room| floor.places.get(room) != Some(&usize::MAX));
    let names: BTreeSet<&str> = (0..part.graph.files.len()).filter_map(room).collect();
    let above = |name: &str| {
        let mut found = BTreeSet::from([name]);
        let mut waiting = vec![name];
        while let Some(next) = waiting.pop() {
            if next != name && ends.iter().any(|end| end == next) {
                continue;
            }
            for &(from, to) in part.graph.arrows.keys().filter(|&&(_, to)| room(to) == Some(next)) {
                waiting.extend(room(from).filter(|&other| to != from && found.insert(other)));
            }
        }
        found.into_iter().map(str::to_owned).collect()
    };
    names.iter().map(|name| ((*name).to_owned(), above(name))).collect()
}

/// The output of `cargo xtask graph`: rooms with their sizes, arrows, and knots.
pub fn describe(table: &Table, sources: &[Source], name: &str) -> Result<String, String> {
    let folders = folders(table);
    let is_asked = |folder: &&String| **folder == name || **folder == format!("crates/{name}/src");
    let Some(folder) = folders.iter().find(is_asked) else {
        return Err(format!("`{name}` is none of {}", folders.join(", ")));
    };
    let (part, crates) = Part::new(folder, sources);
    let mut text = String::new();
    let crates: Vec<String> = crates.into_iter().collect();
    let _ = writeln!(text, "{folder}: {} files, imports {}", part.graph.files.len(), crates.join(" "));
    let mut names: Vec<&str> = table.sections().map(|(name, _)| name).filter(|name| is_in(&part, name)).collect();
    if !names.contains(&folder.as_str()) {
        names.insert(0, folder);
    }
    for name in names {
        let order = table.section(name).map_or(&[][..], |section| section.list("order"));
        describe_floor(&part, &part.floor(name, order), sources, &mut text);
    }
    for knot in part.graph.knots() {
        let _ = writeln!(text, "\nknot of {} files", knot.len());
        for &file in &knot {
            let others = knot.iter().filter(|&&other| part.graph.arrows.contains_key(&(file, other)));
            let others: Vec<String> = others.map(|&other| part.graph.files[other].clone()).collect();
            let _ = writeln!(text, "  {} -> {}", part.graph.files[file], others.join(" "));
        }
    }
    Ok(text)
}

fn describe_floor(part: &Part, floor: &Floor, sources: &[Source], text: &mut String) {
    let mut sizes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (file, room) in floor.rooms.iter().enumerate() {
        let source = sources.iter().find(|source| source.path == part.at(file));
        if let (Some(room), Some(source)) = (room, source) {
            let size = sizes.entry(room).or_default();
            *size = (size.0 + 1, size.1 + source.text.lines().count());
        }
    }
    let mut arrows: BTreeMap<(&str, &str), Vec<(usize, usize)>> = BTreeMap::new();
    for &(from, to) in part.graph.arrows.keys() {
        if let (Some(a), Some(b)) = (floor.rooms[from], floor.rooms[to])
            && a != b
        {
            arrows.entry((a, b)).or_default().push((from, to));
        }
    }
    let against = arrows.values().flatten().filter(|&&(from, to)| floor.is_against(from, to)).count();
    let _ = writeln!(
        text,
        "\nrooms of {}: {}, {} arrows, {against} imports against the order",
        floor.folder,
        sizes.len(),
        arrows.len()
    );
    let mut order: Vec<(&str, (usize, usize))> = sizes.into_iter().collect();
    order.sort_by_key(|(room, _)| (floor.places.get(room).copied().unwrap_or(usize::MAX), *room));
    for (room, (files, lines)) in order {
        let to = arrows.range((room, "")..).take_while(|((from, _), _)| *from == room);
        let to: Vec<String> = to
            .map(|(&(_, to), imports)| {
                let is_against = imports.iter().any(|&(from, to)| floor.is_against(from, to));
                format!("{}{to} ({})", if is_against { "!" } else { "" }, imports.len())
            })
            .collect();
        let _ = writeln!(text, "  {room}: {files} files, {lines} lines -> {}", to.join(" "));
    }
    for ((_, _), imports) in &arrows {
        for &(from, to) in imports.iter().filter(|&&(from, to)| floor.is_against(from, to)) {
            let line = part.graph.arrows[&(from, to)];
            let _ = writeln!(text, "  against: {}:{line} imports {}", part.at(from), part.graph.files[to]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(table: &str, files: &[(&str, &str)]) -> Vec<String> {
        let source = |&(path, text): &(&str, &str)| Source { path: path.to_owned(), text: text.to_owned() };
        check(&Table::parse(table), &files.iter().map(source).collect::<Vec<_>>())
    }

    const FILES: [(&str, &str); 4] = [
        ("crates/a/src/lib.rs", "mod low;\nmod high;\nuse high::f;\n"),
        ("crates/a/src/low.rs", "pub fn g() {}\n"),
        ("crates/a/src/high.rs", "mod inner;\npub fn f() { inner::h() }\n"),
        ("crates/a/src/high/inner.rs", "pub fn h() { crate::low::g() }\n"),
    ];

    #[test]
    fn imports_go_to_lower_rooms() {
        assert!(found("crates = [\"a\"]\n[crates/a/src]\norder = [\"low\", \"high\"]\n", &FILES).is_empty());
        let against = found("crates = [\"a\"]\n[crates/a/src]\norder = [\"high\", \"low\"]\n", &FILES);
        assert_eq!(against.len(), 1);
        assert!(against[0].starts_with("crates/a/src/high/inner.rs:1: imports crates/a/src/low.rs"));
        assert_eq!(found("crates = [\"a\"]\n[crates/a/src]\norder = [\"high low\"]\n", &FILES).len(), 1);
        assert!(found("crates = [\"a\"]\n[crates/a/src]\norder = [\"high low\"]\nback = 1\n", &FILES).is_empty());
        assert_eq!(found("crates = [\"a\"]\n[crates/a/src]\norder = [\"low\", \"high\"]\nback = 1\n", &FILES).len(), 1);
    }

    #[test]
    fn rooms_and_crates_are_declared() {
        assert_eq!(found("crates = [\"a\"]\n[crates/a/src]\norder = [\"low\"]\n", &FILES).len(), 1);
        assert_eq!(found("crates = [\"a\"]\n[crates/a/src]\norder = [\"low\", \"high\", \"gone\"]\n", &FILES).len(), 1);
        assert_eq!(found("crates = []\n", &FILES).len(), 1);
        let inner = "crates = [\"a\"]\n[crates/a/src/high]\norder = [\"other\"]\n";
        assert_eq!(found(inner, &FILES).len(), 2);
    }

    #[test]
    fn crates_import_lower_crates() {
        let files = [("crates/lh-a/src/lib.rs", "use lh_b::X;\n"), ("crates/lh-b/src/lib.rs", "pub struct X;\n")];
        assert!(found("crates = [\"lh-b\", \"lh-a\"]\n", &files).is_empty());
        assert_eq!(found("crates = [\"lh-a\", \"lh-b\"]\n", &files).len(), 1);
        assert_eq!(found("crates = [\"lh-a lh-b\"]\n", &files).len(), 1);
    }

    #[test]
    fn rooms_that_import_a_room_are_found() {
        let source = |&(path, text): &(&str, &str)| Source { path: path.to_owned(), text: text.to_owned() };
        let table = Table::parse("crates = [\"a\"]\n[crates/a/src]\norder = [\"low\", \"high\"]\n");
        let found = importers(&table, &FILES.iter().map(source).collect::<Vec<_>>(), "crates/a/src", &[]);
        let names = |room: &str| found[room].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((found.len(), names("low"), names("high")), (2, vec!["high", "low"], vec!["high"]));
    }

    #[test]
    fn knots_are_small() {
        let module = |next: usize| format!("pub fn f() {{ crate::m{next}::f() }}\n");
        let files: Vec<(String, String)> =
            (0..6).map(|i| (format!("crates/a/src/m{i}.rs"), module((i + 1) % 6))).collect();
        let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        files.push(("crates/a/src/lib.rs", "mod m0; mod m1; mod m2; mod m3; mod m4; mod m5;\n"));
        assert_eq!(found("crates = [\"a\"]\n", &files).len(), 1);
        assert!(found("crates = [\"a\"]\n[crates/a/src]\nknot = 6\n", &files).is_empty());
        assert_eq!(found("crates = [\"a\"]\n[crates/a/src]\nknot = 7\n", &files).len(), 1);
    }
}
