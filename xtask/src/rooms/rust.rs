//! The graph of a crate's files: `use` declarations and paths in code, each resolved to the file that defines the item.
//!
//! Re-exports are followed. An arrow that a name imported by `*` makes is found by the name's occurrence. Calls of
//! methods are not seen: a file that calls a method of a type has been given a value of it.

use super::graph::Graph;
use super::tokens::{Kind, Token, test_modules, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// A source file: its path below the crate's `src`, without `.rs`, and its text.
pub struct File<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

/// The path of a module from the crate's root.
pub type ModulePath = Vec<String>;

/// A path as it is written, the module in which it stands, and the line.
#[derive(Debug, Clone)]
struct Mention {
    module: ModulePath,
    path: Vec<String>,
    line: usize,
}

#[derive(Debug, Default)]
struct Module {
    file: usize,
    items: BTreeSet<String>,
    /// Names that `use` declares, with their paths.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// A crate's modules, and the paths that its files mention.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    mentions: Vec<(usize, Mention)>,
    /// Words of each file, for what `*` imports.
    words: Vec<BTreeMap<String, usize>>,
}

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Module(ModulePath),
    /// An item in a file.
    Item(usize),
}

/// The arrows between the files of a crate, and the crates of the workspace that it uses.
pub fn graph(files: &[File]) -> (Graph, BTreeSet<String>) {
    let hidden = test_only(files);
    let is_hidden = |path: &ModulePath| hidden.iter().any(|module| path.starts_with(module));
    let mut program = Crate::default();
    let mut graph = Graph::default();
    for file in files {
        let path = module_path(file.path);
        let number = graph.files.len();
        graph.files.push(format!("{}.rs", file.path));
        program.words.push(BTreeMap::new());
        if !is_hidden(&path) {
            Reader { program: &mut program, file: number, tokens: &tokens(file.text) }.file(path);
        }
    }
    let mut crates = BTreeSet::new();
    for (file, mention) in &program.mentions {
        if let Some(other) = mention.path.first().and_then(|name| name.strip_prefix("lh_")) {
            crates.insert(format!("lh-{}", other.replace('_', "-")));
        } else if let Some(Target::Item(to)) = program.resolve(&mention.module, &mention.path, 0) {
            graph.add(*file, to, mention.line);
        }
    }
    for (from, to, line) in program.globs() {
        graph.add(from, to, line);
    }
    (graph, crates)
}

/// The modules of a crate that are declared for tests only.
pub fn test_only(files: &[File]) -> BTreeSet<ModulePath> {
    files.iter().flat_map(hidden_modules).collect()
}

/// The module that a file is.
pub fn module_path(path: &str) -> ModulePath {
    let mut parts: ModulePath = path.split('/').map(str::to_owned).collect();
    let is_parent = parts.last().is_some_and(|name| name == "mod");
    if is_parent || parts == ["lib"] || parts == ["main"] {
        parts.pop();
    }
    parts
}

fn hidden_modules(file: &File) -> Vec<ModulePath> {
    let below = |name: String| [module_path(file.path), vec![name]].concat();
    test_modules(file.text).into_iter().map(below).collect()
}

impl Crate {
    /// Resolves a path in a module. A name that one of our modules lacks is taken as an item of it.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let mut from = module.to_vec();
        match first.as_str() {
            "crate" => from.clear(),
            "self" => {}
            "super" => {
                from.pop();
                while let Some((next, others)) = rest.split_first().filter(|(next, _)| *next == "super") {
                    debug_assert_eq!(next, "super");
                    from.pop();
                    rest = others;
                }
            }
            _ => {
                let found = self.find(&from, first, depth)?;
                return self.follow(found, rest, depth);
            }
        }
        self.follow(Target::Module(from), rest, depth)
    }

    fn follow(&self, target: Target, path: &[String], depth: usize) -> Option<Target> {
        let (Target::Module(module), Some((name, rest))) = (&target, path.split_first()) else { return Some(target) };
        match self.find(module, name, depth) {
            Some(found) => self.follow(found, rest, depth),
            None => self.modules.get(module).map(|module| Target::Item(module.file)),
        }
    }

    /// Resolves a name in a module.
    fn find(&self, module: &[String], name: &str, depth: usize) -> Option<Target> {
        if depth > 8 {
            return None;
        }
        let here = self.modules.get(module)?;
        let child = [module, &[name.to_owned()]].concat();
        if self.modules.contains_key(&child) {
            return Some(Target::Module(child));
        }
        if here.items.contains(name) {
            return Some(Target::Item(here.file));
        }
        if let Some(path) = here.imports.get(name).filter(|path| path[0] != name || path.len() > 1) {
            return self.resolve(module, path, depth + 1);
        }
        here.globs.iter().find_map(|path| match self.resolve(module, path, depth + 1)? {
            Target::Module(other) if other != module => self.find(&other, name, depth + 1),
            Target::Module(_) | Target::Item(_) => None,
        })
    }

    /// Arrows by names that `*` imports: every word of a file that the module behind the `*` has.
    fn globs(&self) -> Vec<(usize, usize, usize)> {
        let mut arrows = Vec::new();
        for (path, module) in &self.modules {
            for (word, &line) in self.words[module.file].iter().filter(|(word, _)| !module.items.contains(*word)) {
                let of_glob = |glob: &Vec<String>| match self.resolve(path, glob, 0)? {
                    Target::Module(other) => self.find(&other, word, 0),
                    Target::Item(_) => None,
                };
                if let Some(Target::Item(to)) = module.globs.iter().find_map(of_glob) {
                    arrows.push((module.file, to, line));
                }
            }
        }
        arrows
    }
}

/// Reads the modules of one file.
struct Reader<'a, 'b> {
    program: &'a mut Crate,
    file: usize,
    tokens: &'a [Token<'b>],
}

impl<'b> Reader<'_, 'b> {
    fn word(&self, at: usize) -> Option<&'b str> {
        match self.tokens.get(at)?.kind {
            Kind::Word(word) => Some(word),
            Kind::Path | Kind::Literal | Kind::Mark(_) => None,
        }
    }

    fn is(&self, at: usize, kind: Kind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    fn module(&mut self, path: &ModulePath) -> &mut Module {
        let file = self.file;
        self.program.modules.entry(path.clone()).or_insert_with(|| Module { file, ..Module::default() })
    }

    /// Walks over the tokens; `inner` has the modules whose braces are open, each with the depth of its brace.
    fn file(&mut self, path: ModulePath) {
        let mut path = path;
        self.module(&path);
        let (mut depth, mut inner): (usize, Vec<usize>) = (0, Vec::new());
        let mut at = 0;
        while at < self.tokens.len() {
            let Token { kind, line } = self.tokens[at];
            at += 1;
            match kind {
                Kind::Mark('{') => depth += 1,
                Kind::Mark('}') => {
                    depth = depth.saturating_sub(1);
                    if inner.last() == Some(&depth) {
                        inner.pop();
                        path.pop();
                    }
                }
                Kind::Word("mod") if self.is(at + 1, Kind::Mark('{')) => {
                    path.extend(self.word(at).map(str::to_owned));
                    self.module(&path);
                    inner.push(depth);
                    at += 1;
                }
                Kind::Word("use") => at = self.import(&path, at),
                Kind::Word(word) if self.is(at, Kind::Path) && !(at > 1 && self.is(at - 2, Kind::Path)) => {
                    self.word_seen(word, line);
                    at = self.mention(&path, word, line, at);
                }
                Kind::Word(word) => {
                    self.word_seen(word, line);
                    if depth == inner.last().map_or(0, |depth| depth + 1) {
                        self.item(&path, word, at);
                    }
                }
                Kind::Path | Kind::Literal | Kind::Mark(_) => {}
            }
        }
    }

    fn word_seen(&mut self, word: &str, line: usize) {
        self.program.words[self.file].entry(word.to_owned()).or_insert(line);
    }

    /// The item that a keyword at the top of a module declares. Exported macros are items of the crate.
    fn item(&mut self, path: &ModulePath, keyword: &str, at: usize) {
        let name = match keyword {
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" => self.word(at),
            "macro_rules" => self.word(at + 1),
            _ => None,
        };
        if let Some(name) = name {
            self.module(path).items.insert(name.to_owned());
        }
    }

    /// A path in code whose first word has been read. Behind it, the tokens go on.
    fn mention(&mut self, module: &ModulePath, first: &str, line: usize, mut at: usize) -> usize {
        let mut path = vec![first.to_owned()];
        while let Some(word) = self.is(at, Kind::Path).then(|| self.word(at + 1)).flatten() {
            path.push(word.to_owned());
            at += 2;
        }
        self.program.mentions.push((self.file, Mention { module: module.clone(), path, line }));
        at
    }

    /// A `use` declaration, from behind the keyword to behind its `;`.
    fn import(&mut self, module: &ModulePath, at: usize) -> usize {
        let end = (at..self.tokens.len()).find(|&at| self.is(at, Kind::Mark(';'))).unwrap_or(self.tokens.len());
        self.tree(module, &[], at);
        end + 1
    }

    /// One tree of a `use` declaration below a prefix. Behind it, the tokens go on.
    fn tree(&mut self, module: &ModulePath, prefix: &[String], mut at: usize) -> usize {
        let line = self.tokens[at].line;
        let mut path = prefix.to_vec();
        loop {
            if let Some(word) = self.word(at) {
                path.push(word.to_owned());
                at += 1;
            } else if self.is(at, Kind::Mark('*')) {
                self.module(module).globs.push(path);
                return at + 1;
            } else if self.is(at, Kind::Mark('{')) {
                at += 1;
                while !self.is(at, Kind::Mark('}')) {
                    at = self.tree(module, &path, at);
                    at += usize::from(self.is(at, Kind::Mark(',')));
                }
                return at + 1;
            }
            if !self.is(at, Kind::Path) {
                break;
            }
            at += 1;
        }
        if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.word(at) == Some("as") {
            name = self.word(at + 1).unwrap_or_default().to_owned();
            at += 2;
        }
        self.program.mentions.push((self.file, Mention { module: module.clone(), path: path.clone(), line }));
        self.module(module).imports.insert(name, path);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let files: Vec<File> = files.iter().map(|&(path, text)| File { path, text }).collect();
        let (graph, _) = graph(&files);
        let name = |file: usize| graph.files[file].trim_end_matches(".rs").to_owned();
        graph.arrows.keys().map(|&(from, to)| (name(from), name(to))).collect()
    }

    fn arrow(from: &str, to: &str) -> (String, String) {
        (from.to_owned(), to.to_owned())
    }

    #[test]
    fn imports_and_paths_are_arrows_to_the_file_that_defines() {
        let files = [
            ("lib", "mod a;\nmod b;\npub use b::c::Deep;\n"),
            ("a", "use crate::b::{c, Shallow};\nfn f(_: Shallow) { c::g() }\n"),
            ("b", "pub mod c;\npub struct Shallow;\nfn h() -> crate::Deep { self::c::g(); todo() }\n"),
            ("b/c", "pub struct Deep;\npub fn g() {}\n"),
        ];
        assert_eq!(arrows(&files), [arrow("lib", "b/c"), arrow("a", "b"), arrow("a", "b/c"), arrow("b", "b/c")]);
    }

    #[test]
    fn names_behind_a_star_are_found_by_their_use() {
        let files = [
            ("lib", "mod a;\nmod b;\npub fn root() {}\nuse a::other;\n"),
            ("a", "pub fn other() {}\nuse super::*;\n"),
            ("b", "use super::*;\nfn f() { root(); other() }\n"),
        ];
        assert_eq!(arrows(&files), [arrow("lib", "a"), arrow("b", "lib"), arrow("b", "a")]);
    }

    #[test]
    fn modules_in_files_and_parents_are_resolved() {
        let files = [
            ("lib", "mod a;\nmod b;\n"),
            ("a", "mod inner { use super::super::b::f; fn g() { f() } }\nmod d;\n"),
            ("a/d", "use super::super::b as other;\nfn h() { other::f::<u8>() }\n"),
            ("b", "pub fn f() {}\n"),
        ];
        assert_eq!(arrows(&files), [arrow("a", "b"), arrow("a/d", "b")]);
    }

    #[test]
    fn tests_and_declarations_of_modules_are_no_arrows() {
        let files = [
            ("lib", "mod a;\nmod b;\n#[cfg(test)]\nmod t;\n"),
            ("a", "#[cfg(test)]\nmod tests { use crate::b::f; }\n"),
            ("b", "pub fn f() {}\n"),
            ("t", "use crate::b::f;\n"),
        ];
        assert_eq!(arrows(&files), []);
    }

    #[test]
    fn crates_of_the_workspace_are_found() {
        let text = "use lh_ir::Ty;\nfn f() { lh_ops::table() }\nuse std::fmt;\n";
        let (_, crates) = graph(&[File { path: "lib", text }]);
        assert_eq!(crates.into_iter().collect::<Vec<_>>(), ["lh-ir", "lh-ops"]);
    }
}
