//! The graph of a Python package's modules: `import` statements, at the top and in functions, and modules that are
//! imported by name (`importlib.import_module`). Names that a package's `__init__.py` imports are followed to their
//! modules; imports for type checkers only are left out.

use super::graph::Graph;
use super::rust::File;
use std::collections::BTreeMap;

/// An `import` of a module's name or of one of its names.
struct Import {
    module: String,
    name: Option<String>,
    line: usize,
}

/// The arrows between the modules of a package, whose paths are relative to its folder and without `.py`.
pub fn graph(package: &str, files: &[File]) -> Graph {
    let mut graph = Graph::default();
    let mut numbers = BTreeMap::new();
    let mut imports = Vec::new();
    for file in files {
        let number = graph.files.len();
        graph.files.push(format!("{}.py", file.path));
        let path = format!("{package}/{}", file.path);
        let name = path.strip_suffix("/__init__").unwrap_or(&path).replace('/', ".");
        imports.push(read(file.text, if path.ends_with("/__init__") { &name } else { parent(&name) }));
        numbers.insert(name, number);
    }
    for (from, found) in imports.iter().enumerate() {
        for import in found {
            if let Some(to) = target(&numbers, &imports, &import.module, import.name.as_deref(), 0) {
                graph.add(from, to, import.line);
            }
        }
    }
    graph
}

fn parent(module: &str) -> &str {
    module.rsplit_once('.').map_or("", |(parent, _)| parent)
}

/// The file that an import leads to, if it is one of the package.
fn target(
    numbers: &BTreeMap<String, usize>,
    imports: &[Vec<Import>],
    module: &str,
    name: Option<&str>,
    depth: usize,
) -> Option<usize> {
    let Some(name) = name else { return numbers.get(module).copied() };
    if let Some(&number) = numbers.get(&format!("{module}.{name}")) {
        return Some(number);
    }
    let &number = numbers.get(module)?;
    let passed_on = imports[number].iter().find(|import| import.name.as_deref() == Some(name) && depth < 8);
    match passed_on {
        Some(import) => target(numbers, imports, &import.module, import.name.as_deref(), depth + 1),
        None => (name != "_core").then_some(number),
    }
}

/// The imports of a file; `package` is what one dot means.
fn read(text: &str, package: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut lines = code_lines(text).into_iter();
    let mut for_checkers = None;
    while let Some((line, code)) = lines.next() {
        let depth = code.len() - code.trim_start().len();
        let mut statement = code.trim().to_owned();
        if for_checkers.is_some_and(|outer| depth > outer) || statement.is_empty() {
            continue;
        }
        for_checkers = (statement == "if TYPE_CHECKING:").then_some(depth);
        if let Some((_, rest)) = statement.split_once("import_module(\"") {
            let module = rest.split('"').next().unwrap_or_default().to_owned();
            imports.push(Import { module, name: None, line });
        }
        while statement.starts_with("from ") && statement.contains('(') && !statement.contains(')') {
            let Some((_, more)) = lines.next() else { break };
            statement.push_str(more.trim());
        }
        if let Some((module, names)) = statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
            let module = absolute(module, package);
            let names = names.trim_matches(['(', ')']).split(',').map(str::trim).filter(|name| !name.is_empty());
            let name = |name: &str| Some(name.split(" as ").next().unwrap_or_default().to_owned());
            imports.extend(names.map(|n| Import { module: module.clone(), name: name(n), line }));
        } else if let Some(names) = statement.strip_prefix("import ") {
            let module = |name: &str| name.trim().split(" as ").next().unwrap_or_default().to_owned();
            imports.extend(names.split(',').map(|name| Import { module: module(name), name: None, line }));
        }
    }
    imports
}

/// A module's full name, where leading dots count from the package that the importing module is in.
fn absolute(module: &str, package: &str) -> String {
    let dots = module.bytes().take_while(|&b| b == b'.').count();
    if dots == 0 {
        return module.to_owned();
    }
    let base = (1..dots).fold(package, |package, _| parent(package));
    format!("{base}.{}", &module[dots..]).trim_end_matches('.').to_owned()
}

/// Lines with their numbers, without comments and without strings of three quotes.
fn code_lines(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut open: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        let quotes = |quote: &str| line.matches(quote).count();
        match open {
            Some(quote) => {
                if quotes(quote) % 2 == 1 {
                    open = None;
                }
            }
            None => {
                open = ["\"\"\"", "'''"].into_iter().find(|quote| quotes(quote) % 2 == 1);
                if open.is_none() {
                    found.push((number + 1, line.split(" #").next().unwrap_or_default()));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_arrows_to_the_module_that_has_the_name() {
        let files = [
            ("__init__", "from p.a import f\nfrom . import b\n"),
            ("a", "\"\"\"Text:\nfrom p import b\n\"\"\"\nif TYPE_CHECKING:\n    from p import b\ndef f(): pass\n"),
            ("b", "import os\n\ndef g():\n    from p import (\n        f,  # why\n        h,\n    )\n"),
            ("c/__init__", "from .d import x\nfrom .. import b\n"),
            ("c/d", "import p.a as a\nfrom p.c import x, y\nz = importlib.import_module(\"p.b\")\n"),
        ];
        let files: Vec<File> = files.iter().map(|&(path, text)| File { path, text }).collect();
        let graph = graph("p", &files);
        let arrows: Vec<(usize, usize)> = graph.arrows.keys().copied().collect();
        assert_eq!(arrows, [(0, 1), (0, 2), (2, 0), (2, 1), (3, 2), (3, 4), (4, 1), (4, 2), (4, 3)]);
    }
}
