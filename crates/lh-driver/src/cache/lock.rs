//! A lock between processes: of several that want the same code, one compiles and the others wait for its file.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The right to compile, until it is dropped. The operating system releases the lock of a process that dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Other processes that wait, and children forked meanwhile, hold the file open, so closing it is not enough.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Locks the code of a name, after waiting at most that long. `None` if the directory cannot have locks, or the process
/// that holds this one takes longer.
pub fn acquire(dir: &Path, name: &str, patience: Duration) -> Option<Lock> {
    let path = dir.join(format!(".lh-{name}.lock"));
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o644).open(&path).ok()?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Some(Lock { file, path }),
            Err(fs::TryLockError::Error(_)) => return None,
            Err(fs::TryLockError::WouldBlock) if start.elapsed() > patience => return None,
            Err(fs::TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other() {
        let dir = std::env::temp_dir().join(format!("lh-lock-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let long = Duration::from_secs(30);
        let first = acquire(&dir, "k", long).unwrap();
        assert!(acquire(&dir, "other", long).is_some());
        assert!(acquire(&dir, "k", Duration::from_millis(5)).is_none());
        let second = std::thread::scope(|s| {
            let waiting = s.spawn(|| acquire(&dir, "k", long));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            drop(first);
            waiting.join().unwrap()
        });
        assert!(second.is_some());
        drop(second);
        assert!(acquire(&dir.join("none"), "k", long).is_none());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::remove_dir_all(dir).unwrap();
    }
}
