//! Seconds of tests: those recorded in `xtask/times.toml` decide which files run together and which begin, those that
//! a check has measured are kept in `target` and compared with the ceilings in `xtask/budget.toml`.

use crate::steps::{Outcome, Step};
use crate::table::Section;
use crate::tidy::read_table;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Seconds by the name of a test, a file or a folder.
pub type Seconds = BTreeMap<String, f64>;

const RECORDED: &str = "xtask/times.toml";
const HEADER: &str = "# Seconds of each file of tests, by which `cargo xtask check` puts files together and begins with \
    the longest.\n# `cargo xtask times` writes what the last check has measured.\n";
/// A folder's files run in one process if they take at most so many seconds, else in several.
const PART: f64 = 150.0;
/// A folder's ceiling over the seconds that were recorded.
const ROOM: f64 = 1.5;

/// Files of tests that run in one process.
#[derive(Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub files: Vec<String>,
    seconds: f64,
}

/// The recorded seconds of files. A file that is not there has the median.
pub fn recorded(root: &Path) -> impl Fn(&str) -> f64 {
    let table = read_table(root, RECORDED);
    let numbers: BTreeMap<String, usize> = table.section("").map(Section::numbers).cloned().unwrap_or_default();
    let mut all: Vec<usize> = numbers.values().copied().collect();
    all.sort_unstable();
    let median = all.get(all.len() / 2).copied().unwrap_or(1);
    move |file| *numbers.get(file).unwrap_or(&median) as f64
}

/// Files in parts, the longest first. A part has files of one folder, which compile much of the library once for all,
/// and parts of the same folder take about the same time.
pub fn parts(files: &[String], seconds: impl Fn(&str) -> f64) -> Vec<Part> {
    let mut folders: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for file in files {
        folders.entry(folder(file)).or_default().push(file);
    }
    let mut parts = Vec::new();
    for (folder, mut files) in folders {
        files.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)).then_with(|| a.cmp(b)));
        let count = (files.iter().map(|file| seconds(file)).sum::<f64>() / PART).ceil().max(1.0) as usize;
        let name = |i| if count == 1 { folder.to_owned() } else { format!("{folder}, part {}", i + 1) };
        let mut own: Vec<Part> = (0..count).map(|i| Part { name: name(i), files: Vec::new(), seconds: 0.0 }).collect();
        for file in files {
            let least = own.iter_mut().min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("there is a part");
            least.files.push(file.clone());
            least.seconds += seconds(file);
        }
        parts.extend(own.into_iter().filter(|part| !part.files.is_empty()));
    }
    parts.iter_mut().for_each(|part| part.files.sort());
    parts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    parts
}

/// Steps that run parts and write the seconds of their tests.
pub fn steps(root: &Path, parts: Vec<Part>, options: &[&str]) -> Vec<Step> {
    let folder = measured_in(root);
    let made =
        fs::remove_dir_all(&folder).or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) });
    made.and_then(|()| fs::create_dir_all(&folder)).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let step = |(i, part): (usize, Part)| {
        let into = folder.join(format!("{i}.txt")).to_string_lossy().into_owned();
        let arguments = ["--times", &into].into_iter().chain(options.iter().copied());
        Step::pytest(part.name, &arguments.chain(part.files.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    parts.into_iter().enumerate().map(step).collect()
}

fn measured_in(root: &Path) -> PathBuf {
    root.join("target/times")
}

/// The seconds of tests that the last check has measured.
pub fn measured(root: &Path) -> Seconds {
    let mut seconds = Seconds::new();
    for entry in fs::read_dir(measured_in(root)).into_iter().flatten().flatten() {
        for line in fs::read_to_string(entry.path()).unwrap_or_default().lines() {
            if let Some((number, test)) = line.split_once(' ')
                && let Ok(number) = number.parse::<f64>()
            {
                *seconds.entry(test.to_owned()).or_default() += number;
            }
        }
    }
    seconds
}

/// The folder of a file.
pub fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn by(seconds: &Seconds, key: impl Fn(&str) -> &str) -> Seconds {
    let mut sums = Seconds::new();
    for (test, number) in seconds {
        *sums.entry(key(test).to_owned()).or_default() += number;
    }
    sums
}

fn file(test: &str) -> &str {
    test.split("::").next().unwrap_or_default()
}

/// Keeps the seconds of steps and tests in `target/times.json`.
pub fn keep(root: &Path, outcomes: &[Outcome], tests: &Seconds) {
    let steps: Seconds = outcomes.iter().map(|o| (o.name.clone(), o.time.as_secs_f64())).collect();
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let object = |seconds: &Seconds| {
        let lines: Vec<String> = seconds.iter().map(|(name, s)| format!("    {}: {s:.3}", quoted(name))).collect();
        format!("{{\n{}\n  }}", lines.join(",\n"))
    };
    let text = format!("{{\n  \"steps\": {},\n  \"tests\": {}\n}}\n", object(&steps), object(tests));
    let path = root.join("target/times.json");
    fs::write(&path, text).unwrap_or_else(|e| eprintln!("{}: {e}", path.display()));
}

/// Folders whose tests took longer than their ceilings, or have none.
pub fn above(root: &Path, tests: &Seconds) -> Vec<String> {
    let budget = read_table(root, "xtask/budget.toml");
    let ceilings = budget.section("seconds").map(Section::numbers).cloned().unwrap_or_default();
    above_ceilings(&by(tests, |test| folder(file(test))), &ceilings)
}

/// Ceilings are of a machine, and of an hour of it: where the folder in the middle needs more of its ceiling than the
/// usual share, all ceilings are higher by that. One that grows does not move it.
fn above_ceilings(folders: &Seconds, ceilings: &BTreeMap<String, usize>) -> Vec<String> {
    let ceiling = |folder: &String| ceilings.get(folder).map(|most| *most as f64);
    let mut shares: Vec<f64> =
        folders.iter().filter_map(|(folder, seconds)| Some(seconds / ceiling(folder)?)).collect();
    shares.sort_by(f64::total_cmp);
    let slowness = shares.get(shares.len() / 2).map_or(1.0, |share| (share * ROOM).max(1.0));
    let complaint = |(folder, seconds): (&String, &f64)| match ceiling(folder).map(|most| most * slowness) {
        Some(most) if *seconds > most => Some(format!("{folder} took {seconds:.0} s, its ceiling is {most:.0} s")),
        None => Some(format!("{folder} has no ceiling in xtask/budget.toml")),
        Some(_) => None,
    };
    folders.iter().filter_map(complaint).collect()
}

/// Records the seconds that the last check has measured, and forgets files that are gone. Prints the ceilings that
/// follow, the highest first.
pub fn record(root: &Path) -> Vec<String> {
    let tests = measured(root);
    if tests.is_empty() {
        return vec!["no check has measured tests".to_owned()];
    }
    let table = read_table(root, RECORDED);
    let before = table.section("").map(Section::numbers).into_iter().flatten();
    let mut files: BTreeMap<String, usize> = before.map(|(file, seconds)| (file.clone(), *seconds)).collect();
    files.extend(by(&tests, file).into_iter().map(|(file, seconds)| (file, seconds.round().max(1.0) as usize)));
    files.retain(|file, _| root.join(file).exists());
    let mut text = HEADER.to_owned();
    for (file, seconds) in &files {
        let _ = writeln!(text, "\"{file}\" = {seconds}");
    }
    let mut folders: Vec<(String, f64)> = by(&tests, |test| folder(file(test))).into_iter().collect();
    folders.sort_by_key(|(_, seconds)| Reverse(seconds.round() as u64));
    // In steps of five seconds, so that folders that take nearly none have room.
    let ceiling = |seconds: &f64| (seconds * ROOM / 5.0).ceil().max(2.0) * 5.0;
    folders.iter().for_each(|(folder, seconds)| println!("\"{folder}\" = {}", ceiling(seconds)));
    fs::write(root.join(RECORDED), text).err().map(|e| format!("{RECORDED}: {e}")).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_rise_with_the_slowness_of_all_folders() {
        let folders = |seconds: [f64; 3]| ["a", "b", "c"].map(str::to_owned).into_iter().zip(seconds).collect();
        let ceilings = ["a", "b", "c"].map(|name| (name.to_owned(), 30)).into();
        assert_eq!(above_ceilings(&folders([20.0, 20.0, 29.0]), &ceilings), [""; 0]);
        assert_eq!(above_ceilings(&folders([20.0, 20.0, 31.0]), &ceilings), ["c took 31 s, its ceiling is 30 s"]);
        assert_eq!(above_ceilings(&folders([38.0, 40.0, 45.0]), &ceilings), [""; 0]);
        assert_eq!(above_ceilings(&folders([38.0, 40.0, 61.0]), &ceilings), ["c took 61 s, its ceiling is 60 s"]);
        assert_eq!(above_ceilings(&folders([10.0, 10.0, 31.0]), &ceilings), ["c took 31 s, its ceiling is 30 s"]);
    }

    fn parts_of(files: &[(&str, f64)]) -> Vec<(String, Vec<String>)> {
        let seconds: BTreeMap<&str, f64> = files.iter().copied().collect();
        let names: Vec<String> = files.iter().map(|(file, _)| (*file).to_owned()).collect();
        parts(&names, |file| seconds[file]).into_iter().map(|part| (part.name, part.files)).collect()
    }

    #[test]
    fn short_folders_are_one_part_and_the_longest_begins() {
        let found = parts_of(&[("t/a/x", 1.0), ("t/b/z", 5.0), ("t/b/y", 2.0)]);
        let names = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>();
        assert_eq!(found, [("t/b".to_owned(), names(&["t/b/y", "t/b/z"])), ("t/a".to_owned(), names(&["t/a/x"]))]);
    }

    #[test]
    fn long_folders_are_balanced() {
        let found = parts_of(&[("t/a", 200.0), ("t/b", 90.0), ("t/c", 80.0), ("t/d", 20.0)]);
        let files: Vec<usize> = found.iter().map(|(_, files)| files.len()).collect();
        assert_eq!((found.len(), found[0].1.clone(), files), (3, vec!["t/a".to_owned()], vec![1, 2, 1]));
    }

    #[test]
    fn seconds_are_summed_by_file_and_folder() {
        let tests = Seconds::from([
            ("t/a.py::x".to_owned(), 1.5),
            ("t/a.py::y".to_owned(), 2.0),
            ("t/b.md::z".to_owned(), 3.0),
        ]);
        assert_eq!(by(&tests, file), Seconds::from([("t/a.py".to_owned(), 3.5), ("t/b.md".to_owned(), 3.0)]));
        assert_eq!(by(&tests, |test| folder(file(test))), Seconds::from([("t".to_owned(), 6.5)]));
    }
}
