//! Files with code: found by name, read if nobody else may have written them, written whole or not at all.
//!
//! Code that is read is executed, and others may swap folders and links meanwhile. So a [`Folder`] is opened from the
//! root of its cache downwards without following links, all else is done by descriptors, and what is checked is the
//! descriptor that is then read. Nothing blocks: a FIFO or a device in the place of a file is none.

mod trust;

pub use trust::Refused;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::{DirBuilder, File, FileTimes, read_to_string};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};
use trust::{distrust, is_regular, no_file};

/// Suffix of files with code.
pub const CODE: &str = ".nbc";
/// Suffix of the file that says what function a group of files is of.
pub const INDEX: &str = ".nbi";

/// Flags of all files and folders: opening a FIFO does not wait for its other end.
const OPEN: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK);
const FOLDER: OFlags = OPEN.union(OFlags::DIRECTORY);
/// Who may do what with new files and folders, for whom the process's mask does not say less.
const FILE_MODE: Mode = Mode::from_raw_mode(0o644);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o755);

/// The place of files with code: a path below the root of a cache, which a setting may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
    below: PathBuf,
}

impl Folder {
    /// A folder below a root, or the root itself if there is nothing in `below`.
    pub fn new(root: impl Into<PathBuf>, below: impl Into<PathBuf>) -> Folder {
        Folder { root: root.into(), below: below.into() }
    }

    /// A folder in this one.
    pub fn inner(&self, name: &str) -> Folder {
        Folder { root: self.root.clone(), below: self.below.join(name) }
    }

    /// The path of the folder.
    pub fn path(&self) -> PathBuf {
        // An empty path would end in a slash.
        self.root.components().chain(self.below.components()).collect()
    }

    /// Opens the folder and all above it up to the root. Links are followed to the root alone, whose name is the
    /// user's.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn open(&self) -> Result<OpenFolder, Refused> {
        self.walk(false)
    }

    /// Opens the folder, and makes those that are missing so that only their owner may write them.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn make(&self) -> Result<OpenFolder, Refused> {
        if !self.root.is_dir() {
            DirBuilder::new().recursive(true).mode(FOLDER_MODE.bits()).create(&self.root)?;
        }
        self.walk(true)
    }

    fn walk(&self, make: bool) -> Result<OpenFolder, Refused> {
        let path = self.root.clone();
        let fd = openat(CWD, &path, FOLDER, Mode::empty())?;
        let mut folder = OpenFolder { distrust: distrust(&fstat(&fd)?, &path), fd, path };
        for part in self.below.components() {
            let Component::Normal(name) = part else { return Err(Errno::INVAL.into()) };
            let name = Path::new(name);
            folder = match folder.enter(name) {
                Err(Refused::Failed(e)) if e.kind() == io::ErrorKind::NotFound => {
                    folder.trusted()?;
                    if !make {
                        return Err(e.into());
                    }
                    // Another process may have been faster.
                    mkdirat(&folder.fd, name, FOLDER_MODE)
                        .or_else(|e| if e == Errno::EXIST { Ok(()) } else { Err(e) })?;
                    folder.enter(name)?
                }
                found => found?,
            };
        }
        Ok(folder)
    }
}

/// An open folder.
#[derive(Debug)]
pub struct OpenFolder {
    fd: OwnedFd,
    path: PathBuf,
    /// Why others may have put something into it or into one above.
    distrust: Option<String>,
}

impl OpenFolder {
    /// That nobody else may write to the folder and to those above, up to the root.
    ///
    /// # Errors
    /// Who may.
    pub fn trusted(&self) -> Result<(), Refused> {
        self.distrust.clone().map_or(Ok(()), |why| Err(Refused::Untrusted(why)))
    }

    /// A folder in this one.
    fn enter(&self, name: &Path) -> Result<OpenFolder, Refused> {
        let path = self.path.join(name);
        let fd = self.open(name, FOLDER, Mode::empty())?;
        let distrust = self.distrust.clone().or(distrust(&fstat(&fd)?, &path));
        Ok(OpenFolder { fd, path, distrust })
    }

    /// Opens what is no link.
    fn open(&self, name: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Refused> {
        openat(&self.fd, name, flags | OPEN | OFlags::NOFOLLOW, mode).map_err(|e| {
            let is_link = |s| FileType::from_raw_mode(s) == FileType::Symlink;
            match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(s) if is_link(s.st_mode) => {
                    Refused::Untrusted(format!("{} is a link", self.path.join(name).display()))
                }
                _ => e.into(),
            }
        })
    }

    /// Opens a regular file, as all reading and writing begins.
    fn file(&self, name: &str, flags: OFlags) -> Result<File, Refused> {
        self.trusted()?;
        let fd = self.open(Path::new(name), flags, FILE_MODE)?;
        let (stat, path) = (fstat(&fd)?, self.path.join(name));
        if !is_regular(&stat) {
            return Err(no_file(&path).into());
        }
        distrust(&stat, &path).map_or(Ok(File::from(fd)), |why| Err(Refused::Untrusted(why)))
    }

    /// Names of files that have these ends, in order.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn list(&self, start: &str, end: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name().to_str().ok().filter(|n| n.starts_with(start) && n.ends_with(end));
            found.extend(name.map(str::to_owned));
        }
        found.sort();
        Ok(found)
    }

    /// The bytes of a file, which is open for [`mark_used`].
    ///
    /// # Errors
    /// If it is no regular file, or others may have written it.
    pub fn read(&self, name: &str) -> Result<(Vec<u8>, File), Refused> {
        let mut file = self.file(name, OFlags::RDONLY)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok((bytes, file))
    }

    /// A file to lock, which is made unless it is there.
    pub(crate) fn lockable(&self, name: &str) -> Option<File> {
        self.file(name, OFlags::WRONLY | OFlags::CREATE).ok()
    }

    /// Removes a file.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// How long ago a file was written.
    pub(crate) fn age(&self, name: &str) -> Option<Duration> {
        let written = self.file(name, OFlags::RDONLY).ok()?.metadata().ok()?.modified().ok()?;
        written.elapsed().ok()
    }

    /// Writes a file whole or not at all; another of the same name is replaced.
    ///
    /// # Errors
    /// If the folder cannot be written, or is full.
    pub fn save(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Refused> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".lh-{}-{}-{number}.tmp", std::process::id(), host_tag());
        let write = || {
            let mut file = self.file(&temporary, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
            file.write_all(bytes)?;
            drop(file);
            Ok(renameat(&self.fd, &temporary, &self.fd, name)?)
        };
        if let Err(e) = write() {
            // Nothing more can be done if that fails too.
            let _ = self.remove(&temporary);
            return Err(e);
        }
        Ok(self.path.join(name))
    }

    /// Removes the least recently used files with a suffix in the folder and below, and what killed writers have left,
    /// until they have at most so many bytes; how many are gone.
    pub fn evict(&self, suffix: &str, limit: u64) -> usize {
        let mut files = Vec::new();
        self.gather(Path::new(""), suffix, &mut files);
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
            gone += usize::from(self.remove_below(&path).is_some());
            total -= size;
        }
        gone
    }

    fn gather(&self, below: &Path, suffix: &str, out: &mut Vec<(SystemTime, u64, PathBuf)>) {
        if self.distrust.is_some() {
            return;
        }
        for entry in Dir::read_from(&self.fd).into_iter().flatten().flatten() {
            let Some(name) = entry.file_name().to_str().ok().filter(|n| !matches!(*n, "." | "..")) else { continue };
            let Ok(stat) = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                if let Ok(folder) = self.enter(Path::new(name)) {
                    folder.gather(&below.join(name), suffix, out);
                }
            } else if name.ends_with(suffix) || is_temporary(name) {
                let time = |seconds: i64, rest| Duration::new(seconds.max(0) as u64, rest as u32);
                let [read, written] =
                    [time(stat.st_atime, stat.st_atime_nsec), time(stat.st_mtime, stat.st_mtime_nsec)];
                let used = read.max(written);
                out.push((SystemTime::UNIX_EPOCH + used, stat.st_size.max(0) as u64, below.join(name)));
            }
        }
    }

    /// Removes a file in the folder or below.
    fn remove_below(&self, path: &Path) -> Option<()> {
        let name = path.file_name()?.to_str()?;
        match path.parent()?.components().next() {
            None => self.remove(name).ok(),
            Some(first) => {
                let first = Path::new(first.as_os_str());
                self.enter(first).ok()?.remove_below(path.strip_prefix(first).ok()?)
            }
        }
    }
}

/// The bytes of a file that somebody has named, if nobody else may have written them. Links are followed.
///
/// # Errors
/// If it is no regular file, or others may have written it.
pub fn read_trusted(path: &Path) -> Result<Vec<u8>, Refused> {
    let fd = openat(CWD, path, OPEN | OFlags::RDONLY, Mode::empty())?;
    distrust(&fstat(&fd)?, path).map_or(Ok(()), |why| Err(Refused::Untrusted(why)))?;
    Ok(read_regular(fd, path)?)
}

/// The bytes of a file that are only looked at, whoever wrote them.
///
/// # Errors
/// If it is no regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_regular(openat(CWD, path, OPEN | OFlags::RDONLY, Mode::empty())?, path)
}

fn read_regular(fd: OwnedFd, path: &Path) -> io::Result<Vec<u8>> {
    if !is_regular(&fstat(&fd)?) {
        return Err(no_file(path));
    }
    let mut bytes = Vec::new();
    File::from(fd).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Notes that a file has been used, once an hour at most; when it was written stays as it is.
pub fn mark_used(file: &File) {
    let age = || file.metadata()?.accessed()?.elapsed().map_err(io::Error::other);
    if !age().is_ok_and(|age| age < Duration::from_secs(3600)) {
        // This fails on files of other users and on read-only file systems, from which nothing is evicted either.
        let _ = file.set_times(FileTimes::new().set_accessed(SystemTime::now()));
    }
}

/// Whether a file is one of [`OpenFolder::save`] that has no name yet: a process that was killed leaves it.
fn is_temporary(name: &str) -> bool {
    name.starts_with(".lh-") && name.ends_with(".tmp")
}

/// Tells apart processes of the same number on different computers that share a directory.
fn host_tag() -> String {
    let name = read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().chars().filter(|c| c.is_ascii_alphanumeric()).take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    fn directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("lh-store-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        dir
    }

    fn made(dir: &Path, below: &str) -> OpenFolder {
        Folder::new(dir, below).make().unwrap()
    }

    fn reason<T>(refused: Result<T, Refused>) -> String {
        match refused {
            Err(Refused::Untrusted(why)) => why,
            Err(Refused::Failed(e)) => panic!("{e}"),
            Ok(_) => panic!("it was not refused"),
        }
    }

    fn allow(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn files_are_found_by_the_ends_of_their_names() {
        let dir = directory("list");
        assert!(matches!(Folder::new(&dir, "").open(), Err(Refused::Failed(_))));
        let folder = made(&dir, "");
        folder.save("f.1.nbc", b"one").unwrap();
        folder.save("f.1.nbc", b"two").unwrap();
        folder.save("g.1.nbc", b"").unwrap();
        assert_eq!(folder.save("f.nbi", b"").unwrap(), dir.join("f.nbi"));
        assert_eq!(folder.list("f.", CODE).unwrap(), ["f.1.nbc"]);
        assert_eq!(folder.read("f.1.nbc").unwrap().0, b"two");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 3);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn files_of_killed_writers_go_too() {
        let dir = directory("killed");
        let folder = made(&dir, "");
        let left = dir.join(".lh-7-host-0.tmp");
        fs::write(&left, [0; 100]).unwrap();
        let long_ago = FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH).set_modified(SystemTime::UNIX_EPOCH);
        File::open(&left).unwrap().set_times(long_ago).unwrap();
        let path = folder.save("f.1.nbc", &[0; 100]).unwrap();
        assert_eq!(folder.evict(CODE, 150), 1);
        assert!(!left.exists() && path.exists());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let dir = directory("evict");
        let (root, folder) = (made(&dir, ""), made(&dir, "m/n"));
        for n in 0..10u64 {
            let path = folder.save(&format!("f.{n}.nbc"), &[0; 100]).unwrap();
            let used = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 * n);
            let times = FileTimes::new().set_accessed(used).set_modified(SystemTime::UNIX_EPOCH);
            File::open(path).unwrap().set_times(times).unwrap();
        }
        root.save("other.txt", &[0; 1000]).unwrap();
        assert_eq!(root.evict(CODE, 1000), 0);
        mark_used(&folder.read("f.0.nbc").unwrap().1);
        assert_eq!(root.evict(CODE, 600), 5);
        assert_eq!(folder.list("f.", CODE).unwrap(), [0, 6, 7, 8, 9].map(|n| format!("f.{n}.nbc")));
        assert!(dir.join("other.txt").exists());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn nothing_is_read_or_written_where_others_may_write() {
        let dir = directory("trust");
        let path = made(&dir, "m/n").save("f.nbc", b"").unwrap();
        let read = || Folder::new(&dir, "m/n").open()?.read("f.nbc");
        assert!(read().is_ok());
        for (place, mode) in [(&path, 0o664), (&path, 0o646), (&dir, 0o775), (&dir.join("m"), 0o1777)] {
            allow(place, mode);
            let why = reason(read());
            assert!(why.contains(&format!("may write to {}", place.display())) && why.contains("chmod go-w"), "{why}");
            if *place != path {
                reason(made(&dir, "m/n").save("g.nbc", b""));
                assert_eq!(made(&dir, "").evict(CODE, 0), 0);
            }
            allow(place, if *place == path { 0o644 } else { 0o755 });
            assert!(read().is_ok());
        }
        assert_eq!(made(&dir, "").evict(CODE, 0), 0, "an empty file");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn links_are_not_followed() {
        let dir = directory("links");
        let folder = made(&dir, "m");
        let path = folder.save("f.nbc", b"1").unwrap();
        symlink(&path, dir.join("m/g.nbc")).unwrap();
        symlink(dir.join("m"), dir.join("n")).unwrap();
        symlink(&path, dir.join("m/h.nbc")).unwrap();
        assert!(reason(folder.read("g.nbc")).ends_with("g.nbc is a link"));
        assert!(reason(Folder::new(&dir, "n").open()).ends_with("n is a link"));
        assert!(folder.lockable("h.nbc").is_none());
        assert!(matches!(Folder::new(dir.join("m"), "..").open(), Err(Refused::Failed(_))));
        // To the root a link may lead, and to a file that somebody has named.
        assert_eq!(Folder::new(dir.join("n"), "").open().unwrap().read("f.nbc").unwrap().0, b"1");
        assert_eq!(read_trusted(&dir.join("n/g.nbc")).unwrap(), b"1");
        // A link that is in the way of a file is replaced by the file.
        folder.save("g.nbc", b"2").unwrap();
        assert_eq!((fs::read(&path).unwrap(), folder.read("g.nbc").unwrap().0), (b"1".to_vec(), b"2".to_vec()));
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn nothing_waits_for_what_is_no_file() {
        let dir = directory("kinds");
        let folder = made(&dir, "");
        rustix::fs::mknodat(CWD, dir.join("fifo.nbc"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let socket = UnixListener::bind(dir.join("socket.nbc")).unwrap();
        fs::create_dir(dir.join("folder.nbc")).unwrap();
        for name in ["fifo.nbc", "socket.nbc", "folder.nbc"] {
            assert!(matches!(folder.read(name), Err(Refused::Failed(_))), "{name}");
            assert!(folder.lockable(name).is_none(), "{name}");
            assert!(matches!(Folder::new(dir.join(name), "").open(), Err(Refused::Failed(_))) || name == "folder.nbc");
            assert!(read(&dir.join(name)).is_err() && read_trusted(&dir.join(name)).is_err(), "{name}");
        }
        assert!(read(Path::new("/dev/zero")).is_err());
        folder.save("fifo.nbc", b"1").unwrap();
        assert_eq!(folder.read("fifo.nbc").unwrap().0, b"1");
        drop(socket);
        fs::remove_dir_all(dir).unwrap();
    }
}
