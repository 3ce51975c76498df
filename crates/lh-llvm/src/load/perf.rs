//! Names of compiled functions for `perf`, in `/tmp/perf-<pid>.map`, when `LANCEHEAD_PERF` is set.

use super::elf::Loaded;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{LazyLock, Mutex};

static MAP: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    std::env::var_os("LANCEHEAD_PERF").filter(|v| !v.is_empty() && v != "0")?;
    let path = format!("/tmp/perf-{}.map", std::process::id());
    // Anybody may have put a link or a FIFO there.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().create(true).append(true).custom_flags(flags).open(path).ok()?;
    file.metadata().is_ok_and(|m| m.is_file()).then(|| Mutex::new(file))
});

/// Records the functions of an object; `title` is the name of its entry, into which nearly everything is inlined.
pub fn note(loaded: &Loaded, entry: &str, title: &str) {
    if let Some(map) = &*MAP {
        let named = |(name, at, size)| (if name == entry { title } else { name }, at, size);
        let lines = lines(loaded.symbols().map(named));
        // Profiling without names is better than an error.
        let _ = map.lock().map(|mut f| f.write_all(lines.as_bytes()));
    }
}

fn lines<'a>(functions: impl Iterator<Item = (&'a str, usize, usize)>) -> String {
    functions.filter(|(_, _, size)| *size > 0).fold(String::new(), |mut text, (name, at, size)| {
        writeln!(text, "{at:x} {size:x} lancehead:{name}").expect("a string takes everything");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_hexadecimal() {
        let text = super::lines([("f", 0x1000, 0x20), ("empty", 1, 0)].into_iter());
        assert_eq!(text, "1000 20 lancehead:f\n");
    }
}
