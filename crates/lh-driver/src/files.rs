//! Files with code: found by name, read if nobody else may have written them, written whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

/// Suffix of files with code.
pub const CODE: &str = ".nbc";
/// Suffix of the file that says what function a group of files is of.
pub const INDEX: &str = ".nbi";

/// Files of a directory whose names have these ends; none if there is no such directory.
///
/// # Errors
/// If the directory cannot be read.
pub fn list(dir: &Path, start: &str, end: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|n| n.starts_with(start) && n.ends_with(end)) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Why a file or directory may hold what somebody else has put there; `None` if only its owner, who is this user or
/// the system's administrator, may write it.
///
/// # Errors
/// If its owner cannot be found.
pub fn distrust(path: &Path) -> io::Result<Option<String>> {
    let m = fs::metadata(path)?;
    let me = own_user()?;
    if m.uid() != me && m.uid() != 0 {
        return Ok(Some(format!("{} belongs to another user (uid {})", path.display(), m.uid())));
    }
    if m.mode() & 0o002 != 0 {
        return Ok(Some(format!("everybody may write to {}", path.display())));
    }
    // A group of the owner's own, as many systems make for each user, has nobody else in it.
    if m.mode() & 0o020 != 0 && m.gid() != m.uid() {
        return Ok(Some(format!("the group {} may write to {}", m.gid(), path.display())));
    }
    Ok(None)
}

/// This user's number: where `/proc` is not mounted, that of a file made for it.
fn own_user() -> io::Result<u32> {
    if let Ok(own) = fs::metadata("/proc/self") {
        return Ok(own.uid());
    }
    let path = std::env::temp_dir().join(format!("lancehead-{}-user", std::process::id()));
    let made = fs::OpenOptions::new().write(true).create_new(true).open(&path)?.metadata();
    fs::remove_file(&path)?;
    Ok(made?.uid())
}

/// Makes a directory that only its owner may write, unless it is there.
///
/// # Errors
/// If that cannot be done.
pub fn make(dir: &Path) -> io::Result<()> {
    if dir.is_dir() { Ok(()) } else { fs::DirBuilder::new().recursive(true).mode(0o755).create(dir) }
}

/// Writes a file whole or not at all; another of the same name is replaced.
///
/// # Errors
/// If the directory cannot be made or written, or is full.
pub fn save(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    make(dir)?;
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(name);
    let temporary = dir.join(format!(".lh-{}-{}-{number}.tmp", std::process::id(), host_tag()));
    let write = || {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&temporary)?;
        file.write_all(bytes)?;
        drop(file);
        fs::rename(&temporary, &path)
    };
    match write() {
        Ok(()) => Ok(path),
        Err(e) => {
            // Nothing more can be done if that fails too.
            let _ = fs::remove_file(&temporary);
            Err(e)
        }
    }
}

/// Notes that a file has been used, once an hour at most; when it was written stays as it is.
pub fn mark_used(path: &Path) {
    let is_recent = |m: fs::Metadata| m.accessed()?.elapsed().map_err(io::Error::other);
    let recent = fs::metadata(path).and_then(is_recent).is_ok_and(|age| age < Duration::from_secs(3600));
    if !recent {
        // This fails on files of other users and on read-only file systems, from which nothing is evicted either.
        let times = fs::FileTimes::new().set_accessed(SystemTime::now());
        let _ = fs::File::open(path).and_then(|f| f.set_times(times));
    }
}

/// Removes the least recently used files with a suffix below a directory, and what killed writers have left, until they
/// have at most so many bytes; how many are gone.
pub fn evict(root: &Path, suffix: &str, limit: u64) -> usize {
    let mut files = Vec::new();
    gather(root, suffix, &mut files);
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    if total <= limit {
        return 0;
    }
    files.sort();
    let mut gone = 0;
    // A little more, so that not every new file makes another round.
    for (_, size, path) in files {
        if total <= limit - limit / 10 {
            break;
        }
        // Somebody else may have been faster.
        if fs::remove_file(path).is_ok() {
            gone += 1;
        }
        total -= size;
    }
    gone
}

fn gather(dir: &Path, suffix: &str, out: &mut Vec<(SystemTime, u64, PathBuf)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(m) = entry.metadata() else { continue };
        if m.is_dir() {
            gather(&entry.path(), suffix, out);
        } else if entry.file_name().to_str().is_some_and(|n| n.ends_with(suffix) || is_temporary(n)) {
            let used = [m.accessed(), m.modified()].into_iter().flatten().max();
            out.push((used.unwrap_or(SystemTime::UNIX_EPOCH), m.len(), entry.path()));
        }
    }
}

/// Whether a file is one of [`save`] that has no name yet: a process that was killed leaves it.
fn is_temporary(name: &str) -> bool {
    name.starts_with(".lh-") && name.ends_with(".tmp")
}

/// Tells apart processes of the same number on different computers that share a directory.
fn host_tag() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().chars().filter(|c| c.is_ascii_alphanumeric()).take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("lh-store-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        dir
    }

    #[test]
    fn files_are_found_by_the_ends_of_their_names() {
        let dir = directory("list");
        assert_eq!(list(&dir, "f.", CODE).unwrap(), Vec::<PathBuf>::new());
        save(&dir, "f.1.nbc", b"one").unwrap();
        save(&dir, "f.1.nbc", b"two").unwrap();
        save(&dir, "g.1.nbc", b"").unwrap();
        save(&dir, "f.nbi", b"").unwrap();
        assert_eq!(list(&dir, "f.", CODE).unwrap(), [dir.join("f.1.nbc")]);
        assert_eq!(fs::read(dir.join("f.1.nbc")).unwrap(), b"two");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 3);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn files_of_killed_writers_go_too() {
        let dir = directory("killed");
        fs::create_dir_all(&dir).unwrap();
        let left = dir.join(".lh-7-host-0.tmp");
        fs::write(&left, [0; 100]).unwrap();
        let long_ago = fs::FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH).set_modified(SystemTime::UNIX_EPOCH);
        fs::File::open(&left).unwrap().set_times(long_ago).unwrap();
        let path = save(&dir, "f.1.nbc", &[0; 100]).unwrap();
        assert_eq!(evict(&dir, CODE, 150), 1);
        assert!(!left.exists() && path.exists());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let dir = directory("evict");
        for n in 0..10u64 {
            let path = save(&dir.join("m"), &format!("f.{n}.nbc"), &[0; 100]).unwrap();
            let used = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 * n);
            let times = fs::FileTimes::new().set_accessed(used).set_modified(SystemTime::UNIX_EPOCH);
            fs::File::open(path).unwrap().set_times(times).unwrap();
        }
        save(&dir, "other.txt", &[0; 1000]).unwrap();
        assert_eq!(evict(&dir, CODE, 1000), 0);
        mark_used(&dir.join("m/f.0.nbc"));
        assert_eq!(evict(&dir, CODE, 600), 5);
        let left = list(&dir.join("m"), "f.", CODE).unwrap();
        assert_eq!(left, [0, 6, 7, 8, 9].map(|n| dir.join(format!("m/f.{n}.nbc"))));
        assert!(dir.join("other.txt").exists());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn what_others_may_write_is_told() {
        let dir = directory("trust");
        let file = save(&dir, "f.nbc", b"").unwrap();
        assert_eq!(distrust(&file).unwrap(), None);
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(distrust(&dir).unwrap().unwrap().contains("everybody"));
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(distrust(&dir).unwrap(), None);
        fs::remove_dir_all(dir).unwrap();
    }
}
