//! A lock between processes: of several that want the same code, one compiles and the others wait for its file.

use crate::files::OpenFolder;
use std::fs::{File, TryLockError};
use std::time::{Duration, Instant};

/// The right to compile, until it is dropped. The operating system releases the lock of a process that dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
    folder: OpenFolder,
    name: String,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Other processes that wait, and children forked meanwhile, hold the file open, so closing it is not enough.
        let _ = self.folder.remove(&self.name);
        let _ = self.file.unlock();
    }
}

/// Locks the code of a name, after waiting at most that long. `None` if the folder cannot have locks, or the process
/// that holds this one takes longer.
pub fn acquire(folder: OpenFolder, name: &str, patience: Duration) -> Option<Lock> {
    let name = format!(".lh-{name}.lock");
    let file = folder.lockable(&name)?;
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Some(Lock { file, folder, name }),
            Err(TryLockError::Error(_)) => return None,
            Err(TryLockError::WouldBlock) if start.elapsed() > patience => return None,
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Folder;
    use std::fs;

    #[test]
    fn one_after_the_other() {
        let dir = std::env::temp_dir().join(format!("lh-lock-{}", std::process::id()));
        let acquire = |name, patience| super::acquire(Folder::new(&dir, "").make().unwrap(), name, patience);
        let long = Duration::from_secs(30);
        let first = acquire("k", long).unwrap();
        assert!(acquire("other", long).is_some());
        assert!(acquire("k", Duration::from_millis(5)).is_none());
        let second = std::thread::scope(|s| {
            let waiting = s.spawn(|| acquire("k", long));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            drop(first);
            waiting.join().unwrap()
        });
        assert!(second.is_some());
        drop(second);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::remove_dir_all(dir).unwrap();
    }
}
