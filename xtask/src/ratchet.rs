//! Numbers of `xtask/budget.toml` are ratchets: those of lines fall by themselves to what is there, and any of them
//! rises only in a commit that touches no other file.

use crate::since;
use crate::table::Table;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

const BUDGET: &str = "xtask/budget.toml";
/// The words of the budget with which the rule about commits began.
const MARKER: &str = "rises only in a commit that touches no other file";

/// Lowers numbers of lines that are far above what is there, and complains of commits that raise numbers beside other
/// changes. On a machine that only checks, it complains of the former, too.
pub fn check(root: &Path, lines: &BTreeMap<String, usize>, complaints: &mut Vec<String>) {
    let text = fs::read_to_string(root.join(BUDGET)).unwrap_or_default();
    let (lower, keys) = lowered(&text, lines, |allowed, present| allowed > present + (present / 100).max(50));
    let is_ci = env::var("CI").is_ok_and(|value| value == "true");
    if is_ci {
        complaints.extend(keys.iter().map(|key| format!("{BUDGET}: {key} has fallen: run cargo xtask ratchet")));
    } else if let Some(error) = write(root, &lower, &keys) {
        complaints.push(error);
    }
    if !text.contains(MARKER) {
        complaints.push(format!("{BUDGET}: the line is gone that says: a number {MARKER}"));
    }
    complaints.extend(raising(root));
}

/// Lowers all numbers of lines to what is there.
pub fn fall(root: &Path, lines: &BTreeMap<String, usize>) -> Option<String> {
    let text = fs::read_to_string(root.join(BUDGET)).unwrap_or_default();
    let (lower, keys) = lowered(&text, lines, |allowed, present| allowed > present);
    write(root, &lower, &keys)
}

fn write(root: &Path, text: &str, keys: &[String]) -> Option<String> {
    if keys.is_empty() {
        return None;
    }
    println!("{BUDGET}: lower numbers for {}", keys.join(", "));
    fs::write(root.join(BUDGET), text).err().map(|error| format!("{BUDGET}: {error}"))
}

/// The budget with the present lines where a number is too far above them, and the keys of these numbers.
fn lowered(
    text: &str,
    lines: &BTreeMap<String, usize>,
    is_far: impl Fn(usize, usize) -> bool,
) -> (String, Vec<String>) {
    let (mut section, mut lower, mut keys) = ("", String::new(), Vec::new());
    for line in text.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let (name, value) = line.split_once(" = ").unwrap_or_default();
        let key = name.trim_matches('"');
        let present = match section {
            "[lines]" => lines.get(key).copied().unwrap_or(0),
            _ if key == "total_lines" => lines.values().sum(),
            _ => usize::MAX,
        };
        match value.replace('_', "").parse() {
            Ok(allowed) if present < allowed && is_far(allowed, present) => {
                lower.push_str(&format!("{name} = {}\n", grouped(present)));
                keys.push(key.to_owned());
            }
            _ => lower.push_str(&format!("{line}\n")),
        }
    }
    (lower, keys)
}

/// A number with an underscore before each three digits.
fn grouped(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{}_{:03}", grouped(number / 1000), number % 1000) }
}

/// Complains of commits since the rule that raise a number and touch another file. Without Git, or without the parents
/// of a commit, nothing is known of it.
fn raising(root: &Path) -> Vec<String> {
    let git = |arguments: &[&str]| since::git(root, arguments).unwrap_or_default();
    let began = git(&["log", "--full-history", "--format=^%H", "-S", MARKER, "--", BUDGET]);
    if began.is_empty() {
        return Vec::new();
    }
    // A branch from before the rule is not held to it.
    let mut words = vec!["rev-list", "--full-history", "--ancestry-path", "HEAD"];
    words.extend(began.iter().map(String::as_str).chain(["--", BUDGET]));
    let table = |commit: &String| Table::parse(&git(&["show", &format!("{commit}:./{BUDGET}")]).join("\n"));
    let complaint = |commit: &String| {
        let parents = git(&["rev-parse", &format!("{commit}^@")]);
        let keys = raised(&parents.iter().map(table).collect::<Vec<_>>(), &table(commit));
        let is_alone = || git(&["diff-tree", "-r", "--name-only", "--no-renames", &parents[0], commit]).len() == 1;
        let message = || format!("{BUDGET}: commit {commit} raises {} and touches another file", keys.join(", "));
        (!keys.is_empty() && !is_alone()).then(message)
    };
    git(&words).iter().filter_map(complaint).collect()
}

/// The keys of numbers that are above those of all parents: a merge raises nothing that its branches have raised. In
/// a section, a number that is not there is zero; a section that is not there, or a number before the first section,
/// is a limit that did not exist.
fn raised(parents: &[Table], now: &Table) -> Vec<String> {
    let before = |table: &Table, section: &str, key: &str| {
        let number = table.section(section)?.number(key);
        if section.is_empty() { number } else { Some(number.unwrap_or(0)) }
    };
    let is_raised = |section: &str, key: &str, number: usize| {
        parents.iter().all(|table| before(table, section, key).is_some_and(|before| before < number))
    };
    let keys = now.sections().flat_map(|(name, section)| section.numbers().iter().map(move |number| (name, number)));
    keys.filter(|(name, (key, number))| is_raised(name, key, **number)).map(|(_, (key, _))| key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_lines_fall() {
        let text = "# c\ntotal_lines = 90_000\nfile_lines = 800\n\n[lines]\n\"a\" = 1_300\n\"b\" = 70\n[seconds]\n\"a\" = 9_000\n";
        let lines = BTreeMap::from([("a".to_owned(), 1_270), ("b".to_owned(), 80_000)]);
        let (lower, keys) = lowered(text, &lines, |_, _| true);
        assert_eq!(lower, text.replace("90_000", "81_270").replace("1_300", "1_270"));
        assert_eq!(keys, ["total_lines", "a"]);
        assert_eq!(lowered(text, &lines, |allowed, present| allowed > present + 50).1, ["total_lines"]);
    }

    /// Runs a script in an empty folder, and gives the complaints about the repositories that it made, `full` and
    /// others. `commit NUMBER FILE` has a budget with the number, and a new line in the file unless it is the budget.
    fn complaints(script: &str, names: &[&str]) -> Vec<usize> {
        let folder = env::temp_dir().join(format!("lancehead-ratchet-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let start = format!(
            "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=a \
             GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; marker=\ncommit() {{ mkdir -p xtask; \
             printf \"# $marker\\n[lines]\\n\\\"a\\\" = $1\\n\" > {BUDGET}; [ $2 = {BUDGET} ] || echo x >> $2; \
             git add .; git commit -qm x; }}\nmark() {{ marker='{MARKER}'; commit $1 other; }}\n\
             git init -qb main full; cd full\n"
        );
        let done = since::command(&folder, "sh", &["-c", &(start + script)]);
        let found = names.iter().map(|name| raising(&folder.join(name)).len()).collect();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(done, Ok(Vec::new()));
        found
    }

    #[test]
    fn numbers_rise_alone() {
        let script = format!(
            "commit 1 other; git branch old; commit 2 other; mark 3; commit 4 {BUDGET}; commit 2 other
             git checkout -qb side; commit 5 {BUDGET}; commit 5 more; git checkout -q main; commit 2 other
             git merge -q side; git checkout -q old; (marker=; commit 9 old); git checkout -q main
             git merge -q -s ours old; cp -r . ../good; commit 7 other; cp -r . ../bad; commit 8 {BUDGET}
             git clone -q --depth 3 file://$PWD ../shallow; git clone -q --depth 1 file://$PWD ../one; mkdir ../none"
        );
        assert_eq!(complaints(&script, &["good", "bad", "full", "shallow", "one", "none"]), [0, 1, 1, 1, 0, 0]);
    }
}
