//! Taking turns: of several processes that want the same code, one compiles and the others wait for its file.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The right to compile, until it is dropped. The system takes it from a process that dies.
#[derive(Debug)]
pub struct Turn {
    file: File,
    path: PathBuf,
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Who waits holds the file open. A child made by fork meanwhile does, too, so that closing would not be enough.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Who may go on, and why.
#[derive(Debug)]
pub enum Answer {
    /// Nobody else was at it.
    Free(Turn),
    /// Somebody was, and has finished: look again.
    After(Turn),
    /// There can be no turns in this directory, or the other one takes too long.
    Unknown,
}

/// Waits for a turn for the code of a name, at most that long.
pub fn wait(dir: &Path, name: &str, patience: Duration) -> Answer {
    let path = dir.join(format!(".lh-{name}.lock"));
    let Ok(file) = OpenOptions::new().write(true).create(true).truncate(false).mode(0o644).open(&path) else {
        return Answer::Unknown;
    };
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let mut waited = false;
    loop {
        match file.try_lock() {
            Ok(()) if waited => return Answer::After(Turn { file, path }),
            Ok(()) => return Answer::Free(Turn { file, path }),
            Err(fs::TryLockError::Error(_)) => return Answer::Unknown,
            Err(fs::TryLockError::WouldBlock) if start.elapsed() > patience => return Answer::Unknown,
            Err(fs::TryLockError::WouldBlock) => {
                waited = true;
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
        let dir = std::env::temp_dir().join(format!("lh-turn-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let long = Duration::from_secs(30);
        let Answer::Free(first) = wait(&dir, "k", long) else { panic!("nobody is at it") };
        assert!(matches!(wait(&dir, "other", long), Answer::Free(_)));
        assert!(matches!(wait(&dir, "k", Duration::from_millis(5)), Answer::Unknown));
        let second = std::thread::scope(|s| {
            let waiting = s.spawn(|| wait(&dir, "k", long));
            std::thread::sleep(Duration::from_millis(20));
            drop(first);
            waiting.join().unwrap()
        });
        assert!(matches!(second, Answer::After(_)));
        drop(second);
        assert!(matches!(wait(&dir.join("none"), "k", long), Answer::Unknown));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::remove_dir_all(dir).unwrap();
    }
}
